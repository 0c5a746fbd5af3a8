import NuthatchTransport

/// Where user and password may be sent: one origin, or a host over HTTP and over HTTPS.
public struct SignInPlace: Sendable, Equatable {
  let origins: Set<Origin>

  /// From `https://host`, which is one origin, or from `host` or `host:port`, which is HTTP and HTTPS at that port or at their default
  /// ports. nil for anything else.
  public init?(_ text: String) {
    guard !text.isEmpty, !text.utf8.contains(UInt8(ascii: "@")) else { return nil }
    let isWhole = text.utf8.firstRange(of: "://".utf8) != nil
    let urls = (isWhole ? [text] : ["http://\(text)", "https://\(text)"]).compactMap { try? WebURL($0) }
    guard let url = urls.first, urls.allSatisfy({ $0.target == "/" }) else { return nil }
    guard !text.utf8.contains(where: { $0 <= 0x20 || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }),
      isWhole || url.host.isEmpty == false && !text.utf8.contains(UInt8(ascii: "/"))
    else { return nil }
    origins = Set(urls.map(\.origin))
  }

  /// The origin of a URL. nil if it isn't a URL of HTTP.
  public init?(originOf url: String) {
    guard let url = try? WebURL(url) else { return nil }
    origins = [url.origin]
  }

  /// Returns whether user and password may be sent to a URL.
  public func has(_ url: String) -> Bool {
    guard let url = try? WebURL(url) else { return false }
    return origins.contains(url.origin)
  }
}

extension SignInPlace: CustomStringConvertible {
  /// `https://example.org`, without the scheme's default port.
  public var description: String {
    let texts = origins.map { origin in
      let port = origin.port == origin.scheme.defaultPort ? "" : ":\(origin.port)"
      return "\(origin.scheme.rawValue)://\(origin.host)\(port)"
    }
    return texts.sorted().joined(separator: ", ")
  }
}
