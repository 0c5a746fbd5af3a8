import NuthatchImaging
import NuthatchTransport

/// One fetch that any number of tasks wait for: queue, hops, attempts, admission.
///
/// Waiting tasks come and go; the last one to leave ends the fetch. Its priority is the highest of theirs. Confined to the
/// loop's thread.
final class Fetch: @unchecked Sendable {
  /// Where the fetch stands. Whatever holds something (a place in the queue, a transfer, a timer) says so here, so
  /// that `letGo` can give it back.
  enum Phase {
    case idle
    case queued(QueueEntry)
    case flying(QueueEntry, transfer: UInt64)
    /// A tier is asked, or a worker, which can't be stopped: then it is queued again.
    case asking
    /// A worker has what came, and can't be stopped.
    case admitting
    case over
  }

  let shared: SharedCache
  /// The request as the first waiter made it.
  let plan: RequestPlan
  var runtime: Runtime { shared.runtime }
  /// The highest of its waiters'.
  var priority: Int { Int(step) }
  var joint: RequestPlan.Joint? { plan.joint }
  /// Whether answers that are stored count for nothing.
  var isReload: Bool { plan.policy.rules == .reload }

  private(set) var waiters: [any FetchWaiter] = []
  /// What is asked about, when the server is asked whether it still holds.
  var base: StoredAnswer? {
    didSet { if let base { known = base.record.number } }
  }
  /// The mark of what was found stored, also when it can't be told at the moment whether that is still there: nothing else that
  /// is found has come meanwhile.
  private(set) var known: UInt64?
  /// Whether it is not asked about all the same, because the server has said that something else still holds.
  private(set) var asksWhole = false
  var phase = Phase.idle
  private var step: Int8
  private(set) var hasBegun = false

  // The current attempt.
  /// The transfer was ended, because everybody's pictures were done: nobody else can have anything of it.
  var stoppedEarly = false
  var attemptNumber = 1
  /// How long, and how often, its host has been waited for; nil when it wasn't.
  var hold: Hold?
  /// Made when it sets out, so that what waits is small.
  private(set) var begunAttempt: Attempt?
  var attempt: Attempt {
    if let begunAttempt { return begunAttempt }
    let new = Attempt(plan.first)
    new.admitPictures = waiters.contains { $0.plan.wantsPictures }
    begunAttempt = new
    return new
  }
  /// On the monotonic clock, when the last wait for a place in the queue began.
  var queuedSince: Int64 = 0
  /// Whether it waits for its turn, and for nothing else: that is no part of anybody's deadline.
  var isInLine = false
  /// The tiers that were asked, and haven't been told yet how it ended.
  private var tiers: [any TierRequest] = []

  init(_ plan: RequestPlan, base: StoredAnswer?, _ shared: SharedCache) {
    self.plan = plan
    self.shared = shared
    self.base = base
    known = base?.record.number
    step = Int8(clamping: plan.priority)
  }

  // MARK: Waiting tasks

  /// Whether a waiter that comes now gets what it wants from this fetch. One that must not be answered from the past joins
  /// no fetch that has begun.
  func mayJoin(_ waiter: any FetchWaiter) -> Bool {
    // An error page was passed over, because all wanted pictures then.
    if let begun = begunAttempt, begun.skipsBody, begun.head?.redirection == nil, !waiter.plan.wantsPictures {
      return false
    }
    // What it will bring was taken out before this one asked.
    if stoppedEarly { return false }
    if let asked = begunAttempt?.asked, !shared.store.isCurrent(asked) { return false }
    guard case .over = phase else { return waiter.plan.policy.rules != .reload || (isReload && !hasBegun) }
    return false
  }

  func join(_ waiter: any FetchWaiter) {
    waiters.append(waiter)
    waiter.joined = self
    waiter.noteQueued()
    adoptPriority()
    if hasBegun { waiter.noteBegin() }
    begunAttempt?.admitPictures = waiters.contains { $0.plan.wantsPictures }
    if waiters.count > 1 { watchSilence() }
  }

