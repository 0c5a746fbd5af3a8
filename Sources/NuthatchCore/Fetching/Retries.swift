import NuthatchTransport

/// Decides whether a fetch makes another attempt, and when. The waiters determine the number of attempts, and how long to wait
/// for a host that can't be reached or is overloaded (`Request.giveUpAfter`).
struct Retries {
  /// A wait for such a host.
  private struct Hold {
    /// When the first attempt of this wait began.
    let since: Int64
    /// The number of attempts during the wait. They don't count against `retries`.
    var attempts = 0
    /// When the last of them ended.
    var failedAt: Int64 = .max
    /// When the last of them was answered with 429 or 503.
    var overloadedAt: Int64?
  }

  /// Another attempt, after `wait` nanoseconds. `isHold`: it is part of the wait for the host, so it doesn't count against
  /// `retries`, and its wait is a wait for a turn. `isOdd`: the host has given others good answers between the last two attempts.
  typealias Next = (wait: Int64, isHold: Bool, isOdd: Bool)

  /// The number of the present or next attempt, from 1.
  private(set) var number = 1
  private var hold: Hold?

  var overloadedAt: Int64? { hold?.overloadedAt }

  mutating func next(after ending: AttemptResult, of fetch: Fetch, _ entry: QueueEntry) -> Next? {
    guard !ending.isDecided else { return nil }
    let now = fetch.runtime.loop.now
    let isOverloaded = ending.fault == nil && (ending.status == 429 || ending.status == 503)
    let patience = fetch.waiters.patience
    if fetch.plan.freezingPlan == nil, patience > 0, RetryPolicy.maySendTwice(fetch.plan.method),
      isOverloaded || ending.isConnectionFailure && fetch.runtime.queue.mayComeBack(entry, now: now)
    {
      var hold = self.hold ?? Hold(since: entry.since)
      let isOdd = fetch.runtime.queue.hasAnswered(entry, since: hold.failedAt)
      hold.attempts += 1
      hold.failedAt = now
      hold.overloadedAt = isOverloaded ? now : nil
      self.hold = hold
      let pause = fetch.shared.retryPolicy.longestWait(after: hold.attempts)
      let wait = max(isOverloaded ? ending.retryAfter ?? 0 : 0, pause)
      let end = hold.since &+ patience
      let last = HostTrouble.lastTry(before: end, patience: patience)
      let isInTime = now &+ wait < end
      guard isInTime || !isOverloaded && last > now else { return nil }
      number += 1
      return (isInTime ? wait : last &- now, isHold: true, isOdd)
    }
    return ending.outcomeForRetry.flatMap { delay(after: $0, of: fetch) }.map { ($0, false, false) }
  }

  /// Returns the nanoseconds until the next attempt, or nil if there is none. `outcome` may also be that of an attempt that
  /// couldn't even be sent.
  mutating func delay(after outcome: RetryPolicy.Outcome, of fetch: Fetch) -> Int64? {
    // Without an answer, a freezable request goes to the outbox or fails. It isn't retried here.
    if fetch.plan.freezingPlan != nil { guard case .status = outcome else { return nil } }
    let waiters = fetch.waiters
    var policy = fetch.shared.retryPolicy
    policy.retries = waiters.lazy.map { $0.plan.retries }.max() ?? 0
    let decision = policy.decide(
      attempt: number - (hold?.attempts ?? 0), outcome: outcome, method: fetch.plan.method,
      remaining: waiters.remaining, isPatient: waiters.patience > policy.restart)
    guard case .retry(let wait) = decision else { return nil }
    number += 1
    return wait
  }

  /// Returns whether the next attempt is one more than the request wants. For a request with patience, attempts of a wait for
  /// its host don't count.
  func isTooMany(for plan: RequestPlan) -> Bool {
    plan.retries < number - 1 - (plan.patience == nil ? 0 : hold?.attempts ?? 0)
  }
}
