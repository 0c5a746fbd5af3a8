import CSystem
import Glibc

/// The easy handle of one transfer after the other: what libcurl is told of it, what libcurl only borrows, and what libcurl says.
///
/// Confined to the loop's thread.
final class TransferHandle {
  let easy: UnsafeMutableRawPointer
  private let errorBuffer: UnsafeMutablePointer<CChar>
  private let socketRules: UnsafeMutablePointer<nhs_socket_rules>
  private var headerList: UnsafeMutablePointer<curl_slist>?
  private var lastHeader: UnsafeMutablePointer<curl_slist>?
  private var resolveList: UnsafeMutablePointer<curl_slist>?
  private var bodyCopy: UnsafeMutablePointer<UInt8>?
  /// Whether libcurl has rejected an option.
  private var hasFailed = false

  /// Nil without memory for it.
  init?() {
    guard let easy = curl_easy_init() else { return nil }
    self.easy = easy
    errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
    errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    socketRules = .allocate(capacity: 1)
    socketRules.initialize(
      to: nhs_socket_rules(judge: socketWanted, opened: socketOpened, context: nil, failure: 0))
  }

  deinit {
    curl_easy_cleanup(easy)
    freeLists()
    errorBuffer.deallocate()
    socketRules.deallocate()
  }

  /// Frees what libcurl only borrowed; called once the handle is out of the multi.
  func freeLists() {
    curl_slist_free_all(headerList)
    (headerList, lastHeader) = (nil, nil)
    curl_slist_free_all(resolveList)
    resolveList = nil
    bodyCopy?.deallocate()
    bodyCopy = nil
  }

  /// Forgets the transfer that has ended, for the next one.
  func reset() {
    curl_easy_reset(easy)
    errorBuffer.pointee = 0
    socketRules.pointee.failure = 0
  }

  // MARK: What libcurl says

  /// Its words for a fault.
  var words: String { String(cString: errorBuffer) }

  /// Why no socket could be had.
  var socketFailure: Int32 { socketRules.pointee.failure }

  func number(_ info: CURLINFO) -> Int { nhs_easy_get_long(easy, info) }

  var httpVersion: ConnectionFacts.Version {
    switch number(CURLINFO_HTTP_VERSION) {
    case 1: .http10
    case 2: .http11
    case 3: .http2
    case 30: .http3
    default: .unknown
    }
  }

  /// - Parameter lookupTime: microseconds that the name took before libcurl began.
  func timings(after lookupTime: Int64) -> TransferTimings {
    var timings = TransferTimings()
    func microseconds(_ info: CURLINFO) -> Int64 {
      let own = Int64(nhs_easy_get_offset(easy, info))
      return own > 0 ? own + lookupTime : 0
    }
    timings.nameLookup = microseconds(CURLINFO_NAMELOOKUP_TIME_T)
    timings.connect = microseconds(CURLINFO_CONNECT_TIME_T)
    timings.tls = microseconds(CURLINFO_APPCONNECT_TIME_T)
    timings.firstByte = microseconds(CURLINFO_STARTTRANSFER_TIME_T)
    timings.total = microseconds(CURLINFO_TOTAL_TIME_T)
    return timings
  }

  // MARK: What libcurl is told

