import NuthatchTransport

/// One transfer for all requests that wait for the same answer: what waits for it, its place in the queue, how far it has come.
///
/// Waiters come and go; the last one to leave ends the fetch. Its priority is the highest of theirs. Confined to the
/// loop's thread, hence Sendable.
final class Fetch: @unchecked Sendable {
  /// Where the fetch stands. What holds something (a place in the queue, a transfer) says so here, so that `letGo` can give
  /// it back.
  private enum Phase {
    case idle
    case queued(QueueEntry)
    /// A tier is searched, or a worker finds the moment; neither can be stopped. Then it is queued again.
    case preparing
    case flying(QueueEntry)
    /// A worker has what came, and can't be stopped.
    case admitting
    case over
  }

  let shared: SharedCache
  /// The request as the first waiter made it.
  let plan: RequestPlan
  private(set) var waiters: [any FetchWaiter] = []
  /// What is asked about, when the server is asked whether it still holds.
  private var base: StoredAnswer? {
    didSet { if let base { known = base.record.number } }
  }
  /// The number of what was found stored, also when it can't be told at the moment whether that is still there: nothing else
  /// that is found has come meanwhile.
  private var known: UInt64?
  /// Whether the whole answer is fetched all the same, because the server has said that something else still holds.
  private var wantsWhole = false
  private var phase = Phase.idle
  private var ownPriority: Int8
  /// Whether it waits for its turn, and for nothing else: that is no part of a deadline.
  private(set) var isInLine = false
  /// Whether a worker has found the moment at which it begins, or that there is none.
  private var isMomentKnown = false
  /// On the monotonic clock, when the last wait for a place in the queue began.
  private var queuedSince: Int64 = 0
  /// The tiers that were searched, and haven't been told yet how it ended.
  private var tiers = SearchedTiers()
  /// Made when it sets out, so that a fetch in the queue is small.
  private var begunAttempt: Attempt?
  private var attempt: Attempt {
    if let begunAttempt { return begunAttempt }
    let new = Attempt(plan, shared)
    begunAttempt = new
    return new
  }

  var runtime: Runtime { shared.runtime }
  var priority: Int { Int(ownPriority) }
  /// Whether answers that are stored count for nothing.
  var isReload: Bool { plan.policy == .reload }
  private var hasBegun: Bool { begunAttempt.map { $0.journey.attempts > 0 } ?? false }

  /// - Parameter known: the number of what was found stored, also where that can't be asked about.
  init(_ plan: RequestPlan, base: StoredAnswer?, known: UInt64? = nil, _ shared: SharedCache) {
    self.plan = plan
    self.shared = shared
    self.base = base
    self.known = base?.record.number ?? known
    ownPriority = Int8(clamping: plan.priority)
  }

  static func seconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds + 999_999_999) / 1_000_000_000 }
}

// MARK: - Waiters

extension Fetch {
  /// Whether a waiter that comes now gets what it wants from this fetch. One that must not be answered from the past joins
  /// no fetch that has begun.
  func mayJoin(_ waiter: any FetchWaiter) -> Bool {
    if case .over = phase { return false }
    guard begunAttempt?.mayBeJoined(by: waiter.plan) ?? true else { return false }
    return waiter.plan.policy != .reload || (isReload && !hasBegun)
  }

  func join(_ waiter: any FetchWaiter) {
    waiters.append(waiter)
    waiter.joined = self
    waiter.noteQueued()
    // Not each time, because that looks at all waiters.
    if waiters.count == 1 || waiter.priority > priority { adoptPriority() }
    if hasBegun { waiter.noteBegin() }
    if waiters.count > 1 { watchSilence() }
  }

