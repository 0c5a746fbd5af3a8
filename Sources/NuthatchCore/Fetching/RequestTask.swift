import NuthatchTransport

/// A ticket's way through the pipeline: what is stored, what comes from the network, and which of them are delivered
/// when (docs/HTTP.md has the table).
///
/// Begun on the caller's thread, which looks into the store; from then on confined to the loop's.
final class RequestTask: TicketWork, @unchecked Sendable {
  /// Changes only when the program has added something to the request, on the loop's thread.
  var plan: RequestPlan
  let ticket: Ticket
  let shared: SharedCache
  var runtime: Runtime { shared.runtime }
  var priority: Int { Int(step) }
  /// The fetch that it waits for.
  var joined: Fetch?
  private var found: StoredAnswer?
  /// What it and its program have to say to each other; nil before the first question.
  var talk: Talk?
  let submitted: Int64
  var deadlineTimer: EventLoop.TimerID?
  /// When it began to wait for its turn in the queue, and how long it has waited so in all, where its deadline leaves that out.
  var queuedAt: Int64 = 0
  var waited: Int64 = 0
  /// For how long its host had been paused when that wait began.
  var pausedBefore: Int64 = 0
  /// Whether the deadline has come while it waits.
  var isDeadlineHeld = false
  var isPastDeadline = false
  private var step: Int8
  /// How many redirects had led to the stored answer that has been delivered, while the final event is still to come.
  private var hopsShown: UInt8?
  private var hasShown: Bool { hopsShown != nil }
  private var hasRestarted = false

  init(_ plan: RequestPlan, _ ticket: Ticket, _ shared: SharedCache) {
    self.plan = plan
    self.ticket = ticket
    self.shared = shared
    step = Int8(clamping: plan.priority)
    submitted = shared.runtime.loop.now
  }

  /// Answers from what is stored, if that needs neither network nor decoding; else sets out.
  static func start(
    _ plan: RequestPlan, _ ticket: Ticket, _ shared: SharedCache, _ found: StoredAnswer?
  ) {
    shared.counts.requests.count()
    if plan.asksForHeaders || plan.download != nil { return setOut(plan, ticket, shared, found) }
    let (decision, failure) = shared.decide(found, plan)
    if let failure { return ticket.finish(.failed(failure)) }
    if decision == .hit, let found, let answer = found.immediateAnswer(to: plan, ticket.url, .stored(found)) {
      shared.counts.hits.count()
      return ticket.finish(.answer(.cached, answer, isFinal: true))
    }
    setOut(plan, ticket, shared, found)
  }

  private static func setOut(
    _ plan: RequestPlan, _ ticket: Ticket, _ shared: SharedCache, _ found: StoredAnswer?
  ) {
    let task = RequestTask(plan, ticket, shared)
    guard ticket.begin(task) else { return }
    guard shared.runtime.loop.post({ task.begin(found) }) else {
      return ticket.finish(.failed(shared.runtime.refusal))
    }
  }

  /// Changes its place in the queue. Any thread may call it.
  func setPriority(_ priority: Int) {
    runtime.loop.post {
      self.step = Int8(clamping: priority)
      self.joined?.adoptPriority()
    }
  }

  /// Nanoseconds since it was submitted.
  var elapsed: Int64 { runtime.loop.now &- submitted }

  /// Ends its part in the fetch: its ticket has had its final event. Any thread may call it.
  func abandon() {
    runtime.loop.post {
      self.cancelDeadline()
      self.dropQuestion()
      self.joined?.leave(self)
      self.plan.download?.abandon()
      self.leaveLine()
      self.leaveRecord()
    }
  }
}

// MARK: - On the loop's thread

extension RequestTask {
  private func begin(_ found: StoredAnswer?) {
    guard ticket.isOpen else { return }
    watchDeadline()
    if let download = plan.download { return open(download, found) }
    setOut(found)
  }

  private func setOut(_ found: StoredAnswer?) {
    if plan.asksForHeaders { return askForHeaders() }
    if let freezing = plan.freezing { return beginFreezable(freezing) }
    decide(found)
  }

  private func open(_ download: Download, _ found: StoredAnswer?) {
    download.begin(ticket) { fault in
      guard self.ticket.isOpen else { return download.abandon() }
      if let fault { self.fail(fault) } else { self.setOut(found) }
    }
  }

