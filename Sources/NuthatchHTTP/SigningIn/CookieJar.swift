/// The cookies of one site (RFC 6265).
///
/// It uses no list of public suffixes. A cookie for a domain is sent to all hosts below it, but only by this site's requests.
/// A cookie for a domain of one label is refused, unless that is the host itself.
package struct CookieJar: Sendable, Equatable {
  package struct Cookie: Sendable, Equatable {
    package var name: String
    package var value: String
    /// In lower case.
    package var domain: String
    /// Whether the cookie is sent only to the host that set it, not to its subdomains.
    package var isHostOnly: Bool
    package var path: String
    /// Whether the cookie is sent only over https.
    package var isSecure: Bool
    /// In seconds since 1970; nil: as long as the jar is kept.
    package var expires: Int64?
  }

  /// In the order of setting.
  package private(set) var cookies: [Cookie] = []

  static let longest = 4096
  static let most = 300
  static let mostOfOneDomain = 50
  /// The most bytes of cookies in one request. Servers accept fewer.
  static let mostSent = 65_536

  package init() {}

  /// Returns the `Cookie` field of a request for `url`, or nil.
  package func header(for url: WebURL, now: Int64) -> String? {
    let path = Self.path(of: url)
    let sent = cookies.filter { cookie in
      cookie.isAlive(now) && (url.scheme == .https || !cookie.isSecure) && cookie.isFor(url.host)
        && cookie.isFor(path: path)
    }
    // Longer paths first; of equal length, older cookies first.
    let ordered = sent.enumerated().sorted {
      ($1.element.path.utf8.count, $0.offset) < ($0.element.path.utf8.count, $1.offset)
    }
    guard !sent.isEmpty else { return nil }
    var pairs: [String] = []
    var bytes = 0
    for (_, cookie) in ordered {
      let pair = "\(cookie.name)=\(cookie.value)"
      bytes += pair.utf8.count + 2
      guard bytes <= Self.mostSent else { break }
      pairs.append(pair)
    }
    return pairs.joined(separator: "; ")
  }

  /// Stores the cookies of an answer from `url`; `lines` are its `Set-Cookie` values. Returns false if nothing has changed.
  package mutating func take(_ lines: [String], from url: WebURL, now: Int64) -> Bool {
    let before = self
    for line in lines {
      guard let cookie = Self.cookie(line, url, now) else { continue }
      put(cookie, now)
    }
    return self != before
  }

  private mutating func put(_ cookie: Cookie, _ now: Int64) {
    let place = cookies.firstIndex {
      $0.name == cookie.name && $0.domain == cookie.domain && $0.path == cookie.path
    }
    guard cookie.isAlive(now) else {
      if let place { cookies.remove(at: place) }
      return
    }
    if let place { return cookies[place] = cookie }
    cookies.append(cookie)
    guard cookies.count > Self.mostOfOneDomain else { return }
    cookies.removeAll { !$0.isAlive(now) }
    if cookies.count(where: { $0.domain == cookie.domain }) > Self.mostOfOneDomain,
      let oldest = cookies.firstIndex(where: { $0.domain == cookie.domain })
    {
      cookies.remove(at: oldest)
    }
    if cookies.count > Self.most { cookies.removeFirst() }
  }
}

extension CookieJar.Cookie {
  fileprivate func isAlive(_ now: Int64) -> Bool { expires.map { $0 > now } ?? true }

  fileprivate func isFor(_ host: String) -> Bool {
    host == domain || !isHostOnly && host.hasSuffix(".\(domain)") && !host.isAddress
  }

  fileprivate func isFor(path: String) -> Bool {
    path == self.path
      || path.hasPrefix(self.path)
        && (self.path.hasSuffix("/") || path.dropFirst(self.path.count).first == "/")
  }
}

extension String {
  fileprivate var isAddress: Bool {
    hasPrefix("[") || utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }
  }
}

// MARK: - Set-Cookie

extension CookieJar {
  private static func path(of url: WebURL) -> String {
    String(url.target.prefix { $0 != "?" })
  }

