import NuthatchTransport

/// One fetch, shared by all requests that need the same answer: its waiters, its place in the queue, its state.
///
/// When the last waiter leaves, the fetch ends. Its priority is the highest of its waiters. Confined to the loop's thread,
/// hence Sendable.
final class Fetch: @unchecked Sendable {
  /// The state of the fetch. A state that holds something (a place in the queue, a transfer) has it as its value, so that
  /// `releaseResources` finds it.
  private enum Phase {
    case idle
    case queued(QueueEntry)
    /// A tier is searched, or a worker reads the moment. Neither can be stopped. Afterwards the fetch is queued again.
    case preparing
    case transferring(QueueEntry)
    /// A worker processes the answer and can't be stopped.
    case processing
    case over
  }

  let shared: SharedCache
  /// The request of the first waiter.
  let plan: RequestPlan
  private(set) var waiters: [any FetchWaiter] = []
  /// The stored answer that the server is asked to confirm.
  private var base: StoredAnswer? {
    didSet { if let base { known = base.record.number } }
  }
  /// The number of the stored answer that was found, even if it may be gone by now. A look-up that finds the same number has
  /// found nothing new.
  private var known: UInt64?
  /// Whether the whole answer is requested although an answer is stored, because the server's 304 was about another one.
  private var wantsWhole = false
  private var phase = Phase.idle
  private var ownPriority: Int8
  /// Whether the fetch only waits for its turn. Some deadlines don't include that time.
  private(set) var isWaitingForTurn = false
  /// Whether a worker has just read the moment, for the next `begin`, or found that there is none.
  private var wasMomentRead = false
  /// When the last wait for a place in the queue began (monotonic, ns).
  private var queuedSince: Int64 = 0
  /// The tiers that were searched and haven't been told yet how the fetch ended.
  private var tiers = SearchedTiers()
  /// Made on first use, so that a fetch in the queue is small.
  private var madeAttempt: FetchAttempt?
  private var attempt: FetchAttempt {
    if let madeAttempt { return madeAttempt }
    let new = FetchAttempt(plan, shared)
    madeAttempt = new
    return new
  }

  var runtime: Runtime { shared.runtime }
  var priority: Int { Int(ownPriority) }
  /// Whether stored answers must not be used.
  var isReload: Bool { plan.policy == .reload }
  private var hasBegun: Bool { madeAttempt.map { $0.journey.attempts > 0 } ?? false }

  /// - Parameter known: the number of the stored answer that was found, even if the server can't be asked to confirm it.
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
  /// Returns whether `waiter` can share this fetch. A `reload` request can join only another `reload` fetch, and only before
  /// that is sent.
  func mayJoin(_ waiter: any FetchWaiter) -> Bool {
    if case .over = phase { return false }
    guard madeAttempt?.mayBeJoined(by: waiter.plan) ?? true else { return false }
    return waiter.plan.policy != .reload || (isReload && !hasBegun)
  }

  func join(_ waiter: any FetchWaiter) {
    waiters.append(waiter)
    waiter.joined = self
    waiter.noteQueued()
    // Don't call it each time, because it looks at all waiters.
    if waiters.count == 1 || waiter.priority > priority { adoptPriority() }
    if hasBegun { waiter.noteBegin() }
    if waiters.count > 1 { watchSilence() }
  }

  /// Removes a waiter. If it was the last one, the fetch ends.
  func leave(_ waiter: any FetchWaiter) {
    guard let place = waiters.firstIndex(where: { $0 === waiter }) else { return }
    waiters.remove(at: place)
    waiter.joined = nil
    if waiters.isEmpty { return end(.cancelled) }
    adoptPriority()
    watchSilence()
  }

  /// Ends one waiter with its own error. The fetch goes on for the others.
  func fail(_ waiter: any FetchWaiter, _ code: ErrorCode, _ message: String) {
    leave(waiter)
    var error = NuthatchError(code, "\(message): \(attempt.hop.url)")
    error.attempts = attempt.journey.attempts
    waiter.conclude(.failed(error))
  }

  /// Ends the waiters that want no other attempt. Returns false if none is left.
  private func concludeWaiters(_ outcome: FetchOutcome?, where isEnough: (RequestPlan) -> Bool) -> Bool {
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

  /// Ends the waiters whose `timeout` has passed without a byte. Call it also when a waiter has joined or left.
  private func watchSilence() {
    guard case .transferring = phase else { return }
    let (late, next) = attempt.judgeSilence(waiters)
    for waiter in late where waiter.joined === self {
      let seconds = Double(waiter.plan.silence ?? 0) / 1e9
      fail(
        waiter, .timeout, "no byte came for \(seconds) s (timeout); the transfer goes on for other requests")
    }
    if let next { _ = runtime.loop.at(next) { [weak self] in self?.watchSilence() } }
  }

  /// The time when the last byte came. While nothing is sent: now. Nil once a worker processes the answer.
  var lastByteTime: Int64? {
    switch phase {
    case .processing, .over: nil
    case .idle, .queued, .preparing, .transferring: madeAttempt?.lastByteTime ?? runtime.loop.now
    }
  }
}

// MARK: - Queue

extension Fetch: QueuedWork {
  /// Waits for a place in the queue of the hop's host.
  func enqueue(notBefore: Int64? = nil) {
    phase = .idle
    if notBefore == nil { startWaitingForTurn() }
    queuedSince = runtime.loop.now
    let entry = runtime.queue.submit(
      self, to: origin, priority: priority, patience: waiters.patience,
      isBatched: plan.isBatched, mayBePutOff: plan.mayBeDeferred, notBefore: notBefore,
      now: queuedSince)
    // The entry may already run, or even have ended.
    if entry.state != .running, entry.state != .gone { phase = .queued(entry) }
  }