  /// Takes a waiter out; the fetch ends with the last one.
  func leave(_ waiter: any FetchWaiter) {
    guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return }
    waiters.remove(at: place)
    waiter.joined = nil
    if waiters.isEmpty { return end(.cancelled) }
    adoptPriority()
    watchSilence()
  }

  /// Ends a waiter for a reason of its own, and no other.
  func leaveAlone(_ waiter: any FetchWaiter, _ code: ErrorCode, _ message: String) {
    leave(waiter)
    var error = NuthatchError(code, "\(message): \(attempt.hop.url)")
    error.attempts = attempt.journey.attempts
    waiter.conclude(.failed(error))
  }

  /// Ends waiters that want no other attempt. False when none is left.
  private func dismiss(_ outcome: FetchOutcome?, where isEnough: (RequestPlan) -> Bool) -> Bool {
    guard let outcome else { return true }
    for waiter in waiters where isEnough(waiter.plan) {
      leave(waiter)
      waiter.conclude(outcome)
    }
    return !waiters.isEmpty
  }

  func adoptPriority() {
    let highest = waiters.lazy.map(\.priority).max() ?? priority
    guard highest != priority else { return }
    ownPriority = Int8(clamping: highest)
    if case .queued(let entry) = phase {
      runtime.queue.setPriority(highest, of: entry, now: runtime.loop.now)
    }
  }

  /// Sends the waiters away that have borne enough silence. To be called when one has come or gone, too.
  private func watchSilence() {
    guard case .flying = phase else { return }
    let (late, next) = attempt.judgeSilence(waiters)
    for waiter in late where waiter.joined === self {
      let seconds = Double(waiter.plan.silence ?? 0) / 1e9
      leaveAlone(waiter, .timeout, "no byte for \(seconds) s, while others wait on")
    }
    if let next { _ = runtime.loop.at(next) { [weak self] in self?.watchSilence() } }
  }

  /// When something came last; while nothing is on its way to it, now. Nil once a worker has what came.
  var lastSign: Int64? {
    switch phase {
    case .admitting, .over: nil
    case .idle, .queued, .preparing, .flying: begunAttempt?.lastSign ?? runtime.loop.now
    }
  }
}

// MARK: - Queue

extension Fetch: QueuedWork {
  /// Waits for a place in the queue of the hop's host.
  func enqueue(notBefore: Int64? = nil) {
    phase = .idle
    if notBefore == nil { standInLine() }
    queuedSince = runtime.loop.now
    let entry = runtime.queue.submit(
      self, to: origin, priority: priority, patience: waiters.patience,
      isBatched: plan.isBatched, mayBePutOff: plan.mayBeDeferred, notBefore: notBefore,
      now: queuedSince)
    // It may have begun, and even ended, already.
    if entry.state != .running, entry.state != .gone { phase = .queued(entry) }
  }

  private func standInLine() {
    isInLine = true
    for waiter in waiters { waiter.noteQueued() }
  }

  private var origin: Origin { (begunAttempt?.hop ?? plan.first).url.origin }

  /// The pauses of the host whose line it stands in, in nanoseconds, and the status of the answer that asked for the last one.
  var pauses: (past: Int64, left: Int64, status: Int) {
    runtime.queue.pauses(of: origin, now: runtime.loop.now)
  }

  /// Whether nothing of it is under way: it waits in the queue, for its turn or for another attempt.
  var isWaiting: Bool {
    if case .queued = phase { true } else { false }
  }

  func begin(_ entry: QueueEntry) {
    if isInLine {
      isInLine = false
      for waiter in waiters { waiter.noteTurn() }
    }
    guard attempt.redirects.isEmpty else { return send(entry) }
    if !isMomentKnown { attempt.began = shared.momentNow(plan) }
    guard attempt.began != nil || isMomentKnown else {
      giveBack(entry)
      return findMoment()
    }
    isMomentKnown = false
    // What was removed before that moment is not asked about.
    if let base, base.seen.map({ !shared.store.isCurrent($0) }) ?? true { self.base = nil }
    guard plan.isShared, !plan.wantsPart,
      tiers.searchNext(for: self, besides: base, done: { [weak self] in self?.take($0) })
    else { return send(entry) }
    giveBack(entry)
  }

