import CSystem
import Glibc
import NuthatchImaging
import NuthatchTransport

// The way of a fetch through queue and network.

extension Fetch: QueuedWork {
  /// Waits for a place in the queue of the hop's host.
  func enqueue(notBefore: Int64? = nil) {
    phase = .idle
    if notBefore == nil { standInLine() }
    queuedSince = runtime.loop.now
    let entry = runtime.queue.submit(
      self, to: (begunAttempt?.hop ?? plan.first).url.origin, priority: priority, patience: patience,
      isBatched: plan.terms.isBatched, mayBePutOff: plan.terms.mayBeDeferred, notBefore: notBefore,
      now: runtime.loop.now)
    // It may have begun, and even ended, already.
    if entry.state != .running, entry.state != .gone { phase = .queued(entry) }
  }

  func standInLine() {
    isInLine = true
    for waiter in waiters { waiter.noteQueued() }
  }

  /// The pauses of the host whose line it stands in, in nanoseconds, and the status of the answer that asked for the last one.
  var pauses: (past: Int64, left: Int64, status: Int) {
    runtime.queue.pauses(of: (begunAttempt?.hop ?? plan.first).url.origin, now: runtime.loop.now)
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
    if attempt.redirects.isEmpty, !setOut() {
      giveBack(entry)
      return setOutLate()
    }
    guard attempt.redirects.isEmpty, asksTiers() else { return send(entry) }
    giveBack(entry)
  }

  /// Notes the moment of the question. What is removed after it isn't stored. What was removed before it is not asked about.
  ///
  /// - Returns: false when the moment can't be told at once.
  private func setOut() -> Bool {
    if attempt.isAskedLate {
      attempt.isAskedLate = false
    } else {
      attempt.asked = shared.momentNow(plan)
      guard attempt.asked != nil else { return false }
    }
    if let base, base.seen.map({ !shared.store.isCurrent($0) }) ?? true { self.base = nil }
    return true
  }

  /// The same by a worker: files may have to be opened for it.
  private func setOutLate() {
    let isPosted = runtime.workers.submit(priority: priority) {
      let asked = self.shared.moment(self.plan)
      self.runtime.loop.post {
        guard case .asking = self.phase else { return }
        // Without one the answer is not stored.
        self.attempt.asked = asked
        self.attempt.isAskedLate = true
        self.enqueue()
      }
    }
    if !isPosted { conclude(.failed(runtime.workers.refusal)) }
  }

  func refused(_ entry: QueueEntry, _ refusal: HostRefusal) {
    // What waited when its host went, perhaps for another attempt, waits on as long as it may; what comes now is told at once.
    if case .circuitOpen(let retryAfter) = refusal, case .queued = phase,
      let wait = delayBeforeRetry(retryAfter: retryAfter)
    {
      attemptNumber += 1
      return enqueue(notBefore: runtime.loop.now &+ wait)
    }
    phase = .idle
    conclude(.failed(error(refusal)))
  }

  func circuitOpen(retryAfter: Int64) -> NuthatchError {
    let seconds = max(1, (retryAfter + 999_999_999) / 1_000_000_000)
    var error = NuthatchError(
      .circuitOpen,
      "the host failed too often in a row and is left alone for \(seconds) s: \(attempt.hop.url)")
    error.retryAfter = seconds
    return error
  }

  /// Others get the place while something is asked.
  private func giveBack(_ entry: QueueEntry) {
    phase = .asking
    runtime.queue.finished(entry, .unused, now: runtime.loop.now)
  }

  private func send(_ entry: QueueEntry) {
    noteBegin()
    attempt.clear()
    shared.counts.transfers.count()
    attempt.journey.attempts = attemptNumber
    attempt.journey.queued += max(0, runtime.loop.now - queuedSince) / 1000
    attempt.requestTime = shared.clock.seconds
    var request = attempt.hop
    attempt.silence = longestSilence
    request.silence = attempt.silence
    request.addressGuard = plan.guardGrade.addressGuard
    request.isSentByPublic = attempt.isSentByPublic
    request.passesUnknownCodings = plan.policy.rules == .rfc9111
    request.acceptsCompressed = !plan.wantsPictures && !plan.headers.contains("Accept-Encoding")
    attempt.isConditional = false
    if let cookies = plan.terms.cookies,
      // The first hop sends what its answer is kept by.
      let cookie = attempt.redirects.isEmpty ? plan.terms.cookie : cookies.knownHeader(for: request.url)
    {
      request.headers.append("Cookie", cookie)
    }
    plan.download?.prepare(&request)
    if plan.download?.isResuming != true, let base, mayAskWhether(base) {
      for field in StorageRules.conditionalFields(base.record.head) {
        request.headers.append(field.name, field.value)
        attempt.isConditional = true
      }
    }
    let transfer = shared.transport.start(request, sink: self)
    phase = .flying(entry, transfer: transfer)
    if waiters.count > 1 { watchSilence() }
    plan.download?.whenFree = { [weak self] in self?.goOn(with: transfer) }
  }

