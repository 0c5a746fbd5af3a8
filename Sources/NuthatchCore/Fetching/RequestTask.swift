import NuthatchTransport

/// Handles one ticket: looks in the store, starts or joins a fetch, and delivers the answers that `Request.delivery` asks for
/// (table in docs/HTTP.md).
///
/// Begun on the caller's thread, which looks in the store; afterwards confined to the loop's thread, hence Sendable.
final class RequestTask: TicketWork, @unchecked Sendable {
  /// Changes when the program has added something to the request, and with each redirect that the task itself follows.
  private(set) var plan: RequestPlan
  let ticket: Ticket
  let shared: SharedCache
  var runtime: Runtime { shared.runtime }
  var priority: Int { Int(ownPriority) }
  /// The fetch that it waits for.
  var joined: Fetch?
  private var found: StoredAnswer?
  private var deadline: Deadline
  /// The questions to its program. Nil before the first one.
  private var questions: Questions?
  /// Puts the request into the outbox if needed. Nil if it isn't freezable.
  private var freezer: Freezer?
  private var ownPriority: Int8
  /// The number of redirects before the stored answer that was delivered, while the final event is still to come.
  private var hopsShown: UInt8?
  private var hasShown: Bool { hopsShown != nil }
  private var hasRestarted = false

  init(_ plan: RequestPlan, _ ticket: Ticket, _ shared: SharedCache) {
    self.plan = plan
    self.ticket = ticket
    self.shared = shared
    ownPriority = Int8(clamping: plan.priority)
    deadline = Deadline(plan, now: shared.runtime.loop.now)
  }

  /// Answers a hit that needs no decoding, or fails with a remembered failure. All else is decided on the loop's thread, which
  /// can show a stale answer and then fetch a fresh one.
  static func start(
    _ plan: RequestPlan, _ ticket: Ticket, _ shared: SharedCache, _ found: StoredAnswer?
  ) {
    shared.counts.requests.count()
    if plan.asksForHeaders || plan.download != nil { return post(plan, ticket, shared, found) }
    let (decision, remembered) = shared.decide(found, plan)
    if let remembered { return ticket.finish(.failed(remembered)) }
    if decision == .hit, let found,
      let answer = found.immediateAnswer(to: plan, ticket.url, .fromStore(found))
    {
      shared.counts.hits.count()
      return ticket.finish(.answer(.cached, answer, isFinal: true))
    }
    post(plan, ticket, shared, found)
  }

  private static func post(
    _ plan: RequestPlan, _ ticket: Ticket, _ shared: SharedCache, _ found: StoredAnswer?
  ) {
    let task = RequestTask(plan, ticket, shared)
    guard ticket.begin(task) else { return }
    guard shared.runtime.loop.post({ task.begin(found) }) else {
      return ticket.finish(.failed(shared.runtime.whyNoJob))
    }
  }

  /// Changes the priority in the queue. Any thread may call it.
  func setPriority(_ priority: Int) {
    runtime.loop.post {
      self.ownPriority = Int8(clamping: priority)
      self.joined?.adoptPriority()
    }
  }

  /// Leaves the fetch after the ticket's final event. Any thread may call it.
  func abandon() {
    runtime.loop.post {
      self.deadline.stop(self.runtime.loop)
      self.questions?.drop()
      self.joined?.leave(self)
      self.plan.download?.abandon()
      self.freezer?.abandon()
    }
  }
}

// MARK: - On the loop's thread

extension RequestTask {
  private func begin(_ found: StoredAnswer?) {
    guard ticket.isOpen else { return }
    deadline.start(self)
    freezer = Freezer(plan, ticket, shared.outbox, submitted: deadline.submitted)
    guard let download = plan.download else { return askThenDecide(found) }
    download.begin(ticket) { fault in
      guard self.ticket.isOpen else { return download.abandon() }
      if let fault { self.fail(fault) } else { self.askThenDecide(found) }
    }
  }

  private func askThenDecide(_ found: StoredAnswer?) {
    if let command = plan.awaited { return asking.signIn(with: command, plan) { self.goOn($0) } }
    if plan.asksForHeaders { return asking.askForHeaders(plan) { self.goOn($0) } }
    guard let freezer else { return decide(found) }
    freezer.begin(plan) { self.decide(found) }
  }

  private var asking: Questions {
    if let questions { return questions }
    let new = Questions(ticket, shared)
    questions = new
    return new
  }