  /// Asks the server about an answer that was delivered already; for nobody, so that it always ends.
  func revalidate(_ found: StoredAnswer) {
    watchDeadline(orElse: Self.longestRevalidation)
    shared.fetches.join(self, base: found)
  }

  /// What the stored answer is good for.
  func decide(_ found: StoredAnswer?) {
    guard ticket.isOpen else { return }
    self.found = found
    let decision = Decision(found, plan, hasShown: hasShown)
    guard let found else { return fetch() }
    switch decision {
    case .hit, .hitThenRevalidate:
      shared.counts.hits.count()
      if decision == .hitThenRevalidate { shared.revalidateBehind(plan, found) }
      deliver(found, .cached, .stored(found), isFinal: true)
    case .follow(let asksBehind):
      if asksBehind { shared.revalidateBehind(plan, found) }
      follow(found)
    case .showThenAsk: deliver(found, .cached, .stored(found), isFinal: false)
    case .refuse(.tooLarge): failAsTooLarge(found.record.bodyLength)
    // `fetch` fails with the reason where the network is not to be used.
    case .ask, .refuse(.offline), .refuse(.failedBefore): fetch()
    }
  }

  func fetch() {
    guard ticket.isOpen else { return }
    guard !isPastDeadline else { return fail(lateness("not done")) }
    guard plan.mayUseNetwork else { return failOffline() }
    shared.fetches.join(self, base: found)
  }

  /// How the fetch ended.
  func conclude(_ outcome: FetchOutcome) {
    guard ticket.isOpen else { return }
    switch outcome {
    case .answered(let fetched):
      if fetched.head.redirection != nil, plan.isHopByHop { return follow(fetched) }
      if let kind = question(about: fetched) { return ask(kind, about: fetched) }
      deliver(fetched)
    case .unchanged(let renewed):
      // It isn't what was shown, if a redirect has led elsewhere since.
      let isShown = hopsShown.map { Int($0) == plan.hops } ?? true
      deliver(renewed, isShown ? .unchanged : .cached, .revalidated(renewed), isFinal: true)
    case .stored(let other):
      deliver(other, .fresh, .fetchedElsewhere(other), isFinal: true)
    case .failed(let error):
      if freezes(for: error) { return }
      shared.remember(error, status: nil, plan)
      settle(for: error)
    }
  }

  /// Delivers an answer from the network.
  func deliver(_ fetched: FetchedAnswer) {
    guard ticket.isOpen else { return }
    let status = fetched.head.status
    let origin = fetched.origin.behind(plan)
    // Whoever has been shown the stored answer gets no error page in its place.
    if status >= 500 || status == 429, hasShown || found?.freshness.mayServeOnError == true {
      return settle(for: NuthatchError(.http, "HTTP \(status): \(plan.url)", status: status))
    }
    // Whoever came late has not been asked while the bytes were coming.
    guard fetched.body.count <= plan.maxBytes else { return failAsTooLarge(Int64(fetched.body.count)) }
    guard plan.wantsPictures else {
      let response = Response(
        url: ticket.url, head: fetched.head, body: fetched.body, origin: origin, maxPixels: plan.maxPixels)
      return finish(.answer(.fresh, Answer(response: response), isFinal: true))
    }
    guard (200..<300).contains(status) else {
      var error = NuthatchError(
        .http, "HTTP \(status) instead of a picture: \(fetched.origin.finalURL)", status: status)
      error.attempts = fetched.origin.journey.attempts
      shared.remember(error, status: status, plan)
      return fail(error)
    }
    if plan.recipes.allSatisfy({ fetched.pictures[$0] != nil }) {
      return finish(with: fetched.pictures, .fresh, origin)
    }
    // It came after the sizes of the others were made.
    guard let content = fetched.content else {
      return fail(NuthatchError(.internal, "no digest of the body: \(plan.url)"))
    }
    let source = PictureSource(content: content, url: fetched.origin.finalURL, body: fetched.body)
    shared.decodes.pictures(source, plan.recipes, priority: priority, shared.maker(maxPixels: plan.maxPixels))
    {
      self.finish(with: $0, .fresh, origin)
    }
  }

  /// No new answer came: a stored one will do where it may, else the error.
  func settle(for error: NuthatchError) {
    // Whoever has been shown the stored answer is told that there is no other.
    guard !hasShown, let found, found.freshness.mayServeOnError, found.isAnswer(to: plan),
      error.code.isOfTheWay
    else {
      return failOrAnswer(error, found)
    }
    deliver(found, .cached, .stored(found), isFinal: true, orElse: error)
  }