  private func startWaitingForTurn() {
    isWaitingForTurn = true
    for waiter in waiters { waiter.noteQueued() }
  }

  private var origin: Origin { (madeAttempt?.hop ?? plan.first).url.origin }

  /// The pauses of the host in whose queue the fetch waits, in nanoseconds, and the status of the answer that asked for the
  /// last one.
  var pauses: (past: Int64, left: Int64, status: Int) {
    runtime.queue.pauseTimes(of: origin, now: runtime.loop.now)
  }

  /// Whether the fetch waits in the queue, for its turn or for another attempt.
  var isWaiting: Bool {
    if case .queued = phase { true } else { false }
  }

  func begin(_ entry: QueueEntry) {
    if isWaitingForTurn {
      isWaitingForTurn = false
      for waiter in waiters { waiter.noteTurn() }
    }
    guard attempt.redirects.isEmpty else { return send(entry) }
    if !wasMomentRead { attempt.began = shared.momentNow(plan) }
    guard attempt.began != nil || wasMomentRead else {
      giveBack(entry)
      return findMoment()
    }
    wasMomentRead = false
    // If something of the stored answer was removed before that moment, don't ask the server to confirm it.
    if let base, base.seen.map({ !shared.store.isCurrent($0) }) ?? true { self.base = nil }
    guard plan.isShareable, !plan.wantsPart,
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
      // Take the result even if the answer is the same: its record may have moved.
      if !isReload || found == nil { base = found }
    }
    enqueue()
  }

  /// Gives the place back to other requests during the preparation.
  private func giveBack(_ entry: QueueEntry) {
    phase = .preparing
    runtime.queue.finished(entry, .unused, now: runtime.loop.now)
  }

  /// Makes a worker read the moment of the fetch, because files may have to be opened for that.
  private func findMoment() {
    let isSubmitted = runtime.workers.submit(priority: priority) {
      let moment = self.shared.moment(self.plan)
      self.runtime.loop.post {
        guard case .preparing = self.phase else { return }
        // Without a moment, the answer isn't stored.
        self.attempt.began = moment
        self.wasMomentRead = true
        self.enqueue()
      }
    }
    if !isSubmitted { conclude(.failed(runtime.workers.whyNoJob)) }
  }

  private func send(_ entry: QueueEntry) {
    for waiter in waiters { waiter.noteBegin() }
    phase = .transferring(entry)
    // A 304 must be a usable answer for every waiter.
    let mayValidate = !isReload && !wantsWhole && !plan.wantsPart
    let base = base.flatMap { mayValidate && waiters.areAnswered(by: $0) ? $0 : nil }
    attempt.send(
      for: self, entry, waited: runtime.loop.now - queuedSince, about: base)
    if waiters.count > 1 { watchSilence() }
  }

  /// Returns to the queue because nothing was sent.
  func waitAgain(_ entry: QueueEntry) {
    phase = .queued(entry)
    startWaitingForTurn()
    queuedSince = runtime.loop.now
    runtime.queue.finished(entry, .unused, retryAt: queuedSince, now: queuedSince)
  }

  /// Ends the fetch for now, because nothing comes and other requests wait for its place. Its waiters end, and their callers
  /// ask again later. If one waiter must not be put off, the fetch goes on.
  func putOff(_ entry: QueueEntry) { if case .transferring = phase { putOff() } }

  private func putOff() {
    guard waiters.allSatisfy({ $0.plan.mayBeDeferred }) else { return }
    for waiter in waiters { waiter.putOff(after: attempt.journey.attempts) }
  }

  func refused(_ entry: QueueEntry, _ refusal: HostRefusal) {
    let error = refusal.error(for: attempt.hop.url)
    // A fetch that waited in the queue when the circuit opened retries as long as it may. A new one fails at once.
    if case .circuitOpen(let retryAfter) = refusal, case .queued = phase,
      let wait = attempt.retries.delay(after: .circuitOpen(retryAfter: retryAfter), of: self),
      concludeWaiters(.failed(error), where: attempt.retries.isTooMany)
    {
      return enqueue(notBefore: runtime.loop.now &+ wait)
    }
    phase = .idle
    conclude(.failed(error))
  }
}

// MARK: - After an attempt

