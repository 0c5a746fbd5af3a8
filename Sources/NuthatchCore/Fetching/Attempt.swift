import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// One attempt's way over the network: the hops so far, what is under way, and what the last hop has brought. Confined to the
/// loop's thread, hence Sendable.
final class Attempt: @unchecked Sendable {
  /// Nil while nothing is under way: what still comes of a transfer that was given up counts for nothing.
  private var current: (fetch: Fetch, entry: QueueEntry, transfer: UInt64)?
  private let plan: RequestPlan
  private let shared: SharedCache
  private var runtime: Runtime { shared.runtime }

  /// What is sent now.
  private(set) var hop: TransferRequest
  /// The heads of the redirects that were followed.
  private(set) var redirects: [ResponseHead] = []
  /// The 1xx answers before the head; the transport limits how much all heads together may have.
  private var interim: [ResponseHead] = []
  private(set) var head: ResponseHead?
  /// Where a redirect leads.
  private(set) var next: WebURL?
  private(set) var body = IncomingBody()
  /// Bytes of a body that isn't wanted: of a redirect, or of an error page where pictures are wanted.
  private var skipped = 0
  private(set) var skipsBody = false
  /// Whether the body is kept here, or only saved.
  private(set) var isKept = true
  /// Whether the server is to be asked once more, at once.
  private(set) var isToBeRepeated = false
  private var picture: PictureWatch?
  /// Whether the transfer was ended because all waiters have what they want: another one can have nothing of it.
  private var isClosed = false
  /// Bytes of the request's body that were sent.
  private var sent: Int64 = 0
  /// What the server was asked about; nil when it was asked for a whole answer.
  private(set) var base: StoredAnswer?
  /// Why the transfer was stopped by us.
  private(set) var stopReason: NuthatchError?
  /// Why no picture can be made of it, where the first bytes said so.
  private(set) var undecodable: ImageFault?
  /// The farthest from public that any hop's address was (`AnswerRecord.reach`).
  private var reach = AddressReach.open
  /// Seconds since 1970 at which the request was sent and the head came, for the age of the answer.
  private var requestTime: Int64 = 0
  private var responseTime: Int64 = 0
  private var silence = SilenceWatch()
  /// When the first hop was sent, in the store's terms: what is removed after it isn't stored. Nil when nothing can be stored.
  var began: Moment?
  /// Of all attempts together.
  var retries = Retries()
  private(set) var journey = Journey()

  /// An unwanted body is read up to here, because that keeps the connection; a longer one costs more than it.
  private static let longestSkip = 65_536

  init(_ plan: RequestPlan, _ shared: SharedCache) {
    (self.plan, self.shared) = (plan, shared)
    hop = plan.first
  }

  /// Begins anew at the first hop.
  func beginAgain() {
    hop = plan.first
    redirects = []
    reach = .open
    clear()
  }

  /// Goes on with what a redirect leads to.
  func follow(_ url: WebURL, _ head: ResponseHead) {
    hop = hop.redirected(to: url, status: head.status, travelling: plan.travelling)
    redirects.append(head)
  }

  /// Forgets what the last hop brought.
  private func clear() {
    (interim, head, next) = ([], nil, nil)
    body = IncomingBody()
    (sent, skipped, skipsBody, isKept) = (0, 0, false, true)
    (isToBeRepeated, isClosed) = (false, false)
    (base, picture, stopReason, undecodable) = (nil, nil, nil, nil)
  }

  /// Whether what it brings is what a request wants that comes now.
  func mayBeJoined(by plan: RequestPlan) -> Bool {
    // An error page is passed over, because all waiters wanted pictures when it came.
    if skipsBody, head.map(self.plan.isLedOn(by:)) != true, !plan.wantsPictures { return false }
    // What it will bring may have been removed meanwhile.
    return !isClosed && began.map { shared.store.isCurrent($0) } ?? true
  }

  /// What the first bytes say of the picture; nil where nobody has looked at them.
  var verdict: ImageProbe.Answer? { picture?.verdict }

  /// Thumbnails that were made before the body had come whole.
  var made: [Recipe: Picture] { picture?.made ?? [:] }

  /// How many seconds the host wants to be left alone, in nanoseconds.
  var retryAfter: Int64? { head.flatMap { $0.retryAfter(now: responseTime) }.map { $0 * 1_000_000_000 } }
}

// MARK: - What is sent

