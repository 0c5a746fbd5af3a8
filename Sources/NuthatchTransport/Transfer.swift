import CSystem
import NuthatchBase

/// One running exchange: the answer so far, and what to do next. Used only on the loop's thread.
final class Transfer {
  let id: UInt64
  let handle: TransferHandle
  var connection: TransferConnection
  private(set) var pool: ConnectionPool
  let request: TransferRequest
  /// The longest time without a byte (`TransferRequest.silence`).
  var silence: Int64?
  let sink: any TransferSink
  let route: TransferRoute
  /// The timer that checks silence and speed.
  var stallTimer: LoopTimer?
  private(set) var stallDetector: StallDetector
  var nudge: StreamNudge
  /// The request body, if it is read while it is sent.
  var feed: BodyFeed?
  /// Whether the server has rejected `Expect: 100-continue`.
  private(set) var isExpectRejected = false

  private var parser = ResponseHeadParser()
  private var head: ResponseHead?
  /// The head of a 401, kept back because libcurl may sign in and send the request again. If a new head follows, this one is
  /// dropped. If not, the sink gets it.
  private var heldHead: ResponseHead?
  /// The number of 401 challenges.
  private var challenges = 0
  private static let mostChallenges = 10
  /// Whether the sink has paused the transfer (`TransferVerdict.hold`).
  private var isPaused = false
  private var decoder: ContentDecoder?
  /// The received bytes of the body, without chunk sizes.
  private var wireBytes: Int64 = 0
  /// The decoded bytes for the sink.
  private var bodyBytes: Int64 = 0
  private var uploaded: Int64 = 0
  /// Notices the closing alert of TLS. Only used if the close of the connection ends the body. Nil also if the connection can't
  /// be watched.
  private var closeAlert: OpaquePointer?
  /// Why a callback ended the transfer; libcurl only knows that it did.
  private var callbackFault: TransportFault?

  init(
    _ handle: TransferHandle, _ pool: ConnectionPool, _ sockets: OpenSockets, _ pending: PendingTransfer,
    startedAt: Int64
  ) {
    id = pending.id
    self.pool = pool
    self.handle = handle
    connection = TransferConnection(sockets, pending)
    request = pending.request
    silence = pending.request.silence
    sink = pending.sink
    route = pending.route
    stallDetector = StallDetector(startedAt: startedAt)
    nudge = StreamNudge(startedAt: startedAt)
  }

  deinit {
    feed?.stop()
    nhs_close_alert_free(closeAlert)
  }

  /// Frees the memory whose pointers libcurl has. Call it after the handle is removed from the multi handle.
  func release() {
    handle.freeOptionMemory()
    feed?.stop()
    feed = nil
  }
}

// MARK: - The connection

extension Transfer {
  func mayUseConnection(_ ends: OpenSockets.Ends) -> Bool {
    // libcurl itself doesn't rewind the body if the previous connection broke during the first bytes.
    feed?.rewind()
    do throws(TransportFault) {
      return try connection.mayUse(ends, request, isHTTP1: pool.isHTTP1)
    } catch {
      callbackFault = error
      return false
    }
  }

  /// Returns whether the transfer ended because the server refuses HTTP/1.1. Then nothing was sent.
  func isHTTP1Declined(_ code: CURLcode) -> Bool {
    guard callbackFault == nil, head == nil else { return false }
    switch code {
    case CURLE_ABORTED_BY_CALLBACK: return connection.isOfferDeclined
    // The alert of a server that supports none of the offered protocols (RFC 7301, 3.2).
    case CURLE_SSL_CONNECT_ERROR: return handle.errorText.contains("no application protocol")
    default: return false
    }
  }

  /// Moves the transfer to the other connection pool. Returns false if libcurl rejected an option.
  func move(to pool: ConnectionPool) -> Bool {
    self.pool = pool
    return handle.changeVersion(self)
  }

  /// Starts again on a new connection. Returns false if there is no memory for it.
  func prepareNewConnection() -> Bool {
    connection.forget(route.knownClass)
    callbackFault = nil
    parser = ResponseHeadParser()
    guard nhs_easy_set_long(handle.easy, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK else { return false }
    return !isExpectRejected || handle.replaceHeaders(self)
  }
}

// MARK: - What arrives

extension Transfer {
  func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    noteBytes(line.count)
    if heldHead != nil, line.starts(with: "HTTP/".utf8) {
      heldHead = nil
      parser = ResponseHeadParser()
    }
    do {
      switch try parser.take(line) {
      case .more, .trailer: return true
      case .interim(let head):
        sink.interim(head)
        return true
      case .head(let head):
        _ = try head.contentLength()
        try head.checkTransferCoding(passingUnknown: request.passesUnknownCodings)
        connection.noteAnswer()
        if head.status == 417, awaitsContinue, handle.httpVersion != .http2 {
          (isExpectRejected, connection.wantsNew) = (true, true)
          return false
        }
        if head.status == 401, request.answersChallenges, !request.cannotAnswer(head) {
          challenges += 1
          // If a server always calls the nonce stale, libcurl would send the whole body again and again.
          guard challenges <= Self.mostChallenges else {
            callbackFault = TransportFault(
              .http,
              "the server sent more than \(Self.mostChallenges) authentication challenges (401) for one request"
            )
            return false
          }
          heldHead = head
          return true
        }
        return begin(head)
      }
    } catch {
      callbackFault = TransportFault(.http, error.reason)
      return false
    }
  }