  private func take(_ answer: TierAnswer) {
    guard case .preparing = phase else { return }
    if case .storeNowHas(let found) = answer {
      if let found, found.record.number != known, !isReload, waiters.areAnswered(by: found) {
        return conclude(.fetchedElsewhere(found))
      }
      // The same answer, too: its record may lie elsewhere now.
      if !isReload || found == nil { base = found }
    }
    enqueue()
  }

  /// Others get the place while it is prepared.
  private func giveBack(_ entry: QueueEntry) {
    phase = .preparing
    runtime.queue.finished(entry, .unused, now: runtime.loop.now)
  }

  /// Has a worker find the moment at which it begins: files may have to be opened for it.
  private func findMoment() {
    let isSubmitted = runtime.workers.submit(priority: priority) {
      let moment = self.shared.moment(self.plan)
      self.runtime.loop.post {
        guard case .preparing = self.phase else { return }
        // Without one the answer is not stored.
        self.attempt.began = moment
        self.isMomentKnown = true
        self.enqueue()
      }
    }
    if !isSubmitted { conclude(.failed(runtime.workers.whyNoJob)) }
  }

  private func send(_ entry: QueueEntry) {
    for waiter in waiters { waiter.noteBegin() }
    phase = .flying(entry)
    // "It still holds" must be an answer to every waiter.
    let mayValidate = !isReload && !wantsWhole && !plan.wantsPart
    let base = base.flatMap { mayValidate && waiters.areAnswered(by: $0) ? $0 : nil }
    attempt.send(
      for: self, entry, waited: runtime.loop.now - queuedSince, about: base)
    if waiters.count > 1 { watchSilence() }
  }

  /// Has sent nothing, and waits for its turn again.
  func waitAgain(_ entry: QueueEntry) {
    phase = .queued(entry)
    standInLine()
    queuedSince = runtime.loop.now
    runtime.queue.finished(entry, .unused, retryAt: queuedSince, now: queuedSince)
  }

  /// Ends the fetch for now, because nothing comes and other requests wait for its place: its waiters are ended, and their
  /// callers ask again later. When one waiter must not be put off, the fetch goes on.
  func putOff(_ entry: QueueEntry) {
    guard case .flying = phase, waiters.allSatisfy({ $0.plan.mayBeDeferred }) else { return }
    for waiter in waiters { waiter.putOff() }
  }

  func refused(_ entry: QueueEntry, _ refusal: HostRefusal) {
    let error = refusal.error(for: attempt.hop.url)
    // What waited when its host went, perhaps for another attempt, waits on as long as it may; what comes now is told at once.
    if case .circuitOpen(let retryAfter) = refusal, case .queued = phase,
      let wait = attempt.retries.delay(after: .circuitOpen(retryAfter: retryAfter), of: self),
      dismiss(.failed(error), where: attempt.retries.isTooMany)
    {
      return enqueue(notBefore: runtime.loop.now &+ wait)
    }
    phase = .idle
    conclude(.failed(error))
  }
}

// MARK: - What an attempt brings

extension Fetch {
  func attemptEnded(_ entry: QueueEntry, _ ending: AttemptResult) {
    phase = .idle
    if let next = attempt.retries.next(after: ending, of: self, entry) {
      return tryAgain(entry, ending, next)
    }
    runtime.queue.finished(entry, ending.outcome, ending.fault, now: runtime.loop.now)
    if let reason = attempt.stopReason { return admit(stopped: reason, ending.timings) }
    if attempt.isToBeRepeated || ending.fault == nil && plan.download?.isContinued == true {
      attempt.beginAgain()
      return enqueue()
    }
    if let fault = ending.fault {
      var error = NuthatchError(fault, url: attempt.hop.url)
      // Whether the server has had the request makes the difference there.
      if plan.mayBeFrozen { error.status = ending.status }
      return conclude(.failed(error))
    }
    guard let head = attempt.head else {
      return conclude(.failed(NuthatchError(.internal, "an answer without a head: \(attempt.hop.url)")))
    }
    guard let next = attempt.next else { return admit(head, ending.timings) }
    attempt.follow(next, head)
    enqueue()
  }

