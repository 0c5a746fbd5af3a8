import CSystem

/// One exchange under way: an easy handle, its options and what has come so far. Confined to the loop's thread.
final class Transfer {
  let id: UInt64
  let easy: UnsafeMutableRawPointer
  let request: TransferRequest
  let sink: any TransferSink
  private(set) var lastActivity: Int64
  var silenceTimer: EventLoop.TimerID?

  private var parser = ResponseHeadParser()
  private var hasHead = false
  private var hasConnected = false
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var errorBuffer: UnsafeMutablePointer<CChar>
  /// The errno of a socket that the system did not give; 0 when it gave all.
  private let socketFailure: UnsafeMutablePointer<Int32>
  private var bodyCopy: UnsafeMutablePointer<UInt8>?
  private var uploaded: Int64 = 0
  /// Why we ended the transfer in a callback; libcurl itself only knows that we did.
  private var verdict: TransportFault?

  init(
    id: UInt64, easy: UnsafeMutableRawPointer, request: TransferRequest, sink: any TransferSink,
    startedAt: Int64
  ) {
    self.id = id
    self.easy = easy
    self.request = request
    self.sink = sink
    lastActivity = startedAt
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    socketFailure = .allocate(capacity: 1)
    socketFailure.initialize(to: 0)
  }

  deinit {
    freeLists()
    errorBuffer.deallocate()
    socketFailure.deallocate()
  }

  /// What libcurl only borrowed; called once the handle is out of the multi.
  func freeLists() {
    curl_slist_free_all(headerList)
    headerList = nil
    bodyCopy?.deallocate()
    bodyCopy = nil
  }

  // MARK: Options

