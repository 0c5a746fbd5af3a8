import NuthatchImaging
import NuthatchStore
import NuthatchTransport

/// The present attempt of a fetch over the network: its hops so far, the transfer under way, and the answer of the last hop.
/// The next attempt uses the same object (`beginAgain`). Confined to the loop's thread, hence Sendable.
final class FetchAttempt: @unchecked Sendable {
  /// Nil while no transfer is under way. Later callbacks of a cancelled transfer are ignored.
  private var current: (fetch: Fetch, entry: QueueEntry, transfer: UInt64)?
  private let plan: RequestPlan
  private let shared: SharedCache
  private var runtime: Runtime { shared.runtime }

  /// The request that is sent now.
  private(set) var hop: TransferRequest
  /// The heads of the redirects that were followed.
  private(set) var redirects: [ResponseHead] = []
  /// The 1xx answers before the head. The transport limits the size of all heads together.
  private var interim: [ResponseHead] = []
  private(set) var head: ResponseHead?
  /// The target of a redirect.
  private(set) var next: WebURL?
  private(set) var body = IncomingBody()
  /// The bytes of an unwanted body: of a redirect, or of an error page if pictures are wanted.
  private var skipped = 0
  private(set) var skipsBody = false
  /// Whether the body is kept in `body`. Otherwise it is only saved to a file.
  private(set) var keepsBody = true
  /// Whether the server must be asked once more, at once.
  private(set) var isToBeRepeated = false
  private var picture: PictureWatch?
  /// Whether the transfer was ended because no waiter needs more: the pictures are done, or none can be made. Then no other
  /// waiter can join.
  private var hasEnough = false
  /// The bytes of the request's body that were sent.
  private var sent: Int64 = 0
  /// The stored answer that the server was asked to confirm. Nil: the whole answer was requested.
  private(set) var base: StoredAnswer?
  /// The error for which this process stopped the transfer.
  private(set) var stopReason: NuthatchError?
  /// The reason why no picture can be made of the answer, if its first bytes show that.
  private(set) var undecodable: ImageFault?
  /// The most private address class that any hop connected to (`AnswerRecord.reach`).
  private var reach = AddressReach.open
  /// Seconds since 1970 when the request was sent and when the head came, for the age of the answer.
  private var requestTime: Int64 = 0
  private var responseTime: Int64 = 0
  private var silence = SilenceWatch()
  /// The counters of removals before the first hop was sent. If something of the answer is removed later, the answer isn't
  /// stored. Nil: nothing can be stored.
  var began: Moment?
  /// Counts all attempts of the fetch.
  var retries = Retries()
  private(set) var journey = Journey()

  /// An unwanted body of up to this size is read, because that keeps the connection. For a longer one a new connection is
  /// cheaper.
  private static let longestSkip = 65_536

  init(_ plan: RequestPlan, _ shared: SharedCache) {
    (self.plan, self.shared) = (plan, shared)
    hop = plan.first
  }

  /// Begins again at the first hop.
  func beginAgain() {
    hop = plan.first
    redirects = []
    reach = .open
    clear()
  }

  /// Continues with the target of a redirect.
  func follow(_ url: WebURL, _ head: ResponseHead) {
    hop = hop.redirected(to: url, status: head.status, travelling: plan.travelling)
    redirects.append(head)
  }

  /// Forgets the answer of the last hop.
  private func clear() {
    (interim, head, next) = ([], nil, nil)
    body = IncomingBody()
    (sent, skipped, skipsBody, keepsBody) = (0, 0, false, true)
    (isToBeRepeated, hasEnough) = (false, false)
    (base, picture, stopReason, undecodable) = (nil, nil, nil, nil)
  }

  /// Returns whether this attempt's answer suits a request that joins now.
  func mayBeJoined(by plan: RequestPlan) -> Bool {
    // The error page isn't received, because all waiters wanted pictures when it came.
    if skipsBody, head.map(self.plan.followsRedirect(in:)) != true, !plan.wantsPictures { return false }
    // The answer may have been removed meanwhile.
    return !hasEnough && began.map { shared.store.isCurrent($0) } ?? true
  }