extension Attempt {
  /// Sends the current hop's request.
  ///
  /// - Parameter base: what the server is asked about, if it is this hop's.
  func send(for fetch: Fetch, _ entry: QueueEntry, waited: Int64, about base: StoredAnswer?) {
    clear()
    shared.counts.transfers.count()
    journey.attempts = retries.number
    journey.queued += max(0, waited) / 1000
    requestTime = shared.clock.seconds
    silence.begin(fetch.waiters)
    if hop.extras?.trust == .unchecked { Log.noteUnchecked(hop.url) }
    let transfer = shared.transport.start(request(about: base), sink: self)
    current = (fetch, entry, transfer)
    plan.download?.whenFree = { [weak self] in self?.goOn(with: transfer) }
  }

  private func request(about base: StoredAnswer?) -> TransferRequest {
    var request = hop
    request.adopt(plan, isFirstHop: redirects.isEmpty)
    request.silence = silence.longest
    plan.download?.prepare(&request)
    if plan.download?.isResuming != true, let base, isAt(base.record) {
      for field in StorageRules.conditionalFields(base.record.head) {
        request.headers.append(field.name, field.value)
        self.base = base
      }
    }
    return request
  }

  /// Whether this hop is the one whose answer is stored: only its server can say whether that still holds. Without redirects
  /// it is, whatever the URL: a caller's key may stand for several.
  private func isAt(_ record: AnswerRecord) -> Bool {
    redirects.count == record.redirects && (redirects.isEmpty || hop.url.address == record.finalURL)
  }

  /// There is room again for what comes, or there can't be.
  private func goOn(with transfer: UInt64) {
    guard current?.transfer == transfer else { return }
    if plan.download != nil, body.failure != nil { stopKeeping() }
    guard let failure = plan.download?.failure ?? body.failure else {
      return shared.transport.resume(transfer)
    }
    let timings = shared.transport.timings(of: transfer) ?? TransferTimings()
    shared.transport.cancel(transfer)
    stopReason = failure
    finished(TransportFault(.stopped, "stopped"), timings)
  }

  /// What is saved isn't kept, too.
  private func stopKeeping() {
    // Its file may have held the transfer up, and is not listened to any more when it has caught up.
    if body.isFiled, let transfer = current?.transfer {
      runtime.loop.post { [weak self] in self?.goOn(with: transfer) }
    }
    isKept = false
    body = IncomingBody()
  }

  /// Gives up what is under way.
  func cancel() {
    if let current { shared.transport.cancel(current.transfer) }
    current = nil
  }

  /// Judges the silence of what is under way (`SilenceWatch.judge`).
  func judgeSilence(_ waiters: [any FetchWaiter]) -> (late: [any FetchWaiter], next: Int64?) {
    guard let current else { return ([], nil) }
    return silence.judge(waiters, of: current.transfer, shared.transport, now: runtime.loop.now)
  }

  /// When something came last; while nothing is under way, now.
  var lastSign: Int64 {
    current.flatMap { shared.transport.lastSign(of: $0.transfer) } ?? runtime.loop.now
  }
}

// MARK: - What arrives

extension Attempt: TransferSink {
  func waitsForName() {
    if let current { runtime.queue.waitsForName(current.entry, now: runtime.loop.now) }
  }

  func mayConnect() -> Bool {
    guard let current, !runtime.queue.nameIsKnown(current.entry, now: runtime.loop.now) else { return true }
    // Its turn comes again, and its name is known then.
    shared.counts.transfers.count(-1)
    self.current = nil
    current.fetch.waitAgain(current.entry)
    return false
  }

  func interim(_ head: ResponseHead) { interim.append(head) }

  func sent(_ bytes: Int64) {
    guard let current else { return }
    // Of a body that is sent again it begins anew.
    noteMoved(Int(clamping: bytes < sent ? bytes : bytes - sent))
    sent = bytes
    current.fetch.waiters.report(bytes, of: hop.bodyCount, isUpload: true)
  }

  private func noteMoved(_ bytes: Int) {
    if let current { runtime.queue.moved(current.entry, bytes, now: runtime.loop.now) }
  }