  // MARK: Delivering

  private func deliver(
    _ found: StoredAnswer, _ kind: Event.Kind, _ origin: Provenance, isFinal: Bool,
    orElse error: NuthatchError? = nil
  ) {
    if found.isRedirect { return follow(found) }
    guard found.record.bodyLength <= plan.maxBytes else { return failAsTooLarge(found.record.bodyLength) }
    let origin = origin.behind(plan)
    if let answer = found.immediateAnswer(to: plan, ticket.url, origin) {
      return show(.answer(kind, answer, isFinal: isFinal))
    }
    guard plan.wantsPictures, let source = found.pictureSource(plan) else {
      return startAgain(error ?? NuthatchError(.internal, "the stored answer is gone: \(plan.url)"))
    }
    var maker = shared.maker(maxPixels: plan.maxPixels)
    // Keeping may have to wait for another process.
    maker.keepsThumbs = !isPastDeadline
    shared.decodes.pictures(source, plan.recipes, priority: priority, maker) { pictures in
      guard self.ticket.isOpen else { return }
      let failure = pictures.values.lazy.compactMap { result -> NuthatchError? in
        if case .failure(let error) = result { error } else { nil }
      }.first
      if !isFinal, failure != nil { return self.fetch() }
      // As if it weren't stored.
      if let failure, found.isBroken { return self.startAgain(error ?? failure) }
      self.finish(with: pictures, kind, origin, isFinal: isFinal)
    }
  }

  private func finish(
    with pictures: Decodes.Pictures, _ kind: Event.Kind, _ origin: Provenance, isFinal: Bool = true
  ) {
    guard ticket.isOpen else { return }
    var images: [Image] = []
    for recipe in plan.recipes {
      switch pictures[recipe] {
      case .success(let picture):
        guard picture.pixelsOfSource <= plan.maxPixels else {
          return fail(
            NuthatchError(
              .tooManyPixels,
              "a picture of \(picture.originalWidth)x\(picture.originalHeight), more than max_pixels (\(plan.maxPixels)): \(plan.url)"
            ), about: origin)
        }
        images.append(Image(url: ticket.url, picture, origin))
      case .failure(let error):
        if !origin.isInCache { shared.remember(error, status: nil, plan) }
        return fail(error, about: origin)
      case nil:
        return fail(NuthatchError(.internal, "no picture came out: \(plan.url)"))
      }
    }
    show(.answer(kind, Answer(images: images), isFinal: isFinal))
  }

  private func show(_ event: Event) {
    guard !event.isFinal else { return finish(event) }
    hopsShown = UInt8(clamping: plan.hops)
    ticket.deliver(event)
    fetch()
  }

  /// What was stored a moment ago has been dropped since, or can't be read from the disk.
  private func startAgain(_ error: NuthatchError) {
    guard !hasRestarted, !isPastDeadline else { return fail(error) }
    hasRestarted = true
    found = nil
    fetch()
  }

  private func failOffline() {
    failOrAnswer(
      NuthatchError(
        .offline, "nothing that holds is in the cache, and the network is not to be used: \(plan.url)"),
      found)
  }

  /// Under `rfc9111` some failures are answers.
  private func failOrAnswer(_ error: NuthatchError, _ found: StoredAnswer?) {
    guard !hasShown, let answer = Answer.insteadOf(error, plan, found, ticket.url) else { return fail(error) }
    finish(.answer(.fresh, answer, isFinal: true))
  }

  private func failAsTooLarge(_ bytes: Int64) {
    let error = NuthatchError(
      .tooLarge, "a body of \(bytes) bytes, more than max_bytes (\(plan.maxBytes)): \(plan.url)")
    shared.remember(error, status: nil, plan)
    fail(error)
  }

  func fail(_ error: NuthatchError) { finish(.failed(error)) }

  /// Fails because of what an answer is.
  private func fail(_ error: NuthatchError, about origin: Provenance) {
    var error = error
    error.attempts = origin.journey.attempts
    error.bodyBytes = origin.bodyBytes
    error.isInCache = origin.isInCache
    fail(error)
  }

  private func finish(_ event: Event) {
    cancelDeadline()
    if !event.isOwnEnd { plan.freezing?.isAnswered = true }
    guard let download = plan.download else { return ticket.finish(event) }
    watchSaving(event, download)
    let ticket = ticket
    download.settle(event) { ticket.finish($0) }
  }
}
