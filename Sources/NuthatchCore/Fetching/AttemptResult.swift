import NuthatchTransport

/// The end of an attempt, for the queue and for retries.
struct AttemptResult {
  /// Nil if the head is enough: the end of a skipped body (of a redirect or an error page) doesn't matter.
  let fault: TransportFault?
  let outcome: ExchangeOutcome
  let status: Int?
  /// Nanoseconds from now.
  let retryAfter: Int64?
  let timings: TransferTimings
  /// Whether it is already decided what comes next, so that there is no retry: the next hop of a redirect, another request for
  /// a part, or an error for which this process stopped the transfer.
  let isDecided: Bool

  init(_ attempt: FetchAttempt, _ fault: TransportFault?, _ timings: TransferTimings) {
    let isSettled = attempt.head != nil && (attempt.next != nil || attempt.skipsBody)
    self.fault = isSettled ? nil : fault
    self.timings = timings
    // A TLS error may be due to the request's own certificate or trust settings, which shows nothing about the host.
    let isOwnFault = self.fault?.kind == .tls && attempt.hop.extras?.changesTLS == true
    outcome =
      isOwnFault ? .abandoned : ExchangeOutcome(self.fault, timings, hasHead: attempt.head != nil)
    status = attempt.head?.status
    retryAfter = attempt.retryAfter
    isDecided = attempt.next != nil || attempt.isToBeRepeated || attempt.stopReason != nil
  }

  /// Whether the host couldn't be reached, or closed the connection before it sent a head.
  var isConnectionFailure: Bool {
    if case .unreachable = outcome { return true }
    return outcome == .dropped
  }

  var outcomeForRetry: RetryPolicy.Outcome? {
    guard let fault else { return status.map { .status($0, retryAfter: retryAfter) } }
    // What comes on a kept connection in place of a head may belong to an earlier request.
    let isOfAnother = fault.kind == .http && status == nil && timings.connection.isReused
    return .fault(isOfAnother ? .reset : fault.kind)
  }
}