  /// - Throws: `outOfMemory`, which alone explains that libcurl rejects an option; what a certificate can't be used for.
  func configure(_ transfer: Transfer, _ surroundings: TransportSurroundings) throws(TransportFault) {
    let request = transfer.request
    let context = transfer.context
    socketRules.pointee.context = context
    set(CURLOPT_PRIVATE, context)
    set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorBuffer))
    set(CURLOPT_URL, request.connectsOnly ? request.url.plainPlace : request.url.address)
    if request.connectsOnly { configureConnection(request) }
    set(CURLOPT_PATH_AS_IS, 1)  // dot segments are resolved already, by the rules of our own keys
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)  // each hop is judged above
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)  // or unknown codings were errors
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_QUICK_EXIT, 1)  // a cancel must not wait for getaddrinfo
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))  // silence has its own watch
    note(nhs_easy_set_header_callback(easy, headerArrived, context))
    note(nhs_easy_set_write_callback(easy, bodyArrived, context))
    note(nhs_easy_set_socket_rules(easy, socketRules))
    note(
      nhs_easy_set_close_callback(
        easy, socketUnwanted, Unmanaged.passUnretained(transfer.connection.sockets).toOpaque()))
    note(nhs_easy_set_prereq_callback(easy, connectionReady, context))
    if request.url.scheme == .https, !request.connectsOnly {
      configureVersion(transfer)
      try configureTrust(request, surroundings)
    }
    if !isIdempotent(method: request.method) { configureOnceOnly(transfer) }
    configureRoute(transfer)
    configureMethod(request, transfer)
    try configureCertificate(request)
    configureCredentials(request)
    configureHeaders(request, transfer)
    if hasFailed { throw Self.noMemory }
  }

  static let noMemory = TransportFault(.outOfMemory, "no memory for what libcurl is told")

  private func configureConnection(_ request: TransferRequest) {
    set(CURLOPT_CONNECT_ONLY, 1)
    set(CURLOPT_FRESH_CONNECT, 1)
    if request.url.scheme == .https { set(CURLOPT_HTTPPROXYTUNNEL, 1) }
  }

  /// For what can't be sent again when its connection breaks.
  private func configureOnceOnly(_ transfer: Transfer) {
    // Rather on no connection that its server may be about to close: in seconds, idle ones.
    set(CURLOPT_MAXAGE_CONN, 2)
    if transfer.request.url.scheme == .https { listen(transfer) }
  }

  private func listen(_ transfer: Transfer) {
    set(CURLOPT_VERBOSE, 1)
    note(nhs_easy_set_debug_callback(easy, remarkMade, transfer.context))
  }

  private func configureVersion(_ transfer: Transfer) {
    let isHTTP1 = transfer.pool.isHTTP1
    // CURL_HTTP_VERSION_1_1 and CURL_HTTP_VERSION_2TLS
    set(CURLOPT_HTTP_VERSION, isHTTP1 ? 2 : 4)
    // Rather a stream of the connection that is being made than one more.
    set(CURLOPT_PIPEWAIT, isHTTP1 ? 0 : 1)
    if isHTTP1 { listen(transfer) }
  }

  /// Has it sent over connections of another kind. False when libcurl rejected an option.
  func changeVersion(_ transfer: Transfer) -> Bool {
    configureVersion(transfer)
    return !hasFailed
  }

  /// libcurl remembers addresses for so many seconds. `NameLookups` remembers them for longer. At the end of each transfer,
  /// libcurl 7.88 looks at every address that it remembers: for 60,000 URLs at 30,000 hosts it took
  /// 89 of 223 s of processor time (`Tests/Soak/prefetch.py --urls 60000 --hosts 30000`).
  private static let addressesKept = 3

  /// Both options of the proxy always, so that libcurl never looks into the environment itself.
  private func configureRoute(_ transfer: Transfer) {
    set(CURLOPT_PROXY, transfer.route.proxy ?? "")
    set(CURLOPT_NOPROXY, "")
    set(CURLOPT_DNS_CACHE_TIMEOUT, Self.addressesKept)
    guard let resolution = transfer.route.resolution(port: transfer.request.url.port) else { return }
    if let list = curl_slist_append(nil, resolution) {
      resolveList = list
      note(nhs_easy_set_list(easy, CURLOPT_RESOLVE, list))
    } else {
      note(CURLE_OUT_OF_MEMORY)
    }
  }

  private func configureMethod(_ request: TransferRequest, _ transfer: Transfer) {
    if request.method == "HEAD" {
      set(CURLOPT_NOBODY, 1)
    } else if let upload = request.extras?.upload {
      set(CURLOPT_POST, 1)
      note(nhs_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(upload.count)))
      note(nhs_easy_set_read_callback(easy, bodyWanted, transfer.context))
      note(nhs_easy_set_seek_callback(easy, bodyMoved, transfer.context))
      if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
      watchUpload(transfer)
    } else if !request.body.isEmpty || request.method == "POST" {
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(request.body.count, 1))
      copy.initialize(to: 0)
      request.body.withUnsafeBufferPointer { body in
        if let base = body.baseAddress { copy.update(from: base, count: body.count) }
      }
      bodyCopy = copy
      set(CURLOPT_POSTFIELDS, copy)
      note(nhs_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
      if request.method != "POST" { set(CURLOPT_CUSTOMREQUEST, request.method) }
      watchUpload(transfer)
    } else if request.method != "GET" {
      set(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  /// Only an upload can move without a byte coming back.
  private func watchUpload(_ transfer: Transfer) {
    set(CURLOPT_NOPROGRESS, 0)
    note(nhs_easy_set_progress_callback(easy, progressMade, transfer.context))
  }

  private func configureTrust(
    _ request: TransferRequest, _ surroundings: TransportSurroundings
  ) throws(TransportFault) {
    let (file, folder): (String?, String?)
    switch request.extras?.trust {
    case .authorities(let ownFile, let ownFolder)?: (file, folder) = (ownFile, ownFolder)
    case .unchecked?:
      set(CURLOPT_SSL_VERIFYPEER, 0)
      set(CURLOPT_SSL_VERIFYHOST, 0)
      return
    case nil:
      if let file = surroundings.certificateFile { set(CURLOPT_CAINFO, file) }
      if let folder = surroundings.certificateFolder { set(CURLOPT_CAPATH, folder) }
      return
    }
    // Of what isn't there, or is no file, libcurl says too little, and a pipe would hold up the loop.
    try Self.check(file, isFolder: false)
    try Self.check(folder, isFolder: true)
    // Nil takes the system's away.
    for (option, path) in [(CURLOPT_CAINFO, file), (CURLOPT_CAPATH, folder)] {
      if let path { set(option, path) } else { note(nhs_easy_set_pointer(easy, option, nil)) }
    }
  }

  private static func check(_ path: String?, isFolder: Bool) throws(TransportFault) {
    guard let path else { return }
    var status = stat()
    let what = isFolder ? "folder" : "file"
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      throw TransportFault(
        .tls,
        "the \(what) of certificates to trust can't be read: \(path): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
      throw TransportFault(.tls, "the \(what) of certificates to trust is no \(what): \(path)")
    }
  }

  /// Of the files that were checked libcurl gets the bytes: by their names it might open others.
  private func configureCertificate(_ request: TransferRequest) throws(TransportFault) {
    guard request.url.scheme == .https, let certificate = request.extras?.certificate else { return }
    set(CURLOPT_SSLCERT_BLOB, try Self.content(of: certificate.path, "certificate"))
    if let key = certificate.key {
      set(CURLOPT_SSLKEY_BLOB, try Self.content(of: key, "certificate's key"))
    }
    // Without one OpenSSL would ask for it on the terminal, and the loop wait for what is typed.
    set(CURLOPT_KEYPASSWD, certificate.password ?? "")
  }

  private static func content(of path: String, _ what: String) throws(TransportFault) -> [UInt8] {
    if let bytes = try NamedFile.read(path) { return bytes }
    throw TransportFault(.tls, "the \(what) can't be read: \(path): \(String(cString: strerror(errno)))")
  }

  private func configureCredentials(_ request: TransferRequest) {
    let signIn = request.extras?.signIn ?? .basic
    if signIn == .negotiate, request.credentials == nil {
      // libcurl wants a name; whose ticket it is the system knows.
      set(CURLOPT_HTTPAUTH, signIn.bits)
      set(CURLOPT_USERPWD, ":")
    }
    guard let credentials = request.credentials else { return }
    // Negotiate uses no password, and libcurl would take nothing else where a server offers it.
    let isForPasswords = signIn == .any && !credentials.password.isEmpty
    let left = isForPasswords ? TransferExtras.SignIn.negotiate.bits : 0
    set(CURLOPT_HTTPAUTH, signIn.bits & ~left)
    // As bytes: what came out of a URL's escapes need not be UTF-8. libcurl copies them.
    for (option, bytes) in [
      (CURLOPT_USERNAME, credentials.user), (CURLOPT_PASSWORD, credentials.password),
    ] {
      (bytes + [0]).withUnsafeBytes { if let base = $0.baseAddress { set(option, base) } }
    }
  }

  /// The headers once more, without `Expect`. False without memory for them.
  func replaceHeaders(_ transfer: Transfer) -> Bool {
    let before = headerList
    (headerList, lastHeader) = (nil, nil)
    configureHeaders(transfer.request, transfer)
    curl_slist_free_all(before)
    return !hasFailed
  }

  private func configureHeaders(_ request: TransferRequest, _ transfer: Transfer) {
    let isExpectRejected = transfer.isExpectRejected
    let isStreamed = transfer.feed != nil
    for field in request.headers.fields where !isExpectRejected || !field.name.equalsIgnoringCase("Expect") {
      // libcurl takes "Name:" as "leave this one out" and "Name;" as "send it empty".
      add(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    if request.acceptsCompressed, !request.headers.contains("Accept-Encoding") {
      add("Accept-Encoding: \(ContentDecoder.accepted)")
    }
    // What libcurl would add to a body by itself is a claim about content that only the caller can make, and a wait.
    // For what is streamed, libcurl asks with `Expect`, and waits a second for the answer. A 417 is answered by us: libcurl
    // goes on with the same connection, over which some of the body may have gone.
    if bodyCopy != nil || isStreamed {
      if !request.headers.contains("Content-Type") { add("Content-Type:") }
      if isExpectRejected || !isStreamed && !request.headers.contains("Expect") { add("Expect:") }
    }
    if headerList != nil { note(nhs_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList)) }
  }

  private func add(_ line: String) {
    // Behind the last one: from the first, libcurl would walk along all of them.
    guard let list = line.withCString({ curl_slist_append(lastHeader ?? headerList, $0) }) else {
      return note(CURLE_OUT_OF_MEMORY)
    }
    if headerList == nil { headerList = list }
    lastHeader = list.pointee.next ?? list
  }

  private func note(_ code: CURLcode) { if code != CURLE_OK { hasFailed = true } }

  private func set(_ option: CURLoption, _ value: Int) { note(nhs_easy_set_long(easy, option, value)) }
  private func set(_ option: CURLoption, _ value: String) {
    note(value.withCString { nhs_easy_set_string(easy, option, $0) })
  }
  private func set(_ option: CURLoption, _ value: [UInt8]) {
    note(nhs_easy_set_bytes(easy, option, value, value.count))
  }
  private func set(_ option: CURLoption, _ value: UnsafeRawPointer) {
    note(nhs_easy_set_pointer(easy, option, value))
  }
}

extension WebURL {
  /// The server's port without its TLS.
  fileprivate var plainPlace: String { "http://\(host):\(port)/" }
}

extension TransferExtras.SignIn {
  /// CURLAUTH_BASIC and others, macros that Swift does not see.
  fileprivate var bits: Int {
    switch self {
    case .basic: 1
    case .digest: 2
    case .negotiate: 4
    case .ntlm: 8
    case .any: 1 | 2 | 4 | 8
    }
  }
}