  /// Whether the request has sent `Expect: 100-continue`.
  private var awaitsContinue: Bool {
    guard request.hasBody, !isExpectRejected else { return false }
    if let own = request.headers["Expect"] { return own.equalsIgnoringCase("100-continue") }
    return feed != nil && request.bodyCount > Self.expectingSize
  }

  /// libcurl sends `Expect` by itself for longer bodies.
  private static let expectingSize: Int64 = 1 << 20

  private func releaseHeldHead() -> Bool {
    guard let head = heldHead else { return true }
    heldHead = nil
    return begin(head)
  }

  private func begin(_ head: ResponseHead) -> Bool {
    self.head = head
    if [.http10, .http11].contains(handle.httpVersion) { connection.noteTurns() }
    if isCloseDelimited, request.url.scheme == .https, let watched = nhs_close_alert_watch(handle.easy) {
      nhs_close_alert_free(closeAlert)
      closeAlert = watched
    }
    if head.mayHaveBody(method: request.method) {
      do {
        decoder = try ContentDecoder.forAnswer(head)
      } catch {
        callbackFault = TransportFault(.outOfMemory, "there is no memory for decoding the body")
        return false
      }
    }
    return obey(sink.head(head))
  }

  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    noteBytes(bytes.count)
    guard releaseHeldHead() else { return false }
    wireBytes += Int64(bytes.count)
    guard let decoder else { return pass(bytes) }
    do {
      try decoder.decode(bytes) { pass($0) }
      return true
    } catch {
      if error == .notCompressed {
        callbackFault = TransportFault(
          .http, "the body can't be decoded: it isn't in its Content-Encoding, or is damaged")
      }
      return false
    }
  }

  private func pass(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bodyBytes += Int64(bytes.count)
    if let most = request.maxBytes, bodyBytes > most {
      callbackFault = TransportFault(.tooLarge, "the body is longer than \(most) bytes, the limit")
      return false
    }
    if request.boundsExpansion, let excess = decoder?.excess {
      callbackFault = TransportFault(.tooLarge, excess)
      return false
    }
    return obey(sink.body(bytes))
  }

  func noteUploaded(_ total: Int64) {
    guard total != uploaded else { return }
    noteBytes(Int(clamping: max(0, total - uploaded)))
    uploaded = total
    sink.sent(total)
  }

  /// Gives libcurl the next bytes of the request body.
  func provide(_ room: UnsafeMutableRawBufferPointer) -> Int {
    do throws(TransportFault) {
      guard let feed else { return Self.abortCode }
      return try feed.take(into: room) ?? Self.pauseCode
    } catch {
      callbackFault = error
      return Self.abortCode
    }
  }

  /// CURL_READFUNC_ABORT and CURL_READFUNC_PAUSE, macros that Swift doesn't import.
  private static let (abortCode, pauseCode) = (0x1000_0000, 0x1000_0001)

  private func noteBytes(_ count: Int) {
    let now = nhs_monotonic_ns()
    stallDetector.note(count, at: now)
    nudge.noteBytes(at: now)
  }

  private func obey(_ wish: TransferVerdict) -> Bool {
    switch wish {
    case .goOn: return true
    case .hold:
      isPaused = true
      curl_easy_pause(handle.easy, CURLPAUSE_RECV)
      return true
    case .stop: break
    }
    callbackFault = TransportFault(.stopped, "stopped")
    return false
  }
}

// MARK: - How it ended

extension Transfer {
  func outcome(of code: CURLcode) -> TransportFault? {
    if code == CURLE_OK { _ = releaseHeldHead() }
    if let callbackFault { return callbackFault }
    guard code != CURLE_OK else { return outcomeOfWhole() }
    if Transfer.harmlessAfterAnswer.contains(code), checkAnswerIsWhole() { return outcomeOfWhole() }
    if code == CURLE_OUT_OF_MEMORY, head == nil, timings().firstByte > 0 {
      // libcurl uses this code also for a header line that is too long for its buffer.
      return TransportFault(
        .http, "the server sent a header line of more than 100 KB, or there is no memory for it")
    }
    if code == CURLE_COULDNT_CONNECT {
      let failure = handle.socketFailure
      if TransportFault.isShortage(failure) {
        return TransportFault(shortage: failure, "no socket could be opened")
      }
      if let denial = connection.denial { return TransportFault(.denied, denial) }
    }
    return TransportFault(code: code, detail: handle.errorText, errno: handle.number(CURLINFO_OS_ERRNO))
  }