  /// Continues after a question.
  private func goOn(_ next: Questions.Next) {
    switch next {
    case .read(let plan): read(plan) { self.askThenDecide($0) }
    case .answer(let fetched): answer(with: fetched)
    case .fetch: fetch()
    case .fail(let error): fail(error)
    }
  }

  /// Reads the store again: for a request that the program has changed, for the target of a redirect, or to check a long body.
  ///
  /// - Parameter store: runs first, on the worker's thread.
  private func read(
    _ plan: RequestPlan, after store: (@Sendable () -> Bool)? = nil,
    then: @escaping @Sendable (StoredAnswer?) -> Void
  ) {
    self.plan = plan
    let isSubmitted = runtime.workers.submit(priority: priority) {
      _ = store?()
      let found = self.shared.reader.readAdmitted(plan)
      let remembered = self.shared.decide(found, plan).remembered
      self.runtime.loop.post { if let remembered { self.fail(remembered) } else { then(found) } }
    }
    if !isSubmitted { fail(runtime.workers.whyNoJob) }
  }

  /// Follows a redirect that is an answer of its own. Its target is looked up and fetched like any other URL.
  private func follow(
    after store: (@Sendable () -> Bool)? = nil, _ next: () throws(NuthatchError) -> RequestPlan
  ) {
    do throws(NuthatchError) {
      read(try next(), after: store) { self.decide($0) }
    } catch {
      fail(error)
    }
  }

  /// Acts on the decision about the stored answer. `start` or `read` has already checked for remembered failures.
  private func decide(_ found: StoredAnswer?) {
    guard ticket.isOpen else { return }
    self.found = found
    let decision = Decision(found, plan, hasShown: hasShown)
    guard let found else { return fetch() }
    switch decision {
    case .hit, .hitAndRevalidate:
      shared.counts.hits.count()
      if decision == .hitAndRevalidate { shared.revalidations.start(plan, found, shared) }
      answer(with: found, .cached, .fromStore(found), isFinal: true)
    case .follow(let revalidates):
      if revalidates { shared.revalidations.start(plan, found, shared) }
      follow { () throws(NuthatchError) in try plan.following(found) }
    // Not final: `give` then asks the server.
    case .showThenFetch: answer(with: found, .cached, .fromStore(found), isFinal: false)
    case .checkFirst: read(plan) { self.decide($0) }
    // `start` or `read` has ended a request whose failure is remembered, so this case doesn't occur.
    case .fetch, .refuse(.failedBefore): fetch()
    case .refuse(.offline): failOffline()
    case .refuse: failBeyondLimit(found, .fromStore(found))
    }
  }

  private func fetch() {
    guard ticket.isOpen else { return }
    guard !deadline.hasPassed else { return fail(deadline.error(plan, "not done")) }
    // Check it here, because `fetch` is also called after a stored answer was shown, or was found to be gone.
    guard plan.mayUseNetwork else { return failOffline() }
    // If the stored answer is gone or can't be read, don't ask the server to confirm it. If it is found again, it isn't news.
    shared.fetches.join(self, base: hasRestarted ? nil : found, known: found?.record.number)
  }

  private func answer(with fetched: FetchedAnswer) {
    guard ticket.isOpen else { return }
    let status = fetched.head.status
    let provenance = fetched.provenance.answering(plan)
    // If a stored answer was shown or can be used, a server's error page doesn't replace it.
    if status >= 500 || status == 429, hasShown || standIn != nil {
      return settle(for: NuthatchError(.http, "HTTP \(status): \(plan.url)", status: status))
    }
    // A request that joined late was not checked against `maxBytes` while the body arrived.
    guard fetched.body.count <= plan.maxBytes else { return failAsTooLarge(Int64(fetched.body.count)) }
    guard plan.wantsPictures else {
      let response = Response(
        url: ticket.url, head: fetched.head, body: fetched.body, provenance, limits: plan.limits)
      return finish(.answer(Event.Kind.fresh, Answer(response: response), isFinal: true))
    }
    if let error = fetched.noPicture {
      shared.remember(error, status: status, plan)
      return fail(error)
    }
    // If the request joined after the sizes were chosen, its own sizes are still missing.
    guard let source = fetched.pictureSource(plan) else {
      return assemble(fetched.pictures, .fresh, provenance)
    }
    let maker = shared.maker(plan.limits)
    shared.decodes.pictures(source, plan.recipes, priority: priority, maker) {
      self.assemble($0, .fresh, provenance)
    }
  }

