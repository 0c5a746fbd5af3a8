import NuthatchTransport

/// How an attempt ended, as queue and retries see it.
struct AttemptResult {
  /// Nil when there is a head that counts: how the body of a redirect ends is of no interest.
  let fault: TransportFault?
  let outcome: ExchangeOutcome
  let status: Int?
  /// In nanoseconds from now.
  let retryAfter: Int64?
  let timings: TransferTimings
  /// Whether something else decides what comes next: a redirect, a part that has to be asked for anew, or that we stopped it.
  let goesOn: Bool

  init(_ attempt: Attempt, _ fault: TransportFault?, _ timings: TransferTimings) {
    let isSettled = attempt.head != nil && (attempt.next != nil || attempt.skipsBody)
    self.fault = isSettled ? nil : fault
    self.timings = timings
    // A certificate that the request shows, or those that it trusts, say nothing about the host.
    let isOwnFault = self.fault?.kind == .tls && attempt.hop.extras?.saysMoreOfTLS == true
    outcome =
      isOwnFault ? .abandoned : ExchangeOutcome(self.fault, timings, hasHead: attempt.head != nil)
    status = attempt.head?.status
    retryAfter = attempt.retryAfter
    goesOn = attempt.next != nil || attempt.isToBeRepeated || attempt.stopReason != nil
  }

  /// Whether the host couldn't be reached.
  var isAway: Bool {
    if case .unreachable = outcome { return true }
    return outcome == .dropped
  }

  var outcomeForRetry: RetryPolicy.Outcome? {
    if let fault { .fault(fault.kind) } else { status.map { .status($0, retryAfter: retryAfter) } }
  }
}