  /// There is room again for what comes, or there can't be.
  private func goOn(with transfer: UInt64) {
    guard case .flying(_, transfer: transfer) = phase else { return }
    if plan.download != nil, attempt.body.failure != nil { stopKeeping() }
    guard let failure = plan.download?.failure ?? attempt.body.failure else {
      return shared.transport.resume(transfer)
    }
    let timings = shared.transport.timings(of: transfer) ?? TransferTimings()
    shared.transport.cancel(transfer)
    attempt.refusal = failure
    finished(TransportFault(.stopped, "stopped"), timings)
  }

  /// What is saved isn't kept, too.
  private func stopKeeping() {
    // Its file may have held the transfer up, and is not listened to any more when it has caught up.
    if attempt.body.isFiled, case .flying(_, let transfer) = phase {
      runtime.loop.post { [weak self] in self?.goOn(with: transfer) }
    }
    attempt.isKept = false
    attempt.body = IncomingBody()
  }

  /// Whether "it still holds" would be an answer to every waiter.
  private func mayAskWhether(_ base: StoredAnswer) -> Bool {
    !isReload && !asksWhole && !plan.asksForPart && attempt.isAt(base.record)
      && waiters.allSatisfy { base.isAnswer(to: $0.plan) }
  }
}

// MARK: - What arrives

extension Fetch: TransferSink {
  func waitsForName() {
    guard case .flying(let entry, _) = phase else { return }
    runtime.queue.waitsForName(entry, now: runtime.loop.now)
  }

  func mayConnect() -> Bool {
    guard case .flying(let entry, _) = phase, !runtime.queue.nameIsKnown(entry, now: runtime.loop.now) else {
      return true
    }
    // Its turn comes again, and its name is known then.
    shared.counts.transfers.count(-1)
    phase = .queued(entry)
    standInLine()
    queuedSince = runtime.loop.now
    runtime.queue.finished(entry, .unused, retryAt: runtime.loop.now, now: runtime.loop.now)
    return false
  }

  func interim(_ head: ResponseHead) { attempt.interim.append(head) }

  func sent(_ bytes: Int64) {
    noteMoved(attempt.noteSent(bytes))
    for waiter in waiters where waiter.plan.reportsProgress {
      waiter.report(bytes, of: attempt.hop.bodyCount, isUpload: true)
    }
  }

  func head(_ head: ResponseHead) -> TransferVerdict {
    attempt.head = head
    attempt.responseTime = shared.clock.seconds
    noteAnswer(head)
    plan.terms.cookies?.take(head, from: attempt.hop.url)
    runtime.reachability.note(attempt.hop.url.origin, isReachable: true)
    if head.redirection != nil {
      if !plan.isHopByHop { return judgeRedirect(head) }
      attempt.skipsBody = true
      return .goOn
    }
    if attempt.hop.cannotAnswer(head) {
      attempt.refusal = NuthatchError(
        .http,
        "HTTP 401: the server takes Digest only with a proof of the body (qop=auth-int), which isn't supported: \(attempt.hop.url)",
        status: head.status)
      return .stop
    }
    if let download = plan.download, let verdict = take(head, download) { return verdict }
    guard head.mayHaveBody(method: attempt.hop.method) else { return .goOn }
    let announced = (try? head.contentLength()) ?? 0  // the transport has refused a malformed one already
    // Pictures come with success only: whoever wants nothing else needs no error page.
    attempt.skipsBody = !(200..<300).contains(head.status) && waiters.allSatisfy { $0.plan.wantsPictures }
    if attempt.skipsBody { return announced > Attempt.longestSkip ? .stop : .goOn }
    // Whoever announces too much is stopped before the first byte.
    for waiter in waiters where announced > waiter.plan.maxBytes {
      leaveAlone(
        waiter, .tooLarge, "\(announced) bytes announced, more than max_bytes (\(waiter.plan.maxBytes))")
    }
    guard !waiters.isEmpty else { return .stop }
    if attempt.admitPictures { attempt.probe = ImageProbe() }
    guard case .flying(_, let transfer) = phase else { return .stop }
    attempt.body = IncomingBody(runtime, else: shared.path, attempt.hop.url) { [weak self] in
      self?.goOn(with: transfer)
    }
    attempt.body.buffer.reserve(announced: announced)
    return .goOn
  }

