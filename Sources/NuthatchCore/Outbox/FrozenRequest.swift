import NuthatchTransport

/// A request as the outbox stores it: complete except for its secrets, which are replaced by the names of their providers.
struct FrozenRequest: Sendable {
  typealias Secret = Request.Freezing.Secret

  enum Body: Sendable {
    case inline([UInt8])
    /// A body in the record that wasn't read; the number of its bytes.
    case unread(Int)
    /// A file beside the log.
    case file(name: String, count: Int64, checksum: UInt64)
    /// Bytes that must still be copied into such a file: other files, and the text of a form around them.
    case source(BodySource)
  }

  /// The URL as it was passed, if it is absolute and without a password; else `address`.
  var passedURL: String
  /// The URL as it is sent, without user and password.
  var address: String
  var method: String
  var headers: [(name: String, value: String)]
  var secrets: [Secret] = []
  /// The user's name, and the provider of the password. The name is nil if the request asks its program for credentials. Then
  /// the provider gives `name:password`.
  var user: (name: String?, provider: String)?
  /// How the credentials are sent; nil: Basic with the first request.
  var signIn: SignIn?
  var certificate: ClientCertificate?
  /// The proxy of the request's site, empty for no proxy; nil: the proxy of the sending cache.
  var proxy: String?
  /// Other options, by their names.
  var options: [(name: String, value: String)] = []
  /// The name of the queue, or the request's origin.
  var queue: String
  var isNamedQueue = false
  var handler: String?
  var tag: String?
  var guardGrade: Addresses
  /// In nanoseconds; nil for none.
  var silence: Int64?
  var maxBytes: Int64
  var attempts: Int
  var longest: Int64?
  var keyLifetime: Int64?
  /// The time at which the request was frozen.
  var frozen: DurableTime
  /// The time since which the server may know of the request; nil if no attempt can have reached it.
  var exposed: DurableTime?
  /// Whether the request was stored before its first attempt. `Entry.isLive` says whether that may still be under way.
  var isLive = false
  var body: Body

  var key: String? { headers.first { $0.name.equalsIgnoringCase("Idempotency-Key") }?.value }

  /// Whether sending the request twice has the same effect as once (RFC 9110, 9.2.2).
  var isIdempotent: Bool { NuthatchHTTP.isIdempotent(method: method) }

  var bodyBytes: Int64 {
    switch body {
    case .inline(let bytes): Int64(bytes.count)
    case .unread(let count): Int64(count)
    case .file(_, let count, _): count
    case .source(let source): source.count
    }
  }

  /// Whether the body is too long for a record, or must be copied from files.
  var needsFile: Bool {
    switch body {
    case .inline(let bytes): bytes.count > Self.longestInline
    case .source: true
    case .unread, .file: false
    }
  }

  static let freezableMethods: Set<String> = ["POST", "PUT", "PATCH", "DELETE"]
  /// A longer body gets its own file.
  static let longestInline = 65_536
}

// MARK: - In the log (docs/FORMAT.md)

extension RecordEncoder {
  mutating func put(_ stamp: DurableTime?) {
    put(UInt8(stamp == nil ? 0 : 1))
    guard let stamp else { return }
    put(stamp.wall)
    put(stamp.running)
    put(stamp.boot)
  }

  mutating func put(optional text: String?) {
    put(UInt8(text == nil ? 0 : 1))
    if let text { put(text) }
  }

  mutating func put(optional number: Int64?) { put(number ?? -1) }

  mutating func put(fields: [(name: String, value: String)]) {
    put(UInt32(clamping: fields.count))
    for field in fields {
      put(field.name)
      put(field.value)
    }
  }
}

extension RecordDecoder {
  mutating func stamp() throws(Damaged) -> DurableTime? {
    guard try number(UInt8.self) != 0 else { return nil }
    let (wall, running) = (try number(Int64.self), try number(Int64.self))
    return DurableTime(wall: wall, running: running, boot: try number())
  }

  mutating func optionalText() throws(Damaged) -> String? { try number(UInt8.self) == 0 ? nil : try text() }

  mutating func optionalNumber() throws(Damaged) -> Int64? {
    let found: Int64 = try number()
    return found < 0 ? nil : found
  }

  mutating func fields() throws(Damaged) -> [(name: String, value: String)] {
    var fields: [(String, String)] = []
    for _ in 0..<(try number(UInt32.self)) {
      let name = try text()
      fields.append((name, try text()))
    }
    return fields
  }
}

