import CSystem
import Glibc

// The options of one transfer's easy handle.
extension Transfer {
  /// - Throws: `outOfMemory`, which alone explains that libcurl refuses an option; what a certificate can't be used for.
  func configure(_ surroundings: TransportSurroundings) throws(TransportFault) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    let setter = OptionSetter(easy)
    setter.set(CURLOPT_PRIVATE, context)
    setter.set(CURLOPT_ERRORBUFFER, UnsafeRawPointer(errorBuffer))
    setter.set(CURLOPT_URL, request.connectsOnly ? request.url.plainPlace : request.url.address)
    if request.connectsOnly { configureConnection(setter) }
    setter.set(CURLOPT_PATH_AS_IS, 1)  // dot segments are resolved already, by the rules of our own keys
    setter.set(CURLOPT_PROTOCOLS_STR, "http,https")
    setter.set(CURLOPT_FOLLOWLOCATION, 0)  // each hop is judged above
    setter.set(CURLOPT_HTTP_CONTENT_DECODING, 0)  // or unknown codings were errors
    setter.set(CURLOPT_NOSIGNAL, 1)
    setter.set(CURLOPT_QUICK_EXIT, 1)  // a cancel must not wait for getaddrinfo
    setter.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    setter.set(CURLOPT_CONNECTTIMEOUT_MS, Int(Int32.max))  // silence has its own watch
    setter.note(nhs_easy_set_header_callback(easy, headerArrived, context))
    setter.note(nhs_easy_set_write_callback(easy, bodyArrived, context))
    setter.note(nhs_easy_set_socket_rules(easy, socketRules))
    setter.note(
      nhs_easy_set_close_callback(easy, socketUnwanted, Unmanaged.passUnretained(sockets).toOpaque()))
    setter.note(nhs_easy_set_prereq_callback(easy, connectionReady, context))
    if request.url.scheme == .https, !request.connectsOnly {
      configureVersion(setter)
      if let file = surroundings.certificateFile { setter.set(CURLOPT_CAINFO, file) }
      if let folder = surroundings.certificateFolder { setter.set(CURLOPT_CAPATH, folder) }
    }
    if !isIdempotent(method: request.method) { configureOnceOnly(setter, context) }
    configureRoute(setter)
    configureMethod(setter)
    try configureCertificate(setter)
    configureCredentials(setter)
    configureHeaders(setter)
    if setter.isRefused { throw Self.noMemory }
  }

  static let noMemory = TransportFault(.outOfMemory, "no memory for what libcurl is told")

  private func configureConnection(_ setter: OptionSetter) {
    setter.set(CURLOPT_CONNECT_ONLY, 1)
    setter.set(CURLOPT_FRESH_CONNECT, 1)
    if request.url.scheme == .https { setter.set(CURLOPT_HTTPPROXYTUNNEL, 1) }
  }

  /// For what can't be sent again when its connection breaks.
  private func configureOnceOnly(_ setter: OptionSetter, _ context: UnsafeMutableRawPointer) {
    // Rather on no connection that its server may be about to close: in seconds, idle ones.
    setter.set(CURLOPT_MAXAGE_CONN, 2)
    if request.url.scheme == .https { listen(setter, context) }
  }

  private func listen(_ setter: OptionSetter, _ context: UnsafeMutableRawPointer) {
    setter.set(CURLOPT_VERBOSE, 1)
    setter.note(nhs_easy_set_debug_callback(easy, remarkMade, context))
  }

  private func configureVersion(_ setter: OptionSetter) {
    // CURL_HTTP_VERSION_1_1 and CURL_HTTP_VERSION_2TLS
    setter.set(CURLOPT_HTTP_VERSION, pool.isHTTP1 ? 2 : 4)
    // Rather a stream of the connection that is being made than one more.
    setter.set(CURLOPT_PIPEWAIT, pool.isHTTP1 ? 0 : 1)
    if pool.isHTTP1 { listen(setter, Unmanaged.passUnretained(self).toOpaque()) }
  }

  /// Sends it over connections of another kind. False when libcurl refused an option.
  func move(to pool: ConnectionPool) -> Bool {
    self.pool = pool
    let setter = OptionSetter(easy)
    configureVersion(setter)
    return !setter.isRefused
  }

  /// libcurl remembers addresses for so many seconds. `NameLookups` remembers them for longer. At the end of each transfer,
  /// libcurl 7.88 looks at every address that it remembers: for 60,000 URLs at 30,000 hosts it took
  /// 89 of 223 s of processor time (`Tests/Soak/prefetch.py --urls 60000 --hosts 30000`).
  private static let addressesKept = 3

  /// Both options of the proxy always, so that libcurl never looks into the environment itself.
  private func configureRoute(_ setter: OptionSetter) {
    setter.set(CURLOPT_PROXY, route.proxy ?? "")
    setter.set(CURLOPT_NOPROXY, "")
    setter.set(CURLOPT_DNS_CACHE_TIMEOUT, Self.addressesKept)
    guard let resolution = route.resolution(port: request.url.port) else { return }
    if let list = curl_slist_append(nil, resolution) {
      resolveList = list
      setter.note(nhs_easy_set_list(easy, CURLOPT_RESOLVE, list))
    } else {
      setter.note(CURLE_OUT_OF_MEMORY)
    }
  }

  private func configureMethod(_ setter: OptionSetter) {
    if request.method == "HEAD" {
      setter.set(CURLOPT_NOBODY, 1)
    } else if let upload = request.extras?.upload {
      let context = Unmanaged.passUnretained(self).toOpaque()
      setter.set(CURLOPT_POST, 1)
      setter.note(nhs_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(upload.count)))
      setter.note(nhs_easy_set_read_callback(easy, bodyWanted, context))
      setter.note(nhs_easy_set_seek_callback(easy, bodyMoved, context))
      if request.method != "POST" { setter.set(CURLOPT_CUSTOMREQUEST, request.method) }
      watchUpload(setter)
    } else if !request.body.isEmpty || request.method == "POST" {
      let copy = UnsafeMutablePointer<UInt8>.allocate(capacity: max(request.body.count, 1))
      copy.initialize(to: 0)
      request.body.withUnsafeBufferPointer { body in
        if let base = body.baseAddress { copy.update(from: base, count: body.count) }
      }
      bodyCopy = copy
      setter.set(CURLOPT_POSTFIELDS, copy)
      setter.note(nhs_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count)))
      if request.method != "POST" { setter.set(CURLOPT_CUSTOMREQUEST, request.method) }
      watchUpload(setter)
    } else if request.method != "GET" {
      setter.set(CURLOPT_CUSTOMREQUEST, request.method)
    }
  }

  /// Only an upload can move without a byte coming back.
  private func watchUpload(_ setter: OptionSetter) {
    setter.set(CURLOPT_NOPROGRESS, 0)
    setter.note(
      nhs_easy_set_progress_callback(easy, progressMade, Unmanaged.passUnretained(self).toOpaque()))
  }

  /// Of the files that were checked libcurl gets the bytes: by their names it might open others.
  private func configureCertificate(_ setter: OptionSetter) throws(TransportFault) {
    guard request.url.scheme == .https, let certificate = request.extras?.certificate else { return }
    setter.set(CURLOPT_SSLCERT_BLOB, try Self.content(of: certificate.path, "certificate"))
    if let key = certificate.key {
      setter.set(CURLOPT_SSLKEY_BLOB, try Self.content(of: key, "certificate's key"))
    }
    // Without one OpenSSL would ask for it on the terminal, and the loop wait for what is typed.
    setter.set(CURLOPT_KEYPASSWD, certificate.password ?? "")
  }

  private static func content(of path: String, _ what: String) throws(TransportFault) -> [UInt8] {
    if let bytes = try NamedFile.read(path) { return bytes }
    throw TransportFault(.tls, "the \(what) can't be read: \(path): \(String(cString: strerror(errno)))")
  }

  private func configureCredentials(_ setter: OptionSetter) {
    let signIn = request.extras?.signIn ?? .basic
    if signIn == .negotiate, request.credentials == nil {
      // libcurl wants a name; whose ticket it is the system knows.
      setter.set(CURLOPT_HTTPAUTH, signIn.bits)
      setter.set(CURLOPT_USERPWD, ":")
    }
    guard let credentials = request.credentials else { return }
    // Negotiate uses no password, and libcurl would take nothing else where a server offers it.
    let isForPasswords = signIn == .any && !credentials.password.isEmpty
    let left = isForPasswords ? TransferExtras.SignIn.negotiate.bits : 0
    setter.set(CURLOPT_HTTPAUTH, signIn.bits & ~left)
    // As bytes: what came out of a URL's escapes need not be UTF-8. libcurl copies them.
    for (option, bytes) in [
      (CURLOPT_USERNAME, credentials.user), (CURLOPT_PASSWORD, credentials.password),
    ] {
      (bytes + [0]).withUnsafeBytes { if let base = $0.baseAddress { setter.set(option, base) } }
    }
  }

  /// Whether the request asks with `Expect` before its body is sent.
  var asksBeforeSending: Bool {
    guard request.hasBody, !isExpectRefused else { return false }
    if let own = request.headers["Expect"] { return own.equalsIgnoringCase("100-continue") }
    return feed != nil && request.bodyCount > Self.expectingSize
  }

  /// libcurl asks by itself for what is longer.
  private static let expectingSize: Int64 = 1 << 20

  /// The headers once more, without `Expect`. False without memory for them.
  func replaceHeaders() -> Bool {
    let setter = OptionSetter(easy)
    let before = headerList
    (headerList, lastHeader) = (nil, nil)
    configureHeaders(setter)
    curl_slist_free_all(before)
    return !setter.isRefused
  }

  private func configureHeaders(_ setter: OptionSetter) {
    for field in request.headers.fields where !isExpectRefused || !field.name.equalsIgnoringCase("Expect") {
      // libcurl takes "Name:" as "leave this one out" and "Name;" as "send it empty".
      add(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)", setter)
    }
    if request.acceptsCompressed, !request.headers.contains("Accept-Encoding") {
      add("Accept-Encoding: \(ContentDecoder.accepted)", setter)
    }
    // What libcurl would add to a body by itself is a claim about content that only the caller can make, and a wait.
    // For what is streamed, libcurl asks with `Expect`, and waits a second for the answer. A 417 is answered by us: libcurl
    // goes on with the same connection, over which some of the body may have gone.
    if bodyCopy != nil || feed != nil {
      if !request.headers.contains("Content-Type") { add("Content-Type:", setter) }
      if isExpectRefused || feed == nil && !request.headers.contains("Expect") { add("Expect:", setter) }
    }
    if headerList != nil { setter.note(nhs_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList)) }
  }

  private func add(_ line: String, _ setter: OptionSetter) {
    // Behind the last one: from the first, libcurl would walk along all of them.
    guard let list = curl_slist_append(lastHeader ?? headerList, line) else {
      return setter.note(CURLE_OUT_OF_MEMORY)
    }
    if headerList == nil { headerList = list }
    lastHeader = list.pointee.next ?? list
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

/// Sets options and remembers whether one was refused.
private final class OptionSetter {
  private let easy: UnsafeMutableRawPointer
  private(set) var isRefused = false

  init(_ easy: UnsafeMutableRawPointer) { self.easy = easy }

  func note(_ code: CURLcode) { if code != CURLE_OK { isRefused = true } }

  func set(_ option: CURLoption, _ value: Int) { note(nhs_easy_set_long(easy, option, value)) }
  func set(_ option: CURLoption, _ value: String) { note(nhs_easy_set_string(easy, option, value)) }
  func set(_ option: CURLoption, _ value: [UInt8]) {
    note(nhs_easy_set_bytes(easy, option, value, value.count))
  }
  func set(_ option: CURLoption, _ value: UnsafeRawPointer) {
    note(nhs_easy_set_pointer(easy, option, value))
  }
}