  /// The stored answer, if it may be given when no new answer can be had.
  private var standIn: StoredAnswer? {
    guard let found, found.mayStandIn, !hasRestarted, found.isAnswer(to: plan),
      found.exceededLimit(of: plan) == nil
    else { return nil }
    return found
  }

  /// Handles a failed fetch: gives the stored answer if that is permitted, otherwise the error.
  private func settle(for error: NuthatchError) {
    // If the caller already has the stale answer, report the error; don't deliver that answer again.
    guard !hasShown, let standIn, error.code.meansServerUnavailable else { return failOrAnswer(error, found) }
    // A worker is reading it already (`checkFirst`); `decide` goes on after that.
    if standIn.isUnchecked { return }
    answer(with: standIn, .cached, .fromStore(standIn), isFinal: true, orElse: error)
  }

  // MARK: The answer

  private func answer(
    with found: StoredAnswer, _ kind: Event.Kind, _ provenance: Provenance, isFinal: Bool,
    orElse error: NuthatchError? = nil
  ) {
    if plan.followsRedirect(in: found) {
      return follow { () throws(NuthatchError) in try plan.following(found) }
    }
    guard found.exceededLimit(of: plan) == nil else { return failBeyondLimit(found, provenance) }
    let provenance = provenance.answering(plan)
    if let answer = found.immediateAnswer(to: plan, ticket.url, provenance) {
      return give(.answer(kind, answer, isFinal: isFinal))
    }
    guard plan.wantsPictures, let source = found.pictureSource(plan) else {
      return startAgain(error ?? NuthatchError(.internal, "the stored answer is gone: \(plan.url)"))
    }
    var maker = shared.maker(plan.limits)
    // After the deadline don't store thumbnails: that may have to wait for another process.
    maker.keepsThumbs = !deadline.hasPassed
    shared.decodes.pictures(source, plan.recipes, priority: priority, maker) { pictures in
      guard self.ticket.isOpen else { return }
      let failure = pictures.values.lazy.compactMap { result -> NuthatchError? in
        if case .failure(let error) = result { error } else { nil }
      }.first
      if !isFinal, failure != nil { return self.fetch() }
      // Treat the answer as not stored.
      if let failure, found.isBroken || failure.code == .internal { return self.startAgain(error ?? failure) }
      self.assemble(pictures, kind, provenance, isFinal: isFinal)
    }
  }

  private func assemble(
    _ pictures: PendingDecodes.Pictures, _ kind: Event.Kind, _ provenance: Provenance, isFinal: Bool = true
  ) {
    guard ticket.isOpen else { return }
    var images: [Image] = []
    for recipe in plan.recipes {
      switch pictures[recipe] {
      case .success(let picture):
        if let refusal = plan.limits.refusal(of: picture.originalSize) {
          return fail(NuthatchError(refusal, url: "\(plan.url)"), about: provenance)
        }
        images.append(Image(url: ticket.url, picture, provenance))
      case .failure(let error):
        if !provenance.isInCache { shared.remember(error, status: nil, plan) }
        return fail(error, about: provenance)
      case nil:
        return fail(NuthatchError(.internal, "the decoder returned no picture: \(plan.url)"))
      }
    }
    give(.answer(kind, Answer(images: images), isFinal: isFinal))
  }

  /// Delivers an answer. If it isn't final, asks the server next.
  private func give(_ event: Event) {
    guard !event.isFinal else { return finish(event) }
    hopsShown = UInt8(clamping: plan.hops)
    ticket.deliver(event)
    fetch()
  }

  /// Fetches, because the stored answer was dropped meanwhile or can't be read from the disk.
  private func startAgain(_ error: NuthatchError) {
    guard !hasRestarted, !deadline.hasPassed else { return fail(error) }
    hasRestarted = true
    fetch()
  }

  private func failOffline() {
    failOrAnswer(
      NuthatchError(
        .offline,
        "the cache has no usable answer, and the network is off (policy offline, or only-if-cached): \(plan.url)"
      ),
      found)
  }

  /// Under `rfc9111`, some failures become answers.
  private func failOrAnswer(_ error: NuthatchError, _ found: StoredAnswer?) {
    guard !hasShown, let answer = Answer.insteadOf(error, plan, found, ticket.url) else { return fail(error) }
    finish(.answer(Event.Kind.fresh, answer, isFinal: true))
  }