  /// Nil when its body is to come like any other.
  private func take(_ head: ResponseHead, _ download: Download) -> TransferVerdict? {
    switch download.take(head) {
    case .goOn:
      attempt.head = download.presented(head)
      let announced = (try? head.contentLength()) ?? 0
      attempt.isKept = announced <= download.keptBytes && !download.isResuming
      return nil
    case .again:
      attempt.isToBeRepeated = true
      attempt.skipsBody = true
      return .goOn
    case .refuse(let error):
      attempt.refusal = error
      return .stop
    }
  }

  /// What is saved is kept, too, while it isn't too large for that.
  private func save(_ bytes: UnsafeRawBufferPointer, _ download: Download) -> TransferVerdict? {
    guard let status = attempt.head?.status, (200..<300).contains(status) else { return nil }
    let count = download.count + Int64(bytes.count)
    for waiter in waiters where count > waiter.plan.maxBytes {
      leaveAlone(waiter, .tooLarge, "the body goes on, beyond max_bytes (\(waiter.plan.maxBytes))")
    }
    guard !waiters.isEmpty else { return .stop }
    if Int64(attempt.body.count) + Int64(bytes.count) > download.keptBytes { stopKeeping() }
    do throws(NuthatchError) {
      let mayGoOn = try download.write(bytes)
      if attempt.isKept, (try? attempt.body.append(bytes)) == nil { stopKeeping() }
      for waiter in waiters where waiter.plan.reportsProgress {
        waiter.report(download.count, of: download.total)
      }
      return mayGoOn && !attempt.body.isFull ? .goOn : .hold
    } catch {
      attempt.refusal = error
      return .stop
    }
  }

  private func judgeRedirect(_ head: ResponseHead) -> TransferVerdict {
    guard attempt.redirects.count < RequestPlan.longestChain else {
      return refuse(.tooManyRedirects, "more than \(RequestPlan.longestChain) redirects, the last from")
    }
    do {
      attempt.next = try RequestPlan.target(of: head, from: attempt.hop.url)
      return .goOn
    } catch {
      attempt.refusal = error
      return .stop
    }
  }

  private func noteMoved(_ bytes: Int) {
    if case .flying(let entry, _) = phase { runtime.queue.moved(entry, bytes, now: runtime.loop.now) }
  }

  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict {
    noteMoved(bytes.count)
    if attempt.next != nil || attempt.skipsBody {
      attempt.skipped += bytes.count
      return attempt.skipped <= Attempt.longestSkip ? .goOn : .stop
    }
    if let download = plan.download, let verdict = save(bytes, download) { return verdict }
    let count = Int64(attempt.body.count) + Int64(bytes.count)
    for waiter in waiters where count > waiter.plan.maxBytes {
      leaveAlone(waiter, .tooLarge, "the body goes on, beyond max_bytes (\(waiter.plan.maxBytes))")
    }
    guard !waiters.isEmpty else { return .stop }
    do throws(NuthatchError) {
      try attempt.body.append(bytes)
    } catch {
      attempt.refusal = error
      return .stop
    }
    tryToStop(after: bytes)
    if attempt.probe != nil, !goesOnAsPicture(bytes) { return .stop }
    for waiter in waiters where waiter.plan.reportsProgress {
      waiter.report(count, of: (try? attempt.head?.contentLength()) ?? nil)
    }
    return attempt.body.isFull ? .hold : .goOn
  }

