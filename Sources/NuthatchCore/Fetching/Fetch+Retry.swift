import NuthatchTransport

/// How an attempt ended, as queue and retries see it.
struct AttemptResult {
  /// Nil when there is a head that counts: how the body of a redirect ends is of no interest.
  let fault: TransportFault?
  let outcome: FetchQueue.Outcome
  let status: Int?
  /// In nanoseconds from now.
  let retryAfter: Int64?
  let timings: TransferTimings

  init(_ attempt: Attempt, _ fault: TransportFault?, _ timings: TransferTimings) {
    let isSettled = attempt.head != nil && (attempt.next != nil || attempt.skipsBody)
    self.fault = isSettled ? nil : fault
    self.timings = timings
    outcome = FetchQueue.Outcome(self.fault, timings, hasHead: attempt.head != nil)
    status = attempt.head?.status
    retryAfter = attempt.head.flatMap { $0.retryAfter(now: attempt.responseTime) }.map {
      $0 * 1_000_000_000
    }
  }
}

extension TransferTimings {
  /// Nanoseconds from the request's being sent to the first byte of its answer.
  fileprivate var wait: Int64 { max(0, firstByte - max(connect, tls)) * 1000 }
}

extension Fetch {
  /// Tells the queue what the head says about its host.
  func noteAnswer(_ head: ResponseHead) {
    guard case .flying(let entry, let transfer) = phase else { return }
    let now = runtime.loop.now
    // An upload's time says how much was sent, and not how busy the way is.
    let timings = !attempt.hop.hasBody ? shared.transport.timings(of: transfer) : nil
    let isOverloaded = head.status == 429 || head.status == 503
    let overload = isOverloaded ? Overload(status: head.status, previous: hold?.overload?.at) : nil
    runtime.queue.answered(entry, firstByte: timings.map(\.wait), overload: overload, now: now)
    if timings?.connection.version == .http2 {
      runtime.queue.noteProtocol(attempt.hop.url.origin, .http2, now: now)
    }
    guard isOverloaded, let seconds = head.retryAfter(now: attempt.responseTime) else { return }
    runtime.queue.pause(
      attempt.hop.url.origin, until: now &+ seconds * 1_000_000_000, status: head.status, now: now)
  }

  /// Nanoseconds until the next attempt; nil when there is to be none.
  func delayBeforeRetry(_ ending: AttemptResult) -> Int64? {
    guard attempt.next == nil, !attempt.isToBeRepeated else { return nil }
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
    policy.retries = waiters.map(\.plan.retries).max() ?? 0
    let remaining = waiters.contains { $0.plan.deadline == nil } ? nil : waiters.compactMap(\.remaining).max()
    // Those that waited for the host don't count.
    let counted = attemptNumber - (hold?.attempts ?? 0)
    let decision = policy.decide(
      attempt: counted, outcome: result, method: plan.method, remaining: remaining,
      isPatient: patience > policy.restart)
    guard case .retry(let wait) = decision else { return nil }
    return wait
  }

  /// Whoever wants fewer attempts than the others has had them. False when nobody is left.
  private func dismissWhoHadEnough(_ outcome: FetchOutcome?) -> Bool {
    let held = hold?.attempts ?? 0
    let ended = waiters.filter { $0.plan.retries < attemptNumber - ($0.plan.patience == nil ? 0 : held) }
    guard let outcome else { return true }
    for waiter in ended {
      leave(waiter)
      waiter.conclude(outcome)
    }
    return !waiters.isEmpty
  }

  /// What this attempt is for those for whom it is the last; what is to be tried again is never stored.
  func outcomeForNow(_ ending: AttemptResult) -> FetchOutcome? {
    if let fault = ending.fault { return .failed(NuthatchError(fault, url: attempt.hop.url)) }
    guard let head = attempt.head else { return nil }
    attempt.body.buffer.arrive()
    return .answered(
      FetchedAnswer(
        head: head, body: SharedBytes(attempt.body.buffer), content: nil, pictures: [:],
        origin: attempt.origin(ending.timings)))
  }
}
