import NuthatchTransport

/// Where user and password may be sent: one origin, or a host over HTTP and over HTTPS.
public struct SignInPlace: Sendable, Equatable {
  let origins: Set<Origin>

  /// `https://host` means one origin. `host` or `host:port` means HTTP and HTTPS, at that port or at their default ports. nil
  /// for any other text.
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

  /// The origin of a URL. nil if the URL can't be used.
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
