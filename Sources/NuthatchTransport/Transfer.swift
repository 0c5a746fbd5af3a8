import CSystem
import NuthatchBase

/// One exchange under way: what has come so far, and how it goes on. Confined to the loop's thread.
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
  /// The watch over silence and slowness.
  var watch: LoopTimer?
  private(set) var pace: TransferPace
  var nudge: StreamNudge
  /// What it sends, where that is read while it is sent.
  var feed: BodyFeed?
  /// Whether the server doesn't want to be asked before a body is sent.
  private(set) var isExpectRejected = false

  private var parser = ResponseHeadParser()
  private var head: ResponseHead?
  /// The head of an answer after which libcurl may ask once more by itself: what comes next says whether it does.
  private var held: ResponseHead?
  /// How often the server has asked who is there.
  private var challenges = 0
  private static let mostChallenges = 10
  /// Whether nothing is to come, because the sink has no room.
  private var isHeld = false
  private var decoder: ContentDecoder?
  /// Bytes of the body as they came over the wire, without chunk sizes; and as the sink got them.
  private var wireBytes: Int64 = 0
  private var bodyBytes: Int64 = 0
  private var uploaded: Int64 = 0
  /// Of a body that only the end of its connection ends; nil where nobody could tell.
  private var farewell: OpaquePointer?
  /// Why we ended the transfer in a callback; libcurl itself only knows that we did.
  private var verdict: TransportFault?

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
    pace = TransferPace(startedAt: startedAt)
    nudge = StreamNudge(startedAt: startedAt)
  }

  deinit {
    feed?.stop()
    nhs_farewell_free(farewell)
  }

  /// Lets go of what libcurl only borrowed; called once the handle is out of the multi.
  func release() {
    handle.freeLists()
    feed?.stop()
    feed = nil
  }
}

// MARK: - The connection

extension Transfer {
  func mayUseConnection(_ ends: OpenSockets.Ends) -> Bool {
    // libcurl doesn't say so when the connection before broke as it wrote the first bytes.
    feed?.rewind()
    do throws(TransportFault) {
      return try connection.mayUse(ends, request, isHTTP1: pool.isHTTP1)
    } catch {
      verdict = error
      return false
    }
  }

  /// Whether it ended because the server doesn't want HTTP/1.1, before anything was sent.
  func isHTTP1Declined(_ code: CURLcode) -> Bool {
    guard verdict == nil, head == nil else { return false }
    switch code {
    case CURLE_ABORTED_BY_CALLBACK: return connection.isOfferDeclined
    // The alert that a server owes to whoever offers nothing that it speaks (RFC 7301, 3.2).
    case CURLE_SSL_CONNECT_ERROR: return handle.words.contains("no application protocol")
    default: return false
    }
  }

  /// Goes over to connections of another kind. False when libcurl rejected an option.
  func move(to pool: ConnectionPool) -> Bool {
    self.pool = pool
    return handle.changeVersion(self)
  }

  /// Begins again, with a connection of its own. False without memory for it.
  func prepareNewConnection() -> Bool {
    connection.forget(route.knownClass)
    verdict = nil
    parser = ResponseHeadParser()
    guard nhs_easy_set_long(handle.easy, CURLOPT_FRESH_CONNECT, 1) == CURLE_OK else { return false }
    return !isExpectRejected || handle.replaceHeaders(self)
  }
}

// MARK: - What arrives

