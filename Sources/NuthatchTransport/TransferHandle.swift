import CSystem
import Glibc

/// An easy handle of libcurl, used by one transfer after another. Sets the options, owns the memory that libcurl points to, and
/// reads the results.
///
/// Used only on the loop's thread.
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

  /// Returns nil if there is no memory for it.
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
    freeOptionMemory()
    errorBuffer.deallocate()
    socketRules.deallocate()
  }

  /// Frees the memory whose pointers libcurl has. Call it after the handle is removed from the multi handle.
  func freeOptionMemory() {
    curl_slist_free_all(headerList)
    (headerList, lastHeader) = (nil, nil)
    curl_slist_free_all(resolveList)
    resolveList = nil
    bodyCopy?.deallocate()
    bodyCopy = nil
  }

  /// Resets the handle for the next transfer.
  func reset() {
    curl_easy_reset(easy)
    errorBuffer.pointee = 0
    socketRules.pointee.failure = 0
  }

  // MARK: Reading results

  /// The text of libcurl's error.
  var errorText: String { String(cString: errorBuffer) }

  /// The error number of the last socket that couldn't be opened. 0: none.
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

  /// - Parameter lookupTime: microseconds of the name lookup before libcurl began.
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

  // MARK: Setting options

  /// - Throws: `outOfMemory`, the only reason why libcurl rejects an option; `tls` or `unsafeFile` if a file of certificates or
  ///   keys can't be used.
  func configure(_ transfer: Transfer, _ environment: TransportEnvironment) throws(TransportFault) {
    let request = transfer.request
    let context = transfer.context
    socketRules.pointee.context = context
    set(CURLOPT_PRIVATE, context)
    set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorBuffer))
    set(CURLOPT_URL, request.connectsOnly ? request.url.plainPlace : request.url.address)
    if request.connectsOnly { configureConnection(request) }
    set(CURLOPT_PATH_AS_IS, 1)  // `WebURL` has resolved dot segments already
    set(CURLOPT_PROTOCOLS_STR, "http,https")
    set(CURLOPT_FOLLOWLOCATION, 0)  // the caller decides about redirects
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)  // otherwise an unknown coding would be an error
    set(CURLOPT_NOSIGNAL, 1)
    set(CURLOPT_QUICK_EXIT, 1)  // a cancel must not wait for getaddrinfo
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))  // `TransferRequest.silence` limits the wait
    note(nhs_easy_set_header_callback(easy, headerArrived, context))
    note(nhs_easy_set_write_callback(easy, bodyArrived, context))
    note(nhs_easy_set_socket_rules(easy, socketRules))
    note(
      nhs_easy_set_close_callback(
        easy, closeSocket, Unmanaged.passUnretained(transfer.connection.sockets).toOpaque()))
    note(nhs_easy_set_prereq_callback(easy, connectionReady, context))
    if request.url.scheme == .https, !request.connectsOnly {
      configureVersion(transfer)
      try configureTrust(request, environment)
    }
    if !isIdempotent(method: request.method) { configureOnceOnly(transfer) }
    configureRoute(transfer, environment)
    configureMethod(request, transfer)
    try configureCertificate(request)
    try configureCredentials(request)
    configureHeaders(request, transfer)
    if hasFailed { throw Self.noMemory }
  }

  static let noMemory = TransportFault(.outOfMemory, "there is no memory for libcurl's options")

  private static let cannotNegotiate = TransportFault(
    .invalid,
    "signing in by Negotiate (Kerberos) needs a libcurl that has it and the library libgssapi_krb5.so.2, which can't be "
      + "loaded: install the system's package of it (Debian: libgssapi-krb5-2, Fedora: krb5-libs)")

  private func configureConnection(_ request: TransferRequest) {
    set(CURLOPT_CONNECT_ONLY, 1)
    set(CURLOPT_FRESH_CONNECT, 1)
    if request.url.scheme == .https { set(CURLOPT_HTTPPROXYTUNNEL, 1) }
  }

  /// Options for a request that must not be sent twice.
  private func configureOnceOnly(_ transfer: Transfer) {
    // Don't reuse a connection that has been idle for more than 2 seconds: its server may be about to close it.
    set(CURLOPT_MAXAGE_CONN, 2)
    if transfer.request.url.scheme == .https { readLog(transfer) }
  }

  private func readLog(_ transfer: Transfer) {
    set(CURLOPT_VERBOSE, 1)
    note(nhs_easy_set_debug_callback(easy, logLineWritten, transfer.context))
  }

  private func configureVersion(_ transfer: Transfer) {
    let isHTTP1 = transfer.pool.isHTTP1
    // CURL_HTTP_VERSION_1_1 and CURL_HTTP_VERSION_2TLS
    set(CURLOPT_HTTP_VERSION, isHTTP1 ? 2 : 4)
    // Wait for a connection that is being opened, and use a stream on it, instead of opening another.
    set(CURLOPT_PIPEWAIT, isHTTP1 ? 0 : 1)
    if isHTTP1 { readLog(transfer) }
  }

  /// Sets the version for the other connection pool. Returns false if libcurl rejected an option.
  func changeVersion(_ transfer: Transfer) -> Bool {
    configureVersion(transfer)
    return !hasFailed
  }

  /// How many seconds libcurl keeps addresses; `NameLookups` keeps them for longer. It is short, because libcurl 7.88 checks
  /// all kept addresses at the end of each transfer: for 60,000 URLs at 30,000 hosts that took 89 of 223 s of processor time
  /// (`Tests/Soak/prefetch.py --urls 60000 --hosts 30000`).
  private static let addressesKept = 3

  /// Always sets both proxy options, so that libcurl never reads the environment.
  private func configureRoute(_ transfer: Transfer, _ environment: TransportEnvironment) {
    set(CURLOPT_PROXY, transfer.route.proxy ?? "")
    set(CURLOPT_NOPROXY, "")
    // Only the system's certificates count for a proxy over https.
    if transfer.route.proxy != nil, let system = environment.system {
      if let file = system.file { set(CURLOPT_PROXY_CAINFO, file) }
      if let folder = system.folder { set(CURLOPT_PROXY_CAPATH, folder) }
    }
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
      note(nhs_easy_set_read_callback(easy, uploadWanted, transfer.context))
      note(nhs_easy_set_seek_callback(easy, uploadRewound, transfer.context))
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

  /// Makes libcurl report sent bytes. During an upload, a transfer makes progress although no byte is received.
  private func watchUpload(_ transfer: Transfer) {
    set(CURLOPT_NOPROGRESS, 0)
    note(nhs_easy_set_progress_callback(easy, progressMade, transfer.context))
  }

  private func configureTrust(
    _ request: TransferRequest, _ environment: TransportEnvironment
  ) throws(TransportFault) {
    let (file, folder): (String?, String?)
    switch request.extras?.trust {
    case .authorities(let ownFile, let ownFolder)?: (file, folder) = (ownFile, ownFolder)
    case .unchecked?:
      set(CURLOPT_SSL_VERIFYPEER, 0)
      set(CURLOPT_SSL_VERIFYHOST, 0)
      return
    case nil:
      let file = environment.certificateFile ?? environment.system?.file
      let folder = environment.certificateFolder ?? environment.system?.folder
      if environment.system != nil, file == nil, folder == nil { throw SystemCertificates.missing }
      if let file { set(CURLOPT_CAINFO, file) }
      if let folder { set(CURLOPT_CAPATH, folder) }
      return
    }
    // Check them before libcurl reads them: its error for a missing file doesn't name the file, and a pipe would block the
    // loop.
    try Self.check(file, isFolder: false)
    try Self.check(folder, isFolder: true)
    // Nil removes the system's certificates.
    for (option, path) in [(CURLOPT_CAINFO, file), (CURLOPT_CAPATH, folder)] {
      if let path { set(option, path) } else { note(nhs_easy_set_pointer(easy, option, nil)) }
    }
  }

  private static func check(_ path: String?, isFolder: Bool) throws(TransportFault) {
    guard let path else { return }
    var status = stat()
    guard stat(path, &status) == 0, access(path, R_OK) == 0 else {
      throw TransportFault(
        .tls,
        "the trusted certificates can't be read: \(path.printable): \(String(cString: strerror(errno)))")
    }
    guard status.st_mode & S_IFMT == (isFolder ? S_IFDIR : S_IFREG) else {
      let wanted = isFolder ? "folder" : "regular file"
      throw TransportFault(
        .tls, "the trusted certificates can't be read: \(path.printable) is not a \(wanted)")
    }
  }

  /// Passes the bytes of the checked files. With a path, libcurl would open the file again, perhaps another one by then.
  private func configureCertificate(_ request: TransferRequest) throws(TransportFault) {
    guard request.url.scheme == .https, let certificate = request.extras?.certificate else { return }
    set(CURLOPT_SSLCERT_BLOB, try Self.content(of: certificate.path, "certificate"))
    if let key = certificate.key {
      set(CURLOPT_SSLKEY_BLOB, try Self.content(of: key, "certificate's key"))
    }
    // Without a password OpenSSL would ask on the terminal and block the loop.
    set(CURLOPT_KEYPASSWD, certificate.password ?? "")
  }

  private static func content(of path: String, _ what: String) throws(TransportFault) -> [UInt8] {
    if let bytes = try NamedFile.read(path) { return bytes }
    throw TransportFault(
      .tls, "the \(what) can't be read: \(path.printable): \(String(cString: strerror(errno)))")
  }

  private func configureCredentials(_ request: TransferRequest) throws(TransportFault) {
    let signIn = request.extras?.signIn ?? .basic
    let mayNegotiate = signIn.bits & TransferExtras.SignIn.negotiate.bits != 0
    let canNegotiate = mayNegotiate && nhs_curl_can_negotiate() != 0
    if signIn == .negotiate, !canNegotiate { throw Self.cannotNegotiate }
    if signIn == .negotiate, request.credentials == nil {
      // libcurl needs a user name here; Kerberos knows whose ticket it is.
      set(CURLOPT_HTTPAUTH, signIn.bits)
      set(CURLOPT_USERPWD, ":")
    }
    guard let credentials = request.credentials else { return }
    // Leave out Negotiate: libcurl would prefer it, although it doesn't use the password.
    let isForPasswords = signIn == .any && !credentials.password.isEmpty
    let leftOut = isForPasswords || !canNegotiate ? TransferExtras.SignIn.negotiate.bits : 0
    set(CURLOPT_HTTPAUTH, signIn.bits & ~leftOut)
    // As bytes, because those from a URL's escapes need not be UTF-8. libcurl copies them.
    for (option, bytes) in [
      (CURLOPT_USERNAME, credentials.user), (CURLOPT_PASSWORD, credentials.password),
    ] {
      (bytes + [0]).withUnsafeBytes { if let base = $0.baseAddress { set(option, base) } }
    }
  }

  /// Sets the headers again, without `Expect`. Returns false if there is no memory for them.
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
      // To libcurl, "Name:" means "omit this header" and "Name;" means "send it empty".
      add(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    if request.acceptsCompressed, !request.headers.contains("Accept-Encoding") {
      add("Accept-Encoding: \(ContentDecoder.accepted)")
    }
    // By default libcurl adds a Content-Type. Only the caller can know it, so remove it. libcurl also adds `Expect` to long
    // bodies, and waits up to a second for the answer. Remove `Expect` unless the body is streamed. `Transfer.takeHeader`
    // handles a 417: libcurl would send the request again on the same connection, although a part of the body may already be
    // sent.
    if bodyCopy != nil || isStreamed {
      if !request.headers.contains("Content-Type") { add("Content-Type:") }
      if isExpectRejected || !isStreamed && !request.headers.contains("Expect") { add("Expect:") }
    }
    if headerList != nil { note(nhs_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList)) }
  }

  private func add(_ line: String) {
    // Append to the last entry, because `curl_slist_append` walks the list from the entry that it gets.
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
  /// A URL of the server's host and port, to connect without TLS.
  fileprivate var plainPlace: String { "http://\(host):\(port)/" }
}

extension TransferExtras.SignIn {
  /// CURLAUTH_BASIC and others, macros that Swift doesn't see.
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