  /// Takes a waiter out; the fetch ends with the last one.
  func leave(_ waiter: any FetchWaiter) {
    guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return }
    waiters.remove(at: place)
    waiter.joined = nil
    if waiters.isEmpty { return end() }
    adoptPriority()
    watchSilence()
  }

  func adoptPriority() {
    let highest = waiters.map(\.priority).max() ?? priority
    guard highest != priority else { return }
    step = Int8(clamping: highest)
    if case .queued(let entry) = phase {
      runtime.queue.setPriority(highest, of: entry, now: runtime.loop.now)
    }
  }

  /// Gives every waiter its outcome, each for itself, and is over.
  func conclude(_ outcome: FetchOutcome) {
    shared.note(outcome)
    var outcome = outcome
    if case .failed(var error) = outcome {
      error.attempts = attempt.journey.attempts
      outcome = .failed(error)
    }
    let waiting = waiters
    waiters = []
    for waiter in waiting { waiter.joined = nil }
    end(outcome.tierEnd)
    for waiter in waiting { waiter.conclude(outcome) }
  }

  /// Gives back whatever is held.
  private func end(_ end: FetchEnd = .cancelled) {
    letGo()
    phase = .over
    shared.fetches.forget(self)
    tellTiers(end)
  }

  func letGo() {
    let held = phase
    phase = .idle
    switch held {
    case .queued(let entry): runtime.queue.remove(entry, now: runtime.loop.now)
    case .flying(let entry, let transfer):
      shared.transport.cancel(transfer)
      runtime.queue.finished(entry, .abandoned, now: runtime.loop.now)
    case .idle, .asking, .admitting, .over: break
    }
  }

  // MARK: Tiers

  /// Asks the next tiers that haven't been asked. True when the answer of one has to be waited for.
  func asksTiers() -> Bool {
    guard plan.isShared, !plan.asksForPart else { return false }
    while tiers.count < shared.tiers.count {
      let tier = shared.tiers[tiers.count].request(for: self)
      tiers.append(tier)
      if tier.find(besides: base, done: { [weak self] in self?.take($0) }) { return true }
    }
    return false
  }

  private func take(_ answer: TierAnswer) {
    guard case .asking = phase else { return }
    if case .stored(let found) = answer {
      if let found, found.record.number != known, !isReload,
        waiters.allSatisfy({ found.isAnswer(to: $0.plan) })
      {
        return conclude(.stored(found))
      }
      // The same answer, too: its record may lie elsewhere now.
      if !isReload || found == nil { base = found }
    }
    enqueue()
  }

  private func tellTiers(_ end: FetchEnd) {
    let asked = takeTiers()
    guard !asked.isEmpty else { return }
    let mayWait = end == .failed && runtime.workers.submit(priority: Priority.most) { asked.ended(end) }
    if !mayWait { asked.ended(end == .failed ? .cancelled : end) }
  }

  /// The tiers, for something that tells them how the fetch ended.
  func takeTiers() -> [any TierRequest] {
    defer { tiers = [] }
    return tiers
  }

  // MARK: Admission

  /// Has a worker admit what has come, which tells the tiers how the fetch ended for them. Without an outcome the server means
  /// another answer than it was asked about: the whole answer is asked for then.
  func handOver(
    _ tiers: [any TierRequest],
    _ admit: @escaping @Sendable ([any TierRequest], @escaping @Sendable (FetchOutcome?) -> Void) -> Void
  ) {
    let isSubmitted = runtime.workers.submit(priority: priority) {
      admit(tiers) { outcome in self.runtime.loop.post { self.admitted(outcome, tiers) } }
    }
    guard !isSubmitted else { return }
    self.tiers = tiers
    conclude(.failed(runtime.workers.refusal))
  }

  private func admitted(_ outcome: FetchOutcome?, _ tiers: [any TierRequest]) {
    if let outcome { return conclude(outcome) }
    guard case .admitting = phase else { return tiers.ended(.cancelled) }
    self.tiers = tiers
    asksWhole = true
    attempt.begin(again: plan.first)
    enqueue()
  }

  func noteBegin() {
    hasBegun = true
    for waiter in waiters { waiter.noteBegin() }
  }
}

/// How a fetch ended.
enum FetchOutcome {
  /// There is an answer, of any status.
  case answered(FetchedAnswer)
  /// The stored answer still holds; this is it, renewed.
  case unchanged(StoredAnswer)
  /// Another process fetched it meanwhile.
  case stored(StoredAnswer)
  case failed(NuthatchError)

  var tierEnd: FetchEnd {
    if case .failed(let error) = self { error.isOwnEnd ? .cancelled : .failed } else { .stored }
  }
}