  /// Fails because the stored answer has more bytes or pixels than the request allows.
  private func failBeyondLimit(_ found: StoredAnswer, _ provenance: Provenance) {
    let refusal = found.thumbnails.originalSize.flatMap { plan.limits.refusal(of: $0) }
    guard found.record.bodyLength <= plan.maxBytes, let refusal else {
      return failAsTooLarge(found.record.bodyLength)
    }
    fail(NuthatchError(refusal, url: "\(plan.url)"), about: provenance.addingRedirects(of: plan))
  }

  private func failAsTooLarge(_ bytes: Int64) {
    let error = NuthatchError(
      .tooLarge, "the body has \(bytes) bytes, more than max_bytes (\(plan.maxBytes)): \(plan.url)")
    shared.remember(error, status: nil, plan)
    fail(error)
  }

  private func fail(_ error: NuthatchError) { finish(.failed(error)) }

  /// Fails because of an answer, whose facts are added to the error.
  private func fail(_ error: NuthatchError, about provenance: Provenance) {
    var error = error
    error.attempts = provenance.journey.attempts
    error.bodyBytes = provenance.bodyBytes
    error.kept = provenance.isInCache ? .before : provenance.isStored ? .now : .nothing
    fail(error)
  }

  private func finish(_ event: Event) {
    deadline.stop(runtime.loop)
    if !event.isOwnEnd { freezer?.noteAnswer() }
    guard let download = plan.download else { return ticket.finish(event) }
    let ticket = ticket
    deadline.startSaving(runtime.loop) {
      download.abandon()
      ticket.finish(event.error == nil ? .failed(self.deadline.error(self.plan, "not saved")) : event)
    }
    download.settle(event) { ticket.finish($0) }
  }

  // MARK: Its deadline

  func deadlineHasPassed() {
    guard !deadline.postponeIfQueued(self), questions?.passAtDeadline() != true,
      freezer?.storeAtDeadline() != true
    else {
      return
    }
    let error = deadline.error(self)
    joined?.leave(self)
    if freezer?.freezeIfUnreachable(plan, after: error) == true { return }
    // The pictures of a stored answer may have to be made first.
    deadline.pass(runtime.loop) {
      self.joined?.leave(self)
      self.fail(error)
    }
    settle(for: error)
  }
}

// MARK: - As a fetch's waiter

extension RequestTask: FetchWaiter {
  /// Handles the end of the fetch.
  func conclude(_ outcome: FetchOutcome) {
    guard ticket.isOpen else { return }
    switch outcome {
    case .answered(let fetched):
      if plan.followsRedirect(in: fetched.head), plan.isHopByHop {
        // The program doesn't judge redirects, so they are stored in any case.
        return follow(after: fetched.store) { () throws(NuthatchError) in
          try plan.following(fetched.head, sentByPublic: fetched.isFromPublic)
        }
      }
      guard plan.questionContext != nil else { return answer(with: fetched) }
      asking.ask(about: fetched, plan, until: deadline.due) { self.goOn($0) }
    case .unchanged(let renewed):
      // If a redirect has led elsewhere since, this isn't the answer that was shown.
      let isShown = hopsShown.map { Int($0) == plan.hops } ?? true
      answer(with: renewed, isShown ? .unchanged : .cached, .revalidated(renewed), isFinal: true)
    case .fetchedElsewhere(let other):
      answer(with: other, Event.Kind.fresh, .fetchedElsewhere(other), isFinal: true)
    case .failed(let error):
      if freezer?.freezeIfUnreachable(plan, after: error) == true { return }
      shared.remember(error, status: nil, plan)
      settle(for: error)
    }
  }

  var remaining: Int64? { deadline.due.map { $0 &- runtime.loop.now } }

  var waitsSince: Int64 { deadline.queuedAt }

  func noteQueued() { deadline.noteQueued(self) }

  func noteTurn() { deadline.noteTurn(self) }

  func noteBegin() { ticket.run() }

  func report(_ bytes: Int64, of total: Int64?, isUpload: Bool) {
    ticket.report(bytes, of: total, isUpload: isUpload)
  }

  func putOff(after attempts: Int) { ticket.finish(.cancelled(after: attempts)) }
}

extension RequestPlan {
  /// Returns the request for the target of a stored redirect.
  func following(_ stored: StoredAnswer) throws(NuthatchError) -> RequestPlan {
    try following(
      stored.record.head, sentByPublic: stored.record.reach.countsAsPublic,
      isStale: stored.freshness.isStale)
  }
}
