extension WebURL {
  /// The longest accepted URL in bytes. Servers answer 414 far below it.
  package static let longest = 65_536

  /// Parses an absolute URL.
  package init(_ text: String) throws(URLFault) {
    var text = text
    if let layout = text.withUTF8({ NormalLayout($0) }) {
      self.init(text, layout)
    } else {
      try self.init(bytes: Array(text.utf8))
    }
  }

  /// Parses an absolute URL from bytes that need not be UTF-8, such as a `Location` field.
  package init(bytes: [UInt8]) throws(URLFault) {
    try WebURL.check(bytes)
    guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
      throw URLFault(at: 0, "no scheme: a URL begins with http:// or https://")
    }
    let schemeName = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
    guard let scheme = Scheme(rawValue: schemeName) else {
      throw URLFault(at: 0, "the scheme is not http or https")
    }
    guard bytes[colon...].starts(with: "://".utf8) else {
      throw URLFault(at: colon, "'//' is missing after the scheme")
    }
    try self.init(scheme: scheme, bytes: bytes, authorityAt: colon + 3)
  }

  /// Resolves `reference`, the value of a `Location` field in an answer from `self` (RFC 3986, 5.2).
  package func resolving(_ reference: [UInt8]) throws(URLFault) -> WebURL {
    try WebURL.check(reference)
    if WebURL.hasScheme(reference) { return try WebURL(bytes: reference) }
    if reference.starts(with: "//".utf8) {
      return try WebURL(scheme: scheme, bytes: reference, authorityAt: 2)
    }
    let path = Array(target.utf8.prefix { $0 != UInt8(ascii: "?") })
    let wanted = reference.prefix { $0 != UInt8(ascii: "#") }
    switch wanted.first {
    case nil: return withoutUserinfo()
    case UInt8(ascii: "/"): return try with(target: Array(wanted))
    case UInt8(ascii: "?"): return try with(target: path + Array(wanted))
    default:
      let folder = path[...(path.lastIndex(of: UInt8(ascii: "/")) ?? 0)]
      return try with(target: Array(folder) + Array(wanted))
    }
  }

  private func with(target: [UInt8]) throws(URLFault) -> WebURL {
    try WebURL.checkLength(target)
    return WebURL(scheme, userinfo: nil, host: host, port: port, target: WebURL.normalisedTarget(target))
  }

  /// Refuses long URLs, and control characters, also in the fragment: one could inject a header.
  private static func check(_ bytes: [UInt8]) throws(URLFault) {
    try checkLength(bytes)
    if let position = bytes.firstIndex(where: { $0 < 0x20 || $0 == 0x7f }) {
      throw URLFault(at: position, "a control character")
    }
  }

  package static func checkLength(_ bytes: some Collection<UInt8>) throws(URLFault) {
    guard bytes.count <= longest else {
      throw URLFault(at: longest, "the URL is longer than \(longest) bytes, the limit")
    }
  }

  private static func hasScheme(_ bytes: [UInt8]) -> Bool {
    guard let end = bytes.firstIndex(where: { !$0.isSchemeCharacter }), end > 0 else { return false }
    return bytes[end] == UInt8(ascii: ":") && bytes[0].isLetter
  }

  private init(scheme: Scheme, bytes: [UInt8], authorityAt start: Int) throws(URLFault) {
    let end = bytes[start...].firstIndex(where: \.endsAuthority) ?? bytes.endIndex
    if let position = bytes[start..<end].firstIndex(of: UInt8(ascii: "\\")) {
      // Browsers read a backslash as '/', other programs as part of the user name. They would connect to different hosts.
      throw URLFault(at: position, "a backslash before the path")
    }
    var hostStart = start
    var userinfo: String?
    if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) {
      userinfo = String(decoding: bytes[start..<at], as: UTF8.self)
      hostStart = at + 1
    }
    let hostEnd = try WebURL.endOfHost(bytes, hostStart..<end)
    let fragment = bytes[end...].firstIndex(of: UInt8(ascii: "#")) ?? bytes.endIndex
    let rest = Array(bytes[end..<fragment])
    self.init(
      scheme, userinfo: userinfo, host: try WebURL.normalisedHost(bytes, hostStart..<hostEnd),
      port: try WebURL.port(bytes, hostEnd..<end) ?? scheme.defaultPort,
      target: WebURL.normalisedTarget(rest.first == UInt8(ascii: "/") ? rest : [UInt8(ascii: "/")] + rest))
  }

  private static func endOfHost(_ bytes: [UInt8], _ range: Range<Int>) throws(URLFault) -> Int {
    if range.isEmpty { throw URLFault(at: range.lowerBound, "no host") }
    guard bytes[range.lowerBound] == UInt8(ascii: "[") else {
      return bytes[range].firstIndex(of: UInt8(ascii: ":")) ?? range.upperBound
    }
    guard let bracket = bytes[range].firstIndex(of: UInt8(ascii: "]")) else {
      throw URLFault(at: range.lowerBound, "'[' without ']'")
    }
    return bracket + 1
  }

  private static func port(_ bytes: [UInt8], _ range: Range<Int>) throws(URLFault) -> UInt16? {
    if range.isEmpty { return nil }
    guard bytes[range.lowerBound] == UInt8(ascii: ":") else {
      throw URLFault(at: range.lowerBound, "the host is followed by something other than a port")
    }
    let digits = bytes[range].dropFirst()
    if digits.isEmpty { return nil }
    guard digits.allSatisfy(\.isDigit), let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0
    else {
      throw URLFault(at: range.lowerBound + 1, "the port is not a number from 1 to 65535")
    }
    return port
  }
}