  /// The verdict of the image probe. Nil if the first bytes weren't probed.
  var verdict: ImageProbe.Answer? { picture?.verdict }

  /// The thumbnails that were made before the whole body had come.
  var made: [Recipe: Picture] { picture?.made ?? [:] }

  /// The pause that the server asks for, in nanoseconds.
  var retryAfter: Int64? { head.flatMap { $0.retryAfter(now: responseTime) }.map { $0 * 1_000_000_000 } }
}

// MARK: - Sending

extension FetchAttempt {
  /// Sends the current hop's request.
  ///
  /// - Parameter base: the stored answer that the server is asked to confirm, if it belongs to this hop.
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
    plan.download?.whenFree = { [weak self] in self?.resume(transfer) }
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

  /// Returns whether the record belongs to this hop: only then can this hop's server confirm it. A record without redirects
  /// belongs to the first hop, even with another URL, because several URLs may share a caller's cache key.
  private func isAt(_ record: AnswerRecord) -> Bool {
    redirects.count == record.redirects && (redirects.isEmpty || hop.url.address == record.finalURL)
  }

  /// Resumes the transfer because bytes are accepted again, or ends it because writing failed.
  private func resume(_ transfer: UInt64) {
    guard current?.transfer == transfer else { return }
    if plan.download != nil, body.failure != nil { stopKeepingBody() }
    guard let failure = plan.download?.failure ?? body.failure else {
      return shared.transport.resume(transfer)
    }
    let timings = shared.transport.timings(of: transfer) ?? TransferTimings()
    shared.transport.cancel(transfer)
    stopReason = failure
    finished(TransportFault(.stopped, "stopped"), timings)
  }

  /// Drops the body; from now on it is only saved to a file.
  private func stopKeepingBody() {
    // The body's file may have paused the transfer, and after this it can't resume it any more. So resume it here.
    if body.isFiled, let transfer = current?.transfer {
      runtime.loop.post { [weak self] in self?.resume(transfer) }
    }
    keepsBody = false
    body = IncomingBody()
  }

  func cancel() {
    if let current { shared.transport.cancel(current.transfer) }
    current = nil
  }

  /// Checks how long the transfer has been silent (`SilenceWatch.judge`).
  func judgeSilence(_ waiters: [any FetchWaiter]) -> (late: [any FetchWaiter], next: Int64?) {
    guard let current else { return ([], nil) }
    return silence.judge(waiters, of: current.transfer, shared.transport, now: runtime.loop.now)
  }

  /// The time when the last byte came. Without a transfer: now.
  var lastByteTime: Int64 {
    current.flatMap { shared.transport.lastByteTime(of: $0.transfer) } ?? runtime.loop.now
  }
}

// MARK: - Receiving

extension FetchAttempt: TransferSink {
  func waitsForName() {
    if let current { runtime.queue.waitsForName(current.entry, now: runtime.loop.now) }
  }

  func nameIsResolved() -> Bool {
    guard let current, !runtime.queue.nameIsKnown(current.entry, now: runtime.loop.now) else { return true }
    // The request gets another turn. The name is known then.
    shared.counts.transfers.count(-1)
    self.current = nil
    current.fetch.waitAgain(current.entry)
    return false
  }

  func interim(_ head: ResponseHead) { interim.append(head) }