  /// Returns nil if the line isn't a cookie, or if the server may not set this cookie.
  private static func cookie(_ line: String, _ url: WebURL, _ now: Int64) -> Cookie? {
    var parts = line.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmed)
    let first = parts.removeFirst()
    guard let equals = first.firstIndex(of: "="), first.utf8.count <= longest,
      !first.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f })
    else { return nil }
    let name = first[..<equals].trimmed
    guard !name.isEmpty else { return nil }
    let folder = path(of: url)
    var cookie = Cookie(
      name: String(name), value: String(first[first.index(after: equals)...].trimmed), domain: url.host,
      isHostOnly: true, path: String(folder[..<(folder.lastIndex(of: "/") ?? folder.startIndex)]),
      isSecure: false)
    if cookie.path.isEmpty { cookie.path = "/" }
    var (maxAge, isBound): (Int64?, Bool) = (nil, true)
    for part in parts {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = pair.count > 1 ? pair[1].trimmed : ""
      switch pair[0].trimmed.lowercased() {
      case "expires": cookie.expires = CookieDate.seconds(value) ?? cookie.expires
      case "max-age": maxAge = seconds(value) ?? maxAge
      case "domain":
        let domain = (value.first == "." ? value.dropFirst() : value).lowercased()
        if domain.isEmpty { continue }
        guard url.host == domain || url.host.hasSuffix(".\(domain)") && domain.contains("."),
          !domain.hasSuffix("."), !url.host.isAddress || url.host == domain
        else { return nil }
        (cookie.domain, cookie.isHostOnly) = (domain, url.host.isAddress)
        isBound = false
      case "path": if value.first == "/" { cookie.path = String(value) }
      case "secure": cookie.isSecure = true
      default: break
      }
    }
    if let maxAge { cookie.expires = maxAge <= 0 ? .min : now.addingReportingOverflow(maxAge).partialValue }
    let kind = name.lowercased()
    if cookie.isSecure || kind.hasPrefix("__secure-") || kind.hasPrefix("__host-") {
      guard url.scheme == .https, cookie.isSecure else { return nil }
    }
    if kind.hasPrefix("__host-"), !isBound || cookie.path != "/" { return nil }
    return cookie
  }

  private static func seconds(_ text: Substring) -> Int64? {
    guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
      text.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) })
    else { return nil }
    if first == UInt8(ascii: "-") { return 0 }
    // 272 years are enough.
    return min(Int64(text) ?? .max, 1 << 33)
  }
}

extension Substring {
  fileprivate var trimmed: Substring { Substring(String(self).trimmed) }
}

// MARK: - As a file

extension CookieJar {
  /// The jar in Netscape's format, which curl uses, too: one line for each cookie, with tabs between the fields.
  package var file: String {
    var text = "# Netscape HTTP Cookie File\n"
    for cookie in cookies {
      let fields = [
        cookie.domain, cookie.isHostOnly ? "FALSE" : "TRUE", cookie.path, cookie.isSecure ? "TRUE" : "FALSE",
        String(cookie.expires ?? 0), cookie.name, cookie.value,
      ]
      // A tab in a field would be read as a separator.
      if fields.allSatisfy({ !$0.contains("\t") }) { text += fields.joined(separator: "\t") + "\n" }
    }
    return text
  }

  /// Reads Netscape's format. Skips malformed lines.
  package init(file: String) {
    // Don't split at Unicode's line separators: they may occur in a value.
    for line in file.split(whereSeparator: { $0 == "\n" || $0 == "\r\n" }) {
      let line = line.hasPrefix("#HttpOnly_") ? line.dropFirst(10) : line
      let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map { String($0) }
      guard fields.count == 7, !line.hasPrefix("#"), let expires = Int64(fields[4]), cookies.count < Self.most
      else { continue }
      cookies.append(
        Cookie(
          name: fields[5], value: fields[6],
          domain: fields[0].first == "." ? String(fields[0].dropFirst()) : fields[0],
          isHostOnly: fields[1] != "TRUE", path: fields[2], isSecure: fields[3] == "TRUE",
          expires: expires == 0 ? nil : expires))
    }
  }
}