  func head(_ head: ResponseHead) -> TransferVerdict {
    guard let (fetch, _, transfer) = current else { return .stop }
    self.head = head
    responseTime = shared.clock.seconds
    noteAnswer(head)
    plan.cookies?.take(head, from: hop.url)
    runtime.reachability.note(hop.url.origin, isReachable: true)
    if plan.isLedOn(by: head) {
      if !plan.isHopByHop { return judgeRedirect(head) }
      skipsBody = true
      return .goOn
    }
    if hop.cannotAnswer(head) {
      let what = "the server takes Digest only with a proof of the body (qop=auth-int), which isn't supported"
      return stop(NuthatchError(.http, "HTTP 401: \(what): \(hop.url)", status: head.status))
    }
    if let download = plan.download, let verdict = take(head, download) { return verdict }
    guard head.mayHaveBody(method: hop.method) else { return .goOn }
    let announced = (try? head.contentLength()) ?? 0  // the transport has refused a malformed one already
    // Pictures come with success only: a request for nothing else needs no error page.
    skipsBody = !(200..<300).contains(head.status) && fetch.waiters.wantPictures
    if skipsBody { return announced > Self.longestSkip ? .stop : .goOn }
    // What announces too much is stopped before the first byte.
    guard mayCome(announced, isAnnounced: true) else { return .stop }
    if fetch.waiters.contains(where: \.plan.wantsPictures) { picture = PictureWatch(announced: announced) }
    body = IncomingBody(runtime, else: shared.path, hop.url) { [weak self] in self?.goOn(with: transfer) }
    body.buffer.reserve(announced: announced)
    return .goOn
  }

  /// Tells the queue what the head says about its host.
  private func noteAnswer(_ head: ResponseHead) {
    guard let (_, entry, transfer) = current else { return }
    let (queue, origin, now) = (runtime.queue, hop.url.origin, runtime.loop.now)
    // An upload's time says how much was sent, and not how busy the way is.
    let timings = hop.hasBody ? nil : shared.transport.timings(of: transfer)
    let isOverloaded = head.status == 429 || head.status == 503
    let overload = isOverloaded ? Overload(status: head.status, previous: retries.overloadedAt) : nil
    queue.answered(entry, firstByte: timings.map(\.wait), overload: overload, now: now)
    if timings?.connection.version == .http2 { queue.noteProtocol(origin, isHTTP2: true, now: now) }
    if isOverloaded, let retryAfter {
      queue.pause(origin, until: now &+ retryAfter, status: head.status, now: now)
    }
  }

  /// Nil when its body is to come like any other.
  private func take(_ head: ResponseHead, _ download: Download) -> TransferVerdict? {
    switch download.take(head) {
    case .goOn:
      self.head = download.presented(head)
      let announced = (try? head.contentLength()) ?? 0
      isKept = announced <= download.keptBytes && !download.isResuming
      return nil
    case .again:
      (isToBeRepeated, skipsBody) = (true, true)
      return .goOn
    case .stop(let error): return stop(error)
    }
  }

  private func judgeRedirect(_ head: ResponseHead) -> TransferVerdict {
    guard redirects.count < plan.redirects else { return stop(plan.tooManyRedirects(from: hop.url)) }
    do { next = try RequestPlan.target(of: head, from: hop.url) } catch { return stop(error) }
    return .goOn
  }

  private func stop(_ error: NuthatchError) -> TransferVerdict {
    stopReason = error
    return .stop
  }

  /// Sends the waiters away for which so many bytes are too many. False when none is left.
  private func mayCome(_ count: Int64, isAnnounced: Bool = false) -> Bool {
    guard let fetch = current?.fetch else { return false }
    for waiter in fetch.waiters where count > waiter.plan.maxBytes {
      let begin = isAnnounced ? "\(count) bytes announced, more than" : "the body goes on, beyond"
      fetch.leaveAlone(waiter, .tooLarge, "\(begin) max_bytes (\(waiter.plan.maxBytes))")
    }
    return !fetch.waiters.isEmpty
  }

  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict {
    guard let fetch = current?.fetch else { return .stop }
    noteMoved(bytes.count)
    if next != nil || skipsBody {
      skipped += bytes.count
      return skipped <= Self.longestSkip ? .goOn : .stop
    }
    if let download = plan.download, let verdict = save(bytes, download, fetch) { return verdict }
    let count = Int64(body.count) + Int64(bytes.count)
    guard mayCome(count) else { return .stop }
    do throws(NuthatchError) { try body.append(bytes) } catch { return stop(error) }
    if let picture, let head {
      do throws(ImageFault) {
        try picture.take(bytes, of: body, head, for: fetch) { self.stopEarly(picture) }
      } catch {
        (undecodable, isClosed) = (error, true)
        return stop(NuthatchError(error, url: hop.url.description))
      }
      guard !fetch.waiters.isEmpty else { return .stop }
    }
    fetch.waiters.report(count, of: (try? head?.contentLength()) ?? nil)
    return body.isFull ? .hold : .goOn
  }