  func sent(_ bytes: Int64) {
    guard let current else { return }
    // If a body is sent again, its count begins again at 0.
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
    if plan.followsRedirect(in: head) {
      if !plan.isHopByHop { return judgeRedirect(head) }
      skipsBody = true
      return .goOn
    }
    if hop.cannotAnswer(head) {
      let what =
        "the server accepts Digest only with a hash of the body (qop=auth-int), which isn't supported"
      return stop(NuthatchError(.http, "HTTP 401: \(what): \(hop.url)", status: head.status))
    }
    if let download = plan.download, let verdict = take(head, download) { return verdict }
    guard head.mayHaveBody(method: hop.method) else { return .goOn }
    let announced = (try? head.contentLength()) ?? 0  // the transport has refused a malformed one already
    // If all waiters want pictures, they don't need an error page.
    skipsBody = !(200..<300).contains(head.status) && fetch.waiters.wantPictures
    if skipsBody { return announced > Self.longestSkip ? .stop : .goOn }
    // If the announced length is too large, stop before the first byte.
    guard checkMaxBytes(announced, isAnnounced: true) else { return .stop }
    if fetch.waiters.contains(where: \.plan.wantsPictures) { picture = PictureWatch(announced: announced) }
    body = IncomingBody(runtime, else: shared.path, hop.url) { [weak self] in self?.resume(transfer) }
    body.buffer.reserve(announced: announced)
    return .goOn
  }

  /// Reports the head to the queue, which learns from it about the host.
  private func noteAnswer(_ head: ResponseHead) {
    guard let (_, entry, transfer) = current else { return }
    let (queue, origin, now) = (runtime.queue, hop.url.origin, runtime.loop.now)
    // The time of an upload depends on its size, so it shows nothing about the link.
    let timings = hop.hasBody ? nil : shared.transport.timings(of: transfer)
    let isOverloaded = head.status == 429 || head.status == 503
    let overload = isOverloaded ? Overload(status: head.status, previous: retries.overloadedAt) : nil
    queue.answered(entry, firstByte: timings.map(\.wait), overload: overload, now: now)
    if timings?.connection.version == .http2 { queue.noteProtocol(origin, isHTTP2: true, now: now) }
    if isOverloaded, let retryAfter {
      queue.pause(origin, until: now &+ retryAfter, status: head.status, now: now)
    }
  }

