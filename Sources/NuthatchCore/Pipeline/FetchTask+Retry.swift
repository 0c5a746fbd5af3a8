import NuthatchTransport

/// How an attempt ended, as queue and retries see it.
struct AttemptEnding {
  /// Nil when there is a head that counts: how the body of a redirect ends is of no interest.
  let fault: TransportFault?
  let outcome: FetchQueue.Outcome
  let status: Int?
  /// In nanoseconds from now.
  let retryAfter: Int64?
  let timings: TransferTimings

  init(_ exchange: Exchange, _ fault: TransportFault?, _ timings: TransferTimings) {
    let isSettled = exchange.head != nil && (exchange.next != nil || exchange.skipsBody)
    self.fault = isSettled ? nil : fault
    self.timings = timings
    outcome = FetchQueue.Outcome(self.fault, timings, hasHead: exchange.head != nil)
    status = exchange.head?.status
    retryAfter = exchange.head.flatMap { $0.retryAfter(now: exchange.responseTime) }.map {
      $0 * 1_000_000_000
    }
  }
}

extension TransferTimings {
  /// Nanoseconds from the request's being sent to the first byte of its answer.
  fileprivate var wait: Int64 { max(0, firstByte - max(connect, tls)) * 1000 }
}

extension FetchTask {
  /// Tells the queue what the head says about its host.
  func noteAnswer(_ head: ResponseHead) {
    guard case .flying(let entry, let transfer) = phase else { return }
    let now = runtime.loop.now
    // An upload's time says how much was sent, and not how busy the way is.
    let timings = !exchange.hop.hasBody ? runtime.transport.timings(of: transfer) : nil
    let isOverloaded = head.status == 429 || head.status == 503
    let overload = isOverloaded ? Overload(status: head.status, previous: hold?.overload?.at) : nil
    runtime.queue.answered(entry, firstByte: timings.map(\.wait), overload: overload, now: now)
    if timings?.connection.version == .http2 {
      runtime.queue.noteProtocol(exchange.hop.url.origin, .http2, now: now)
    }
    guard isOverloaded, let seconds = head.retryAfter(now: exchange.responseTime) else { return }
    runtime.queue.pause(
      exchange.hop.url.origin, until: now &+ seconds * 1_000_000_000, status: head.status, now: now)
  }

  /// Nanoseconds until the next attempt; nil when there is to be none.
  func delayBeforeRetry(_ ending: AttemptEnding) -> Int64? {
    guard exchange.next == nil, !exchange.isToBeRepeated else { return nil }
    let result: RetryPolicy.Outcome
    // It goes to the outbox, or fails there.
    if ending.fault != nil, plan.freezing != nil { return nil }
    if let fault = ending.fault {
      result = .fault(fault.kind)
    } else if let status = ending.status {
      result = .status(status, retryAfter: ending.retryAfter)
    } else {
      return nil
    }
    guard let wait = waitAllowed(after: result) else { return nil }
    return dismissWhoHadEnough(outcomeForNow(ending)) ? wait : nil
  }

  /// The same for one that couldn't even be sent, because its host failed too often in a row.
  func delayBeforeRetry(retryAfter: Int64) -> Int64? {
    guard plan.freezing == nil, let wait = waitAllowed(after: .circuitOpen(retryAfter: retryAfter)) else {
      return nil
    }
    return dismissWhoHadEnough(.failed(circuitOpen(retryAfter: retryAfter))) ? wait : nil
  }

  private func waitAllowed(after result: RetryPolicy.Outcome) -> Int64? {
    var policy = shared.retryPolicy
    policy.retries = errands.map(\.plan.retries).max() ?? 0
    let remaining = errands.contains { $0.plan.deadline == nil } ? nil : errands.compactMap(\.remaining).max()
    // Those that waited for the host don't count.
    let counted = attempt - (hold?.attempts ?? 0)
    let decision = policy.decide(
      attempt: counted, outcome: result, method: plan.method, remaining: remaining,
      isPatient: patience > policy.restart)
    guard case .retry(let wait) = decision else { return nil }
    return wait
  }

  /// Whoever wants fewer attempts than the others has had them. False when nobody is left.
  private func dismissWhoHadEnough(_ outcome: FetchOutcome?) -> Bool {
    let held = hold?.attempts ?? 0
    let ended = errands.filter { $0.plan.retries < attempt - ($0.plan.patience == nil ? 0 : held) }
    guard let outcome else { return true }
    for errand in ended {
      leave(errand)
      errand.conclude(outcome)
    }
    return !errands.isEmpty
  }

  /// What this attempt is for those for whom it is the last; what is to be tried again is never stored.
  func outcomeForNow(_ ending: AttemptEnding) -> FetchOutcome? {
    if let fault = ending.fault { return .failed(NuthatchError(fault, url: exchange.hop.url)) }
    guard let head = exchange.head else { return nil }
    exchange.body.buffer.arrive()
    return .answered(
      Fetched(
        head: head, body: Payload(exchange.body.buffer), content: nil, pictures: [:],
        origin: exchange.origin(ending.timings)))
  }
}