  private func tryAgain(_ entry: QueueEntry, _ ending: AttemptResult, _ next: Retries.Next) {
    let (now, retries) = (runtime.loop.now, attempt.retries)
    let isTooMany = next.isHold ? retries.isTooLong : retries.isTooMany
    guard dismiss(attempt.outcomeForNow(ending), where: isTooMany) else {
      return runtime.queue.finished(entry, ending.outcome, ending.fault, now: now)
    }
    // What led here is asked again: its place is at the first host's.
    let isElsewhere = next.isHold && !attempt.redirects.isEmpty
    attempt.beginAgain()
    phase = isElsewhere ? .idle : .queued(entry)
    queuedSince = now
    if next.isHold { standInLine() }
    let time = now &+ next.wait
    runtime.queue.finished(
      entry, ending.outcome, ending.fault, retryAt: isElsewhere ? nil : time, now: now)
    if isElsewhere { enqueue(notBefore: time) }
  }

  private func admit(_ head: ResponseHead, _ timings: TransferTimings) {
    phase = .admitting
    let admission = Admission(head, timings, attempt, self)
    let tiers = tiers.take()
    guard !attempt.isKept, let download = plan.download else { return handOver(tiers, admission.run) }
    download.bytesSoFar { earlier in
      self.handOver(tiers) { admission.beginning(with: earlier).run($0, then: $1) }
    }
  }

  /// The transfer was stopped by us; that no picture can be made of it is remembered.
  private func admit(stopped reason: NuthatchError, _ timings: TransferTimings) {
    var error = reason
    error.bodyBytes = Int64(attempt.body.count)
    guard let fault = attempt.undecodable, let head = attempt.head,
      waiters.allSatisfy({ $0.plan.inquiry == nil })
    else { return conclude(.failed(error)) }
    phase = .admitting
    let admission = UndecodableAdmission(
      arrival: attempt.received(head, timings), fault: fault, error: error, recipes: waiters.recipes)
    attempt.dropBody()
    handOver(tiers.take(), admission.run)
  }

  /// All pictures are done before the body has come whole.
  func stoppedEarly(_ entry: QueueEntry, _ admission: PartialAdmission) {
    phase = .admitting
    runtime.queue.finished(entry, .done, now: runtime.loop.now)
    handOver(tiers.take(), admission.run)
  }

  /// Has a worker admit what has come, which tells the tiers how the fetch ended for them. Without an outcome the server means
  /// another answer than it was asked about: the whole answer is asked for then.
  private func handOver(
    _ tiers: SearchedTiers,
    _ admit: @escaping @Sendable (SearchedTiers, @escaping @Sendable (FetchOutcome?) -> Void) -> Void
  ) {
    let isSubmitted = runtime.workers.submit(priority: priority) {
      admit(tiers) { outcome in self.runtime.loop.post { self.admitted(outcome, tiers) } }
    }
    guard !isSubmitted else { return }
    self.tiers = tiers
    conclude(.failed(runtime.workers.whyNoJob))
  }

  private func admitted(_ outcome: FetchOutcome?, _ tiers: SearchedTiers) {
    if let outcome { return conclude(outcome) }
    guard case .admitting = phase else { return tiers.ended(.cancelled) }
    self.tiers = tiers
    wantsWhole = true
    attempt.beginAgain()
    enqueue()
  }

  /// Gives every waiter its outcome, each for itself, and is over.
  private func conclude(_ outcome: FetchOutcome) {
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

  /// Gives back what is held.
  private func end(_ end: FetchEnd) {
    letGo()
    phase = .over
    shared.fetches.forget(self)
    tiers.take().ended(end, runtime.workers)
  }

  private func letGo() {
    let held = phase
    phase = .idle
    switch held {
    case .queued(let entry): runtime.queue.remove(entry, now: runtime.loop.now)
    case .flying(let entry):
      attempt.cancel()
      runtime.queue.finished(entry, .abandoned, now: runtime.loop.now)
    case .idle, .preparing, .admitting, .over: break
    }
  }
}