  /// What is saved is kept, too, while it isn't too large for that. Nil where nothing is saved.
  private func save(
    _ bytes: UnsafeRawBufferPointer, _ download: Download, _ fetch: Fetch
  ) -> TransferVerdict? {
    guard let status = head?.status, (200..<300).contains(status) else { return nil }
    guard mayCome(download.count + Int64(bytes.count)) else { return .stop }
    if Int64(body.count) + Int64(bytes.count) > download.keptBytes { stopKeeping() }
    do throws(NuthatchError) {
      let mayGoOn = try download.write(bytes)
      if isKept, (try? body.append(bytes)) == nil { stopKeeping() }
      fetch.waiters.report(download.count, of: download.total)
      return mayGoOn && !body.isFull ? .goOn : .hold
    } catch {
      return stop(error)
    }
  }
}

// MARK: - How it ends

extension Attempt {
  /// The pictures are done that all waiters want.
  private func stopEarly(_ picture: PictureWatch) {
    guard self.picture === picture, let (fetch, entry, transfer) = current, let head,
      let timings = shared.transport.timings(of: transfer), picture.isEnough(for: fetch, after: body)
    else { return }
    cancel()
    isClosed = true
    shared.counts.bytes.count(body.count)
    shared.counts.stopped.count()
    noteConnection(timings.connection)
    let admission = PartialAdmission(
      arrival: received(head, timings), announced: picture.announced, pictures: picture.made)
    body = IncomingBody()
    fetch.stoppedEarly(entry, admission)
  }

  func finished(_ fault: TransportFault?, _ timings: TransferTimings) {
    guard let (fetch, entry, transfer) = current else { return }
    guard body.isSettled || stopReason != nil else {
      return body.settle { if self.current?.transfer == transfer { self.finished(fault, timings) } }
    }
    current = nil
    if let failure = body.failure {
      if plan.download == nil { stopReason = stopReason ?? failure } else { stopKeeping() }
    }
    shared.counts.bytes.count(body.count)
    if body.isFiled { shared.counts.filed.count() }
    noteConnection(timings.connection)
    let ending = AttemptResult(self, fault, timings)
    if case .unreachable = ending.outcome {
      runtime.reachability.note(hop.url.origin, isReachable: false)
    }
    fetch.attemptEnded(entry, ending)
  }

  /// Notes where a hop was connected to. A private address that a public origin sent us to counts as the farthest.
  private func noteConnection(_ facts: ConnectionFacts) {
    let isBehindPublic = hop.isSentByPublic && !facts.reach.countsAsPublic
    reach = max(reach, isBehindPublic ? .link : facts.reach)
    if facts.reach.countsAsPublic { hop.isSentByPublic = true }
  }

  func received(_ head: ResponseHead, _ timings: TransferTimings) -> ReceivedAnswer {
    let provenance = Provenance(
      finalURL: hop.url.address, source: .network, isInCache: false, isStored: false,
      isTruncated: timings.isCutOff, timings: Response.Timings(timings), redirects: redirects.count,
      interim: interim, head: head, bodyBytes: Int64(body.count), journey: journey)
    return ReceivedAnswer(
      shared: shared, plan: plan, began: began, head: head, redirects: redirects, requestTime: requestTime,
      responseTime: responseTime, reach: reach, isFromPublic: hop.isSentByPublic, provenance: provenance)
  }

  /// What this attempt is to waiters for which it is the last; what is to be tried again is never stored.
  func outcomeForNow(_ ending: AttemptResult) -> FetchOutcome? {
    if let fault = ending.fault { return .failed(NuthatchError(fault, url: hop.url)) }
    guard let head else { return nil }
    body.buffer.arrive()
    let (answer, body) = (received(head, ending.timings), SharedBytes(body.buffer))
    return .answered(
      FetchedAnswer(head: head, body: body, content: nil, pictures: [:], provenance: answer.provenance))
  }

  /// Lets go of the body, which isn't needed any more.
  func dropBody() { body = IncomingBody() }
}

extension TransferTimings {
  /// Nanoseconds from the request's being sent to the first byte of its answer.
  fileprivate var wait: Int64 { max(0, firstByte - max(connect, tls)) * 1000 }
}

extension TransferRequest {
  /// Takes over what holds for all hops of a request.
  fileprivate mutating func adopt(_ plan: RequestPlan, isFirstHop: Bool) {
    addressGuard = plan.guardGrade.addressGuard
    passesUnknownCodings = plan.policy == .rfc9111
    acceptsCompressed = !plan.wantsPictures && !plan.headers.contains("Accept-Encoding")
    // The first hop sends what its answer is kept by.
    let cookie = isFirstHop ? plan.cookie : plan.cookies?.knownHeader(for: url)
    if plan.cookies != nil, let cookie { headers.append("Cookie", cookie) }
  }
}
