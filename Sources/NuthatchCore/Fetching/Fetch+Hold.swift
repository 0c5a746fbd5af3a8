import NuthatchTransport

// Waiting for a host that can't be reached or has too much to do, for requests that are patient with it (`Request.giveUpAfter`).

extension Fetch {
  /// What has been waited for so.
  struct Hold {
    /// When the first of these attempts began.
    var since: Int64
    /// How many of them there were; they don't count as attempts.
    var attempts: Int
    /// The last of them that was answered, with 429 or 503.
    var overload: (at: Int64, status: Int)?
  }

  enum Patience {
    /// The attempt counts like any other.
    case none
    /// Another one is made after so many nanoseconds, and doesn't count.
    case wait(Int64)
    /// It has lasted long enough.
    case isOver
  }

  /// For how long the most patient waiter waits for the host, in nanoseconds; 0 when none does.
  var patience: Int64 { waiters.compactMap(\.plan.patience).max() ?? 0 }

  /// Whether time may cure what ended this attempt.
  func patience(after ending: AttemptResult, _ entry: QueueEntry) -> Patience {
    guard attempt.next == nil, !attempt.isToBeRepeated, plan.freezing == nil, patience > 0 else {
      return .none
    }
    let now = runtime.loop.now
    guard RetryPolicy.maySendTwice(plan.method) else { return .none }
    let status = ending.fault == nil ? ending.status.flatMap { [429, 503].contains($0) ? $0 : nil } : nil
    guard status != nil || isAway(ending) && runtime.queue.mayComeBack(entry, now: now) else { return .none }
    var hold = self.hold ?? Hold(since: entry.since, attempts: 0)
    hold.attempts += 1
    hold.overload = status.map { (now, $0) }
    self.hold = hold
    let pause = shared.retryPolicy.pause(before: hold.attempts)
    let wait = max(status == nil ? 0 : ending.retryAfter ?? 0, pause)
    let end = hold.since &+ patience
    if now &+ wait < end { return .wait(wait) }
    let last = HostTrouble.lastTry(before: end, patience: patience)
    return status == nil && last > now ? .wait(last &- now) : .isOver
  }

  /// Ends the fetch for now, because nothing comes and other requests wait for its place: its waiters are cancelled, and their
  /// callers ask again later. When one waiter must not be put off, the fetch goes on.
  func putOff(_ entry: QueueEntry) {
    guard case .flying = phase, waiters.allSatisfy({ $0.plan.terms.mayBeDeferred }) else { return }
    for waiter in waiters { waiter.putOff() }
  }

  private func isAway(_ ending: AttemptResult) -> Bool {
    switch ending.outcome {
    case .unreachable, .dropped: true
    case .done, .timedOut, .abandoned, .unused: false
    }
  }

  /// Queues the next attempt, which doesn't count. The time until then is a wait for its turn.
  func goOnHolding(_ entry: QueueEntry, _ ending: AttemptResult, after wait: Int64) {
    let now = runtime.loop.now
    dismissImpatient(outcomeForNow(ending))
    guard !waiters.isEmpty else {
      return runtime.queue.finished(entry, ending.outcome, ending.fault, now: now)
    }
    // What led here is asked again: its place is at the first host's.
    let isElsewhere = !attempt.redirects.isEmpty
    attempt.begin(again: plan.first)
    phase = isElsewhere ? .idle : .queued(entry)
    runtime.queue.finished(
      entry, ending.outcome, ending.fault, retryAt: isElsewhere ? nil : now &+ wait, now: now)
    if isElsewhere { enqueue(notBefore: now &+ wait) }
    guard !hasEnded else { return }
    standInLine()
    queuedSince = now
  }

  private var hasEnded: Bool {
    if case .over = phase { true } else { false }
  }

  /// One without patience has had its last attempt when there were as many as it wanted.
  private func dismissImpatient(_ outcome: FetchOutcome?) {
    guard let outcome else { return }
    for waiter in waiters where waiter.plan.patience == nil && waiter.plan.retries < attemptNumber {
      leave(waiter)
      waiter.conclude(outcome)
    }
  }

  /// What the host's trouble is to a request that wasn't sent because of it.
  func error(_ refusal: HostRefusal) -> NuthatchError {
    switch refusal {
    case .circuitOpen(let retryAfter): return circuitOpen(retryAfter: retryAfter)
    case .givenUp(.fault(let fault), let patience, _):
      return NuthatchError(
        ErrorCode(fault.kind),
        "\(fault.message); its host gave no answer for \(Self.seconds(patience)) s and was given up: \(attempt.hop.url)"
      )
    case .givenUp(.status(let status), let patience, let retryAfter):
      var error = NuthatchError(
        .http,
        "HTTP \(status): its host had too much to do for \(Self.seconds(patience)) s and was given up: \(attempt.hop.url)",
        status: status)
      if retryAfter > 0 { error.retryAfter = Self.seconds(retryAfter) }
      return error
    }
  }

  static func seconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds + 999_999_999) / 1_000_000_000 }
}