  /// Sends those who want a picture away as soon as it is clear that there is none for them. False when nobody is left.
  private func goesOnAsPicture(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let answer = attempt.probe?.feed(bytes) else { return true }
    if case .needMore = answer, attempt.probe?.size == nil { return true }
    if let size = attempt.probe?.size {
      for waiter in waiters where waiter.plan.wantsPictures && size.area > waiter.plan.maxPixels {
        leaveAlone(
          waiter, .tooManyPixels, "a picture of \(size), more than max_pixels (\(waiter.plan.maxPixels))")
      }
    }
    switch answer {
    case .needMore: break
    case .found(let info):
      attempt.probe = nil
      watchForEnough(info)
    case .notAnImage, .unsupported, .fault:
      attempt.probe = nil
      // The verdict needs the whole body's rules (damage that is allowed, policies), unless nobody else wants it.
      guard waiters.allSatisfy({ $0.plan.wantsPictures && !$0.plan.recipes.contains(where: \.allowsDamage) })
      else { return true }
      let fault = Picture.fault(answer)
      attempt.verdict = fault
      attempt.refusal = NuthatchError(fault, url: attempt.hop.url.description)
      // Nobody else can have anything of it.
      stoppedEarly = true
      return false
    }
    return !waiters.isEmpty
  }

  func leaveAlone(_ waiter: any FetchWaiter, _ code: ErrorCode, _ message: String) {
    leaveAlone(waiter, NuthatchError(code, "\(message): \(attempt.hop.url)"))
  }

  /// One waiter's own limit ends that waiter, and no other.
  private func leaveAlone(_ waiter: any FetchWaiter, _ error: NuthatchError) {
    leave(waiter)
    var error = error
    error.attempts = attempt.journey.attempts
    waiter.conclude(.failed(error))
  }

  private func refuse(_ code: ErrorCode, _ message: String) -> TransferVerdict {
    attempt.refusal = NuthatchError(code, "\(message): \(attempt.hop.url)")
    return .stop
  }

  func finished(_ fault: TransportFault?, _ timings: TransferTimings) {
    guard case .flying(let entry, let transfer) = phase else { return }
    guard attempt.body.isSettled || attempt.refusal != nil else {
      return attempt.body.settle {
        guard case .flying(_, transfer: transfer) = self.phase else { return }
        self.finished(fault, timings)
      }
    }
    phase = .idle
    if let failure = attempt.body.failure {
      if plan.download == nil { attempt.refusal = attempt.refusal ?? failure } else { stopKeeping() }
    }
    shared.counts.bytes.count(attempt.body.count)
    if attempt.body.isFiled { shared.counts.filed.count() }
    attempt.noteConnection(timings.connection)
    let ending = AttemptResult(attempt, fault, timings)
    if case .unreachable = ending.outcome {
      runtime.reachability.note(attempt.hop.url.origin, isReachable: false)
    }
    let patience = attempt.refusal == nil ? patience(after: ending, entry) : .none
    if case .wait(let wait) = patience {
      attemptNumber += 1
      return goOnHolding(entry, ending, after: wait)
    }
    if attempt.refusal == nil, case .none = patience, let wait = delayBeforeRetry(ending) {
      attemptNumber += 1
      attempt.begin(again: plan.first)
      phase = .queued(entry)
      queuedSince = runtime.loop.now
      return runtime.queue.finished(
        entry, ending.outcome, ending.fault, retryAt: runtime.loop.now &+ wait, now: runtime.loop.now)
    }
    runtime.queue.finished(entry, ending.outcome, ending.fault, now: runtime.loop.now)
    if var refusal = attempt.refusal {
      refusal.bodyBytes = Int64(attempt.body.count)
      if let verdict = attempt.verdict { return admit(verdict, refusal, timings) }
      return conclude(.failed(refusal))
    }
    if attempt.isToBeRepeated || ending.fault == nil && plan.download?.isContinued == true {
      attempt.begin(again: plan.first)
      return enqueue()
    }
    if let fault = ending.fault {
      var error = NuthatchError(fault, url: attempt.hop.url)
      // Whether the server has had the request makes the difference there.
      if plan.mayBeFrozen { error.status = attempt.head?.status }
      return conclude(.failed(error))
    }
    guard let head = attempt.head else {
      return conclude(.failed(NuthatchError(.internal, "an answer without a head: \(attempt.hop.url)")))
    }
    if let next = attempt.next { return follow(next, head) }
    admit(head, timings)
  }

  private func follow(_ url: WebURL, _ head: ResponseHead) {
    attempt.hop = attempt.hop.redirected(to: url, status: head.status, travelling: plan.terms.travelling)
    attempt.redirects.append(head)
    enqueue()
  }
}