extension Fetch {
  func attemptEnded(_ entry: QueueEntry, _ ending: AttemptResult) {
    phase = .idle
    if let next = attempt.retries.next(after: ending, of: self, entry) {
      return tryAgain(entry, ending, next)
    }
    runtime.queue.finished(entry, ending.outcome, ending.fault, now: runtime.loop.now)
    if let reason = attempt.stopReason { return process(stopped: reason, ending.timings) }
    if attempt.isToBeRepeated || ending.fault == nil && plan.download?.isContinued == true {
      attempt.beginAgain()
      return enqueue()
    }
    if let fault = ending.fault {
      var error = NuthatchError(fault, url: attempt.hop.url)
      // For a freezable request it matters whether the server has received the request.
      if plan.mayBeFrozen { error.status = ending.status }
      return conclude(.failed(error))
    }
    guard let head = attempt.head else {
      return conclude(
        .failed(NuthatchError(.internal, "the transfer ended without a response head: \(attempt.hop.url)")))
    }
    guard let next = attempt.next else { return process(head, ending.timings) }
    attempt.follow(next, head)
    enqueue()
  }

  private func tryAgain(_ entry: QueueEntry, _ ending: AttemptResult, _ next: Retries.Next) {
    let now = runtime.loop.now
    guard concludeWaiters(attempt.outcomeForNow(ending), where: attempt.retries.isTooMany) else {
      return runtime.queue.finished(entry, ending.outcome, ending.fault, now: now)
    }
    // The next attempt begins again at the first hop, so it needs a place at the first hop's host.
    let isElsewhere = attempt.hop.url.origin != plan.first.url.origin
    attempt.beginAgain()
    phase = isElsewhere ? .idle : .queued(entry)
    queuedSince = now
    if next.isHold { startWaitingForTurn() }
    let time = now &+ next.wait
    runtime.queue.finished(
      entry, ending.outcome, ending.fault, retryAt: isElsewhere ? nil : time, now: now)
    if isElsewhere { enqueue(notBefore: time) }
    // Only this page is in trouble. While it waits, other URLs of its host could not be under way.
    if next.isOdd { putOff() }
  }

  private func process(_ head: ResponseHead, _ timings: TransferTimings) {
    phase = .processing
    let processor = AnswerProcessor(head, timings, attempt, self)
    let tiers = tiers.take()
    guard !attempt.keepsBody, let download = plan.download else { return handOver(tiers, processor.run) }
    download.bytesSoFar { earlier in
      self.handOver(tiers) { processor.beginning(with: earlier).run($0, then: $1) }
    }
  }

  /// Handles a transfer that this process has stopped. If no picture can be made of the answer, that is remembered.
  private func process(stopped reason: NuthatchError, _ timings: TransferTimings) {
    var error = reason
    error.bodyBytes = Int64(attempt.body.count)
    guard let fault = attempt.undecodable, let head = attempt.head,
      waiters.allSatisfy({ $0.plan.questionContext == nil })
    else { return conclude(.failed(error)) }
    phase = .processing
    let processor = UndecodableAnswerProcessor(
      arrival: attempt.received(head, timings), fault: fault, error: error, recipes: waiters.recipes)
    attempt.dropBody()
    handOver(tiers.take(), processor.run)
  }

  /// Handles a transfer that was stopped because all pictures were done before the whole body had come.
  func stoppedEarly(_ entry: QueueEntry, _ processor: EarlyStopProcessor) {
    phase = .processing
    runtime.queue.finished(entry, .done, now: runtime.loop.now)
    handOver(tiers.take(), processor.run)
  }

  /// Makes a worker process the answer; the worker tells the tiers how the fetch ended. If there is no outcome, the 304 was
  /// about another answer than the stored one: then the whole answer is requested.
  private func handOver(
    _ tiers: SearchedTiers,
    _ process: @escaping @Sendable (SearchedTiers, @escaping @Sendable (FetchOutcome?) -> Void) -> Void
  ) {
    let isSubmitted = runtime.workers.submit(priority: priority) {
      process(tiers) { outcome in self.runtime.loop.post { self.processed(outcome, tiers) } }
    }
    guard !isSubmitted else { return }
    self.tiers = tiers
    conclude(.failed(runtime.workers.whyNoJob))
  }

  private func processed(_ outcome: FetchOutcome?, _ tiers: SearchedTiers) {
    if let outcome { return conclude(outcome) }
    guard case .processing = phase else { return tiers.ended(.cancelled) }
    self.tiers = tiers
    wantsWhole = true
    attempt.beginAgain()
    enqueue()
  }

  /// Ends the fetch, and calls each waiter with the outcome.
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

  /// Ends the fetch, and releases what it holds.
  private func end(_ end: FetchEnd) {
    releaseResources()
    phase = .over
    shared.fetches.forget(self)
    tiers.take().ended(end, runtime.workers)
  }

  private func releaseResources() {
    let held = phase
    phase = .idle
    switch held {
    case .queued(let entry): runtime.queue.remove(entry, now: runtime.loop.now)
    case .transferring(let entry):
      attempt.cancel()
      runtime.queue.finished(entry, .abandoned, now: runtime.loop.now)
    case .idle, .preparing, .processing, .over: break
    }
  }
}