  /// Errors that don't count after a complete answer: a server need not read the whole request.
  private static let harmlessAfterAnswer: Set<CURLcode> = [
    CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
  ]

  /// Returns whether the answer is known to be complete: it has no body, or all bytes of `Content-Length` came. Passes a held
  /// 401 to the sink first.
  private func checkAnswerIsWhole() -> Bool {
    guard releaseHeldHead(), let head else { return false }
    guard head.mayHaveBody(method: request.method) else { return true }
    return (try? head.contentLength()) == wireBytes  // `takeHeader` has refused a malformed one
  }

  private func outcomeOfWhole() -> TransportFault? {
    if request.connectsOnly { return nil }
    guard head != nil else { return TransportFault(.http, "the answer is not HTTP/1 or HTTP/2") }
    // An empty body is complete, even with a coding, unless the close of the connection ends it.
    guard let decoder, !decoder.isWhole || wireBytes == 0 && isCloseDelimited else { return nil }
    return TransportFault(.truncated, "the compressed body is truncated")
  }

  /// The time of the last byte (monotonic clock); `now` while the server waits for this process.
  func lastByteTime(at now: Int64) -> Int64 { waitsForUs ? now : stallDetector.lastByte }

  /// Whether the sink has paused the transfer, or the next bytes of the request's body aren't read yet.
  private var waitsForUs: Bool { isPaused || head == nil && feed?.isAwaited == true }

  func checkStall(at now: Int64, silence: Int64) -> (stall: StallDetector.Stall?, next: Int64) {
    if waitsForUs { stallDetector.restart(at: now) }
    return stallDetector.check(at: now, silence: silence, slowness: request.slowness)
  }

  /// Whether this is, or may become, one of several streams of a connection.
  var mayBeStream: Bool {
    request.url.scheme == .https && !request.connectsOnly && !pool.isHTTP1
      && (head == nil || handle.httpVersion == .http2)
  }

  /// Resumes a paused transfer. libcurl then delivers the bytes that it has kept; returns its result. Nil if the transfer
  /// wasn't paused.
  func goOn() -> CURLcode? {
    guard isPaused else { return nil }
    isPaused = false
    stallDetector.restart(at: nhs_monotonic_ns())
    return curl_easy_pause(handle.easy, CURLPAUSE_CONT)
  }

  /// Makes libcurl send the bytes that it has waited for.
  func goOnSending() {
    stallDetector.restart(at: nhs_monotonic_ns())
    curl_easy_pause(handle.easy, isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
  }

  /// Makes libcurl check its buffers for this stream, by a pause and a resume.
  func pauseAndResume() {
    guard connection.facts.address != nil, !isPaused else { return }
    curl_easy_pause(handle.easy, CURLPAUSE_RECV)
    curl_easy_pause(handle.easy, CURLPAUSE_CONT)
  }

  /// Returns the error for a stalled transfer. It names the phase, because the remedies differ. If the answer is complete and
  /// only sending has stalled, returns the outcome of that answer.
  func fault(of stall: StallDetector.Stall) -> TransportFault? {
    if checkAnswerIsWhole() { return outcomeOfWhole() }
    switch stall {
    case .slowness(let bytes, let window):
      return TransportFault(.timeout, "only \(bytes) bytes in \(Double(window) / 1e9) s, \(phase)")
    case .silence(let silence):
      return TransportFault(.timeout, "no byte for \(Double(silence) / 1e9) s, \(phase)")
    }
  }

  private var phase: String {
    if head != nil { return "in the middle of the answer" }
    guard timings().connect > 0 || connection.facts.isReused else { return "connecting" }
    let sendsBody = request.method != "HEAD" && uploaded < request.bodyCount
    return sendsBody ? "sending the request" : "waiting for the answer"
  }

  func timings() -> TransferTimings {
    var timings = handle.timings(after: route.lookupTime)
    timings.connection = connection.facts
    timings.connection.version = handle.httpVersion
    timings.isCloseDelimited = isCloseDelimited
    timings.isCutOff = closeAlert.map { nhs_close_alert_came($0) == 0 } ?? false
    return timings
  }

  /// Whether only the close of the connection ends the body.
  private var isCloseDelimited: Bool {
    guard let head, head.mayHaveBody(method: request.method), handle.httpVersion.rawValue < 3 else {
      return false
    }
    return !head.fields.contains("Content-Length") && !head.isChunked
  }
}
