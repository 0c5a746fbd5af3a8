/// An absolute `http` or `https` URL, normalised so that equivalent spellings are equal.
///
/// Scheme and host are lower case, the host is ASCII (IDNA), the default port is omitted, dot segments are removed, forbidden
/// characters are percent-encoded, and the fragment is dropped. The order of the query and the spelling of percent-escapes are
/// kept, because servers may distinguish them.
package struct WebURL: Hashable, Sendable {
  package enum Scheme: String, Sendable {
    case http, https

    package var defaultPort: UInt16 { self == .http ? 80 : 443 }
  }

  /// The URL without userinfo, for requests and keys. A caller's string that is already normalised is not copied, because many
  /// URLs may wait in a queue.
  package let address: String
  /// The part before the `@`, as spelled. `description` hides its secrets.
  package private(set) var userinfo: String?
  private let hostEnd: UInt32
  private let targetStart: UInt32
  package let port: UInt16
  package let scheme: Scheme

  /// A name in ASCII, an IPv4 address, or an IPv6 address in brackets.
  package var host: String { part(scheme.rawValue.utf8.count + 3, Int(hostEnd)) }
  /// Path and query, percent-encoded, beginning with `/`.
  package var target: String { part(Int(targetStart), address.utf8.count) }
  package var origin: Origin { Origin(scheme: scheme, host: host, port: port) }

  /// The parts must be normalised.
  init(_ scheme: Scheme, userinfo: String?, host: String, port: UInt16, target: String) {
    let beforeTarget =
      port == scheme.defaultPort
      ? "\(scheme.rawValue)://\(host)" : "\(scheme.rawValue)://\(host):\(port)"
    self.scheme = scheme
    self.userinfo = userinfo
    self.port = port
    hostEnd = UInt32(clamping: scheme.rawValue.utf8.count + 3 + host.utf8.count)
    targetStart = UInt32(clamping: beforeTarget.utf8.count)
    address = beforeTarget + target
  }

  init(_ text: String, _ layout: NormalLayout) {
    address = text
    userinfo = nil
    hostEnd = UInt32(clamping: layout.hostEnd)
    targetStart = UInt32(clamping: layout.targetStart)
    port = layout.port
    scheme = layout.scheme
  }

  func withoutUserinfo() -> WebURL {
    var url = self
    url.userinfo = nil
    return url
  }

  private func part(_ start: Int, _ end: Int) -> String {
    let bytes = address.utf8
    return String(
      address[bytes.index(bytes.startIndex, offsetBy: start)..<bytes.index(bytes.startIndex, offsetBy: end)])
  }
}

/// Scheme, host and port. Credentials are not sent to another origin.
package struct Origin: Hashable, Sendable {
  package var scheme: WebURL.Scheme
  package var host: String
  package var port: UInt16
}

extension WebURL: CustomStringConvertible {
  /// The URL for messages, with hidden passwords.
  package var description: String {
    guard let userinfo else { return Self.redacted(address) }
    let shown = String(decoding: Self.hidden(Array(userinfo.utf8)[...]), as: UTF8.self)
    return address.replacingPrefix("\(scheme.rawValue)://", with: "\(scheme.rawValue)://\(shown)@")
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String, with replacement: String) -> String {
    hasPrefix(prefix) ? replacement + dropFirst(prefix.count) : self
  }
}

extension WebURL {
  /// User and password of the userinfo, percent-decoded.
  package var credentials: (user: [UInt8], password: [UInt8])? {
    guard let userinfo else { return nil }
    let parts = userinfo.utf8.split(
      separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
    return (PercentCoding.decode(parts[0]), parts.count > 1 ? PercentCoding.decode(parts[1]) : [])
  }
}