  /// False when libcurl refused an option, which only a lack of memory explains.
  func configure() -> Bool {
    var refused = false
    func set(_ option: CURLoption, _ value: Int) {
      if nhs_easy_set_long(easy, option, value) != CURLE_OK { refused = true }
    }
    func set(_ option: CURLoption, _ value: String) {
      if nhs_easy_set_string(easy, option, value) != CURLE_OK { refused = true }
    }
    func set(_ option: CURLoption, _ value: UnsafeRawPointer) {
      if nhs_easy_set_pointer(easy, option, value) != CURLE_OK { refused = true }
    }

    let context = Unmanaged.passUnretained(self).toOpaque()
    set(CURLOPT_PRIVATE, context)
    set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorBuffer))
    set(CURLOPT_URL, request.url.address)
    set(CURLOPT_PATH_AS_IS, 1)  // dot segments are resolved already, by the rules of our own keys
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)  // each hop is judged above
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_QUICK_EXIT, 1)  // a cancel must not wait for getaddrinfo
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))  // silence has its own watch; libcurl's would end at 300 s
    if nhs_easy_set_header_callback(easy, headerArrived, context) != CURLE_OK { refused = true }
    if nhs_easy_set_write_callback(easy, bodyArrived, context) != CURLE_OK { refused = true }
    if nhs_easy_set_private_sockets(easy, socketFailure) != CURLE_OK { refused = true }
    configureMethod(set, set, set)
    configureCredentials(set, set)
    refused = refused || !configureHeaders()
    return !refused
  }

  private func configureMethod(
    _ setLong: (CURLoption, Int) -> Void, _ setString: (CURLoption, String) -> Void,
    _ setPointer: (CURLoption, UnsafeRawPointer) -> Void
  ) {
    if request.method == "HEAD" {
      setLong(CURLOPT_NOBODY, 1)
    } else if !request.body.isEmpty || request.method == "POST" {
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(request.body.count, 1))
      copy.initialize(to: 0)
      request.body.withUnsafeBufferPointer { body in
        if let base = body.baseAddress { copy.update(from: base, count: body.count) }
      }
      bodyCopy = copy
      setPointer(CURLOPT_POSTFIELDS, copy)
      _ = nhs_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
      if request.method != "POST" { setString(CURLOPT_CUSTOMREQUEST, request.method) }
      // Only an upload can move without a byte coming back.
      setLong(CURLOPT_NOPROGRESS, 0)
      _ = nhs_easy_set_progress_callback(easy, progressMade, Unmanaged.passUnretained(self).toOpaque())
    } else if request.method != "GET" {
      setString(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  private func configureCredentials(
    _ setLong: (CURLoption, Int) -> Void, _ setPointer: (CURLoption, UnsafeRawPointer) -> Void
  ) {
    guard let credentials = request.credentials else { return }
    setLong(CURLOPT_HTTPAUTH, 1)  // CURLAUTH_BASIC, a macro that Swift does not see
    // As bytes: what came out of a URL's escapes need not be UTF-8. libcurl copies them.
    for (option, bytes) in [
      (CURLOPT_USERNAME, credentials.user), (CURLOPT_PASSWORD, credentials.password),
    ] {
      (bytes + [0]).withUnsafeBytes { if let base = $0.baseAddress { setPointer(option, base) } }
    }
  }

  private func configureHeaders() -> Bool {
    for field in request.headers.fields {
      // libcurl takes "Name:" as "leave this one out" and "Name;" as "send it empty".
      guard add(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)") else {
        return false
      }
    }
    // What libcurl would add to a body by itself is a claim about content that only the caller can make, and a wait.
    if bodyCopy != nil {
      if !request.headers.contains("Content-Type"), !add("Content-Type:") { return false }
      if !request.headers.contains("Expect"), !add("Expect:") { return false }
    }
    return headerList == nil || nhs_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList) == CURLE_OK
  }

  private func add(_ line: String) -> Bool {
    guard let longer = curl_slist_append(headerList, line) else { return false }
    headerList = longer
    return true
  }

  // MARK: What arrives

  fileprivate func takeHeader(_ line: UnsafeRawBufferPointer) -> Bool {
    noteActivity()
    do {
      switch try parser.take(line) {
      case .more, .trailer: return true
      case .interim(let head):
        sink.interim(head)
        return true
      case .head(let head):
        _ = try head.contentLength()
        hasHead = true
        return obey(sink.head(head))
      }
    } catch {
      verdict = TransportFault(.http, error.reason)
      return false
    }
  }

  fileprivate func takeBody(_ bytes: UnsafeRawBufferPointer) -> Bool {
    noteActivity()
    return obey(sink.body(bytes))
  }

  fileprivate func noteUploaded(_ total: Int64) {
    guard total != uploaded else { return }
    uploaded = total
    noteActivity()
  }

  private func noteActivity() { lastActivity = nhs_monotonic_ns() }

  private func obey(_ wish: TransferVerdict) -> Bool {
    if case .goOn = wish { return true }
    verdict = TransportFault(.stopped, "stopped")
    return false
  }

  // MARK: How it ended

  func outcome(of code: CURLcode) -> TransportFault? {
    if let verdict { return verdict }
    guard code != CURLE_OK else {
      return hasHead ? nil : TransportFault(.http, "the answer is not HTTP/1 or HTTP/2")
    }
    if code == CURLE_OUT_OF_MEMORY, !hasHead, timings().firstByte > 0 {
      // libcurl's words for a line that outgrows its buffer, too; which of the two it is, it doesn't tell.
      return TransportFault(.http, "a header line of more than 100 KB, or no memory for it")
    }
    if code == CURLE_COULDNT_CONNECT, TransportFault.isShortage(socketFailure.pointee) {
      return TransportFault(shortage: socketFailure.pointee, "no socket could be had")
    }
    let errno = nhs_easy_get_long(easy, CURLINFO_OS_ERRNO)
    return TransportFault(code: code, detail: String(cString: errorBuffer), errno: errno)
  }

  /// Says in which phase the peer fell silent, because the remedies differ.
  func silenceFault(after silence: Int64) -> TransportFault {
    let seconds = Double(silence) / 1e9
    let timings = timings()
    let phase =
      if hasHead {
        "in the middle of the answer"
      } else if timings.connect > 0 {
        "waiting for the answer"
      } else if timings.nameLookup > 0 {
        "connecting"
      } else {
        "looking up the name or connecting"
      }
    return TransportFault(.timeout, "no byte for \(seconds) s, \(phase)")
  }

  func timings() -> TransferTimings {
    var timings = TransferTimings()
    timings.nameLookup = Int64(nhs_easy_get_offset(easy, CURLINFO_NAMELOOKUP_TIME_T))
    timings.connect = Int64(nhs_easy_get_offset(easy, CURLINFO_CONNECT_TIME_T))
    timings.tls = Int64(nhs_easy_get_offset(easy, CURLINFO_APPCONNECT_TIME_T))
    timings.firstByte = Int64(nhs_easy_get_offset(easy, CURLINFO_STARTTRANSFER_TIME_T))
    timings.total = Int64(nhs_easy_get_offset(easy, CURLINFO_TOTAL_TIME_T))
    return timings
  }
}

// MARK: - libcurl's callbacks

/// libcurl reads any other number than the one that it passed as "end this transfer".
private func deliver(
  _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
  _ take: (Transfer, UnsafeRawBufferPointer) -> Bool
) -> Int {
  guard let context else { return 0 }
  let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
  return take(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : count &+ 1
}

private func headerArrived(
  bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
  deliver(bytes, size &* count, context) { $0.takeHeader($1) }
}

private func bodyArrived(
  bytes: UnsafeMutablePointer<CChar>?, size: Int, count: Int, context: UnsafeMutableRawPointer?
) -> Int {
  deliver(bytes, size &* count, context) { $0.takeBody($1) }
}

private func progressMade(
  context: UnsafeMutableRawPointer?, _: curl_off_t, _: curl_off_t, _: curl_off_t, uploaded: curl_off_t
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().noteUploaded(Int64(uploaded))
  return 0
}