extension Transfer {
  func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    noteBytes(line.count)
    if held != nil, line.starts(with: "HTTP/".utf8) {
      held = nil
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
          // libcurl would go on for as long as the server calls its nonce stale, with all of a body each time.
          guard challenges <= Self.mostChallenges else {
            verdict = TransportFault(.http, "the server asks again and again who is there")
            return false
          }
          // What comes next says whether libcurl asks once more by itself.
          held = head
          return true
        }
        return begin(head)
      }
    } catch {
      verdict = TransportFault(.http, error.reason)
      return false
    }
  }

  /// Whether the request asks with `Expect` before its body is sent.
  private var awaitsContinue: Bool {
    guard request.hasBody, !isExpectRejected else { return false }
    if let own = request.headers["Expect"] { return own.equalsIgnoringCase("100-continue") }
    return feed != nil && request.bodyCount > Self.expectingSize
  }

  /// libcurl asks by itself for what is longer.
  private static let expectingSize: Int64 = 1 << 20

  private func releaseHeld() -> Bool {
    guard let head = held else { return true }
    held = nil
    return begin(head)
  }

  private func begin(_ head: ResponseHead) -> Bool {
    self.head = head
    if [.http10, .http11].contains(handle.httpVersion) { connection.noteTurns() }
    if isCloseDelimited, request.url.scheme == .https, let watched = nhs_farewell_watch(handle.easy) {
      nhs_farewell_free(farewell)
      farewell = watched
    }
    if head.mayHaveBody(method: request.method) {
      do {
        decoder = try ContentDecoder.forAnswer(head)
      } catch {
        verdict = TransportFault(.outOfMemory, "no memory for the decoder")
        return false
      }
    }
    return obey(sink.head(head))
  }

  func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    noteBytes(bytes.count)
    guard releaseHeld() else { return false }
    wireBytes += Int64(bytes.count)
    guard let decoder else { return pass(bytes) }
    do {
      try decoder.decode(bytes) { pass($0) }
      return true
    } catch {
      if error == .notCompressed {
        verdict = TransportFault(.http, "the body is not what its Content-Encoding says, or damaged")
      }
      return false
    }
  }

  private func pass(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bodyBytes += Int64(bytes.count)
    if let most = request.maxBytes, bodyBytes > most {
      verdict = TransportFault(.tooLarge, "the body goes on behind \(most) bytes, the limit")
      return false
    }
    if request.boundsExpansion, let excess = decoder?.excess {
      verdict = TransportFault(.tooLarge, excess)
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

  /// Gives libcurl what it is to send.
  func provide(_ room: UnsafeMutableRawBufferPointer) -> Int {
    do throws(TransportFault) {
      guard let feed else { return Self.ends }
      return try feed.take(into: room) ?? Self.waits
    } catch {
      verdict = error
      return Self.ends
    }
  }

  /// CURL_READFUNC_ABORT and CURL_READFUNC_PAUSE, macros that Swift does not see.
  private static let (ends, waits) = (0x1000_0000, 0x1000_0001)

  private func noteBytes(_ count: Int) {
    let now = nhs_monotonic_ns()
    pace.note(count, at: now)
    nudge.noteBytes(at: now)
  }

  private func obey(_ wish: TransferVerdict) -> Bool {
    switch wish {
    case .goOn: return true
    case .hold:
      isHeld = true
      curl_easy_pause(handle.easy, CURLPAUSE_RECV)
      return true
    case .stop: break
    }
    verdict = TransportFault(.stopped, "stopped")
    return false
  }
}

// MARK: - How it ended

extension Transfer {
  func outcome(of code: CURLcode) -> TransportFault? {
    if code == CURLE_OK { _ = releaseHeld() }
    if let verdict { return verdict }
    guard code != CURLE_OK else { return outcomeOfWhole() }
    if Transfer.afterwards.contains(code), isAnswerWhole { return outcomeOfWhole() }
    if code == CURLE_OUT_OF_MEMORY, head == nil, timings().firstByte > 0 {
      // libcurl's words for a line that outgrows its buffer, too; which of the two it is, it doesn't tell.
      return TransportFault(.http, "a header line of more than 100 KB, or no memory for it")
    }
    if code == CURLE_COULDNT_CONNECT {
      let failure = handle.socketFailure
      if TransportFault.isShortage(failure) {
        return TransportFault(shortage: failure, "no socket could be had")
      }
      if let denial = connection.denial { return TransportFault(.denied, denial) }
    }
    return TransportFault(code: code, detail: handle.words, errno: handle.number(CURLINFO_OS_ERRNO))
  }

  /// Faults that may come after a whole answer: a server need not read all that it is sent.
  private static let afterwards: Set<CURLcode> = [
    CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM,
  ]

  /// Whether all of the answer is there, however the rest of the exchange goes on.
  private var isAnswerWhole: Bool {
    guard releaseHeld(), let head else { return false }
    guard head.mayHaveBody(method: request.method) else { return true }
    return (try? head.contentLength()) == wireBytes  // a malformed one was refused when it came
  }

  private func outcomeOfWhole() -> TransportFault? {
    if request.connectsOnly { return nil }
    guard head != nil else { return TransportFault(.http, "the answer is not HTTP/1 or HTTP/2") }
    // Nothing at all may be a coded body where its length says so; not where only the close ends it.
    guard let decoder, !decoder.isWhole || wireBytes == 0 && isCloseDelimited else { return nil }
    return TransportFault(.truncated, "the compressed body ends too early")
  }

  /// On the monotonic clock: when something came, or when nothing is expected to.
  func lastSign(at now: Int64) -> Int64 { waitsForUs ? now : pace.lastByte }

  /// Whether it is not the server that it waits for.
  private var waitsForUs: Bool { isHeld || head == nil && feed?.isAwaited == true }

  func judgePace(at now: Int64, silence: Int64) -> (lapse: TransferPace.Lapse?, next: Int64) {
    if waitsForUs { pace.rest(at: now) }
    return pace.judge(at: now, silence: silence, slowness: request.slowness)
  }

  /// Whether this is, or may turn out to be, one of several streams of a connection.
  var mayBeStream: Bool {
    request.url.scheme == .https && !request.connectsOnly && !pool.isHTTP1
      && (head == nil || handle.httpVersion == .http2)
  }

  /// Lets a transfer go on that was held up, and gives what became of the bytes that libcurl had kept. Nil when it wasn't held.
  func goOn() -> CURLcode? {
    guard isHeld else { return nil }
    isHeld = false
    pace.rest(at: nhs_monotonic_ns())
    return curl_easy_pause(handle.easy, CURLPAUSE_CONT)
  }

  /// Lets it send what it has waited for.
  func goOnSending() {
    pace.rest(at: nhs_monotonic_ns())
    curl_easy_pause(handle.easy, isHeld ? CURLPAUSE_RECV : CURLPAUSE_CONT)
  }

  /// Makes libcurl look into its buffers for this stream, which it does after a pause.
  func lookAgain() {
    guard connection.facts.address != nil, !isHeld else { return }
    curl_easy_pause(handle.easy, CURLPAUSE_RECV)
    curl_easy_pause(handle.easy, CURLPAUSE_CONT)
  }

  /// What the watch found wrong, in words that say in which phase, because the remedies differ. Nil when it is only the
  /// sending that doesn't go on, after a whole answer.
  func fault(of lapse: TransferPace.Lapse) -> TransportFault? {
    if isAnswerWhole { return outcomeOfWhole() }
    switch lapse {
    case .slowness(let bytes, let window):
      return TransportFault(
        .timeout, "only \(bytes) bytes in \(Double(window) / 1e9) s, in the middle of the answer")
    case .silence(let silence):
      let timings = timings()
      let phase =
        if head != nil {
          "in the middle of the answer"
        } else if timings.connect > 0 || connection.facts.isReused {
          "waiting for the answer"
        } else {
          "connecting"
        }
      return TransportFault(.timeout, "no byte for \(Double(silence) / 1e9) s, \(phase)")
    }
  }

  func timings() -> TransferTimings {
    var timings = handle.timings(after: route.lookupTime)
    timings.connection = connection.facts
    timings.connection.version = handle.httpVersion
    timings.isCloseDelimited = isCloseDelimited
    timings.isCutOff = farewell.map { nhs_farewell_came($0) == 0 } ?? false
    return timings
  }

  /// Whether only the end of the connection ends the body.
  private var isCloseDelimited: Bool {
    guard let head, head.mayHaveBody(method: request.method), handle.httpVersion.rawValue < 3 else {
      return false
    }
    return !head.fields.contains("Content-Length") && !head.isChunked
  }
}