extension FrozenRequest {
  func encode(into encoder: inout RecordEncoder) {
    let hasSignIn = signIn != nil || certificate != nil
    let asked = user?.name == nil ? user?.provider : nil
    var flags: UInt8 = isNamedQueue ? 1 : 0
    if isLive { flags |= 4 }
    if hasSignIn { flags |= 8 }
    if asked != nil { flags |= 16 }
    if proxy != nil { flags |= 32 }
    if !options.isEmpty { flags |= 64 }
    encoder.put(flags)
    encoder.put(frozen)
    encoder.put(exposed)
    encoder.put(passedURL)
    encoder.put(address)
    encoder.put(method)
    encoder.put(fields: headers)
    encoder.put(UInt32(clamping: secrets.count))
    for secret in secrets {
      encoder.put(secret.header)
      encoder.put(secret.prefix)
      encoder.put(secret.provider)
    }
    encoder.put(optional: user?.name)
    encoder.put(optional: asked == nil ? user?.provider : nil)
    encoder.put(queue)
    encoder.put(optional: handler)
    encoder.put(optional: tag)
    // Stored from 0 on, as in version 0.1.
    encoder.put(guardGrade.rawValue - 1)
    encoder.put(optional: silence)
    encoder.put(maxBytes)
    encoder.put(UInt32(clamping: attempts))
    encoder.put(optional: longest)
    encoder.put(optional: keyLifetime)
    switch body {
    case .inline(let bytes):
      encoder.put(UInt8(0))
      encoder.put(bytes)
    case .unread, .source: encoder.put(UInt8(2))
    case .file(let name, let count, let checksum):
      encoder.put(UInt8(1))
      encoder.put(name)
      encoder.put(count)
      encoder.put(checksum)
    }
    if hasSignIn {
      encoder.put(signIn?.rawValue ?? 0)
      encoder.put(optional: certificate?.path)
      encoder.put(optional: certificate?.key)
    }
    if let asked {
      encoder.put(asked)
      // With 1, version 0.1 doesn't send the request without its credentials.
      encoder.put(UInt8(1))
    }
    if let proxy { encoder.put(proxy) }
    if !options.isEmpty { encoder.put(fields: options) }
  }

  /// - Parameter withBody: whether to read the bytes of a body in the record. Otherwise the body is `unread`.
  init(_ decoder: inout RecordDecoder, withBody: Bool) throws(RecordDecoder.Damaged) {
    let flags = try decoder.number(UInt8.self)
    guard let stamp = try decoder.stamp() else { throw RecordDecoder.Damaged() }
    frozen = stamp
    exposed = try decoder.stamp()
    passedURL = try decoder.text()
    address = try decoder.text()
    method = try decoder.text()
    headers = try decoder.fields()
    for _ in 0..<(try decoder.number(UInt32.self)) {
      let (header, prefix) = (try decoder.text(), try decoder.text())
      secrets.append(Secret(header, prefix: prefix, provider: try decoder.text()))
    }
    let (name, provider) = (try decoder.optionalText(), try decoder.optionalText())
    if let name, let provider { user = (name, provider) }
    queue = try decoder.text()
    handler = try decoder.optionalText()
    tag = try decoder.optionalText()
    guard let grade = Addresses(rawValue: try decoder.number() &+ 1) else { throw RecordDecoder.Damaged() }
    guardGrade = grade
    silence = try decoder.optionalNumber()
    maxBytes = try decoder.number()
    attempts = Int(try decoder.number(UInt32.self))
    longest = try decoder.optionalNumber()
    keyLifetime = try decoder.optionalNumber()
    switch try decoder.number(UInt8.self) {
    case 0:
      let bytes = try decoder.content()
      body = withBody ? .inline(Array(bytes)) : .unread(bytes.count)
    case 1:
      let name = try decoder.text()
      body = .file(name: name, count: try decoder.number(), checksum: try decoder.number())
    default: throw RecordDecoder.Damaged()
    }
    if flags & 8 != 0 {
      signIn = SignIn(rawValue: try decoder.number())
      let (path, key) = (try decoder.optionalText(), try decoder.optionalText())
      certificate = path.map { ClientCertificate($0, key: key) }
    }
    if flags & 16 != 0 {
      user = (nil, try decoder.text())
      _ = try decoder.number(UInt8.self)
    }
    if flags & 32 != 0 { proxy = try decoder.text() }
    if flags & 64 != 0 { options = try decoder.fields() }
    isNamedQueue = flags & 1 != 0
    // Version 0.1 marked an unlimited key lifetime in this way.
    if flags & 2 != 0 { keyLifetime = nil }
    isLive = flags & 4 != 0
  }
}