  /// Hands the head to the download. Returns nil if the body is to be received like any other.
  private func take(_ head: ResponseHead, _ download: Download) -> TransferVerdict? {
    switch download.take(head) {
    case .goOn:
      self.head = download.presented(head)
      let announced = (try? head.contentLength()) ?? 0
      keepsBody = announced <= download.keptBytes && !download.isResuming
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

  /// Ends the waiters whose `maxBytes` is less than `count`. Returns false if no waiter is left.
  private func checkMaxBytes(_ count: Int64, isAnnounced: Bool = false) -> Bool {
    guard let fetch = current?.fetch else { return false }
    for waiter in fetch.waiters where count > waiter.plan.maxBytes {
      let begin = isAnnounced ? "the server announces \(count) bytes, more than" : "the body is longer than"
      fetch.fail(waiter, .tooLarge, "\(begin) max_bytes (\(waiter.plan.maxBytes))")
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
    guard checkMaxBytes(count) else { return .stop }
    do throws(NuthatchError) { try body.append(bytes) } catch { return stop(error) }
    if let picture, let head {
      do throws(ImageFault) {
        try picture.take(bytes, of: body, head, for: fetch) { self.stopEarly(picture) }
      } catch {
        (undecodable, hasEnough) = (error, true)
        return stop(NuthatchError(error, url: hop.url.description))
      }
      guard !fetch.waiters.isEmpty else { return .stop }
    }
    fetch.waiters.report(count, of: (try? head?.contentLength()) ?? nil)
    return body.isFull ? .hold : .goOn
  }

  /// Saves the bytes, and keeps them unless they become too many. Returns nil if this answer isn't saved.
  private func save(
    _ bytes: UnsafeRawBufferPointer, _ download: Download, _ fetch: Fetch
  ) -> TransferVerdict? {
    guard let status = head?.status, (200..<300).contains(status) else { return nil }
    guard checkMaxBytes(download.count + Int64(bytes.count)) else { return .stop }
    if Int64(body.count) + Int64(bytes.count) > download.keptBytes { stopKeepingBody() }
    do throws(NuthatchError) {
      let mayGoOn = try download.write(bytes)
      if keepsBody, (try? body.append(bytes)) == nil { stopKeepingBody() }
      fetch.waiters.report(download.count, of: download.total)
      return mayGoOn && !body.isFull ? .goOn : .hold
    } catch {
      return stop(error)
    }
  }
}

// MARK: - The end

extension FetchAttempt {
  /// Ends the transfer early if the pictures that all waiters want are done.
  private func stopEarly(_ picture: PictureWatch) {
    guard self.picture === picture, let (fetch, entry, transfer) = current, let head,
      let timings = shared.transport.timings(of: transfer), picture.isEnough(for: fetch, after: body)
    else { return }
    cancel()
    hasEnough = true
    shared.counts.bytes.count(body.count)
    shared.counts.stopped.count()
    noteConnection(timings.connection)
    let processor = EarlyStopProcessor(
      arrival: received(head, timings), announced: picture.announced, pictures: picture.made)
    body = IncomingBody()
    fetch.stoppedEarly(entry, processor)
  }

  func finished(_ fault: TransportFault?, _ timings: TransferTimings) {
    guard let (fetch, entry, transfer) = current else { return }
    guard body.isSettled || stopReason != nil else {
      return body.settle { if self.current?.transfer == transfer { self.finished(fault, timings) } }
    }
    current = nil
    if let failure = body.failure {
      if plan.download == nil { stopReason = stopReason ?? failure } else { stopKeepingBody() }
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

  /// Notes the address class that a hop connected to. A private address after a public origin counts as the most private class.
  private func noteConnection(_ facts: ConnectionFacts) {
    let isBehindPublic = hop.isRedirectedByPublic && !facts.reach.countsAsPublic
    reach = max(reach, isBehindPublic ? .link : facts.reach)
    if facts.reach.countsAsPublic { hop.isRedirectedByPublic = true }
  }

  func received(_ head: ResponseHead, _ timings: TransferTimings) -> ReceivedAnswer {
    let provenance = Provenance(
      finalURL: hop.url.address, source: .network, isInCache: false, isStored: false,
      isTruncated: timings.isCutOff, timings: Response.Timings(timings), redirects: redirects.count,
      interim: interim, head: head, bodyBytes: Int64(body.count), journey: journey)
    return ReceivedAnswer(
      shared: shared, plan: plan, began: began, head: head, redirects: redirects, requestTime: requestTime,
      responseTime: responseTime, reach: reach, isFromPublic: hop.isRedirectedByPublic, provenance: provenance
    )
  }

  /// Returns the outcome of this attempt for waiters that want no other. An answer that is requested again is never stored.
  func outcomeForNow(_ ending: AttemptResult) -> FetchOutcome? {
    if let fault = ending.fault { return .failed(NuthatchError(fault, url: hop.url)) }
    guard let head else { return nil }
    body.buffer.stopCounting()
    let (answer, body) = (received(head, ending.timings), SharedBytes(body.buffer))
    return .answered(
      FetchedAnswer(head: head, body: body, content: nil, pictures: [:], provenance: answer.provenance))
  }

  func dropBody() { body = IncomingBody() }
}

extension TransferTimings {
  /// Nanoseconds from the sending of the request to the first byte of its answer.
  fileprivate var wait: Int64 { max(0, firstByte - max(connect, tls)) * 1000 }
}

extension TransferRequest {
  /// Adds what holds for all hops of a request.
  fileprivate mutating func adopt(_ plan: RequestPlan, isFirstHop: Bool) {
    addressGuard = plan.guardGrade.addressGuard
    passesUnknownCodings = plan.policy == .rfc9111
    acceptsCompressed = !plan.wantsPictures && !plan.headers.contains("Accept-Encoding")
    // The answer's key depends on the cookie of the first hop, so send just that.
    let cookie = isFirstHop ? plan.cookie : plan.cookies?.knownHeader(for: url)
    if plan.cookies != nil, let cookie { headers.append("Cookie", cookie) }
  }
}
