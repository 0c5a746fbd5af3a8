/// The choice of a proxy for a request.
package enum ProxyChoice: Sendable, Equatable {
  /// The values of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` when the transport was created. Not used under
  /// `AddressGuard.public`, because the address can't be checked through a proxy.
  case environment
  case none
  /// This proxy, even under `AddressGuard.public` and for the hosts of `no_proxy`. The guard still checks addresses behind it.
  /// `http://`, `https://`, `socks4://`, `socks5://`, `socks5h://`.
  case explicit(String)

  private static let schemes = ["http://", "https://", "socks4://", "socks5://", "socks5h://"]

  /// Throws if the text isn't a usable proxy. libcurl would report some mistakes as a host that can't be resolved.
  package static func check(_ proxy: String) throws(URLFault) {
    guard let scheme = schemes.first(where: { proxy.hasPrefix($0) }) else {
      throw URLFault(at: 0, "it must begin with \(schemes.joined(separator: ", ")), or be empty for none")
    }
    try WebURL.checkLength(proxy.utf8)
    if let place = Array(proxy.utf8).firstIndex(where: { $0 <= 0x20 || $0 == 0x7f }) {
      throw URLFault(at: place, "it has a space or a control character")
    }
    do throws(URLFault) { _ = try WebURL("http://" + proxy.dropFirst(scheme.count)) } catch {
      throw URLFault(at: error.position - "http://".count + scheme.count, error.reason)
    }
  }
}

/// The proxies of the environment. Read once, by the thread that creates the transport, because `getenv` can crash while
/// another thread calls `setenv`. The proxy is chosen here, because libcurl doesn't report whether it used one.
struct ProxyRules: Sendable {
  private let http: String?
  private let https: String?
  private let exceptions: [NoProxyEntry]

  private enum NoProxyEntry: Sendable {
    case everything
    case network(IPAddress, bits: Int)
    /// The name itself and all its subdomains.
    case domain(String)
  }

  init(environment: (String) -> String?) {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap(environment).first { !$0.isEmpty }
    }
    // HTTP_PROXY is not read: a CGI program gets it from the request header "Proxy".
    http = first("http_proxy", "all_proxy", "ALL_PROXY")
    https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    exceptions = (first("no_proxy", "NO_PROXY") ?? "").utf8
      .split { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
      .map { ProxyRules.exception(Substring($0)) }
  }

  /// Returns the proxy for a URL, or nil.
  func proxy(for url: WebURL) -> String? {
    guard let proxy = url.scheme == .http ? http : https else { return nil }
    let host = url.host.hasSuffix(".") ? String(url.host.dropLast()) : url.host
    let address = IPAddress(host: host)
    let isExcepted = exceptions.contains { exception in
      switch exception {
      case .everything: true
      case .network(let network, let bits): address?.isIn(network, bits: bits) ?? false
      case .domain(let domain): address == nil && (host == domain || host.hasSuffix(".\(domain)"))
      }
    }
    return isExcepted ? nil : proxy
  }

  private static func exception(_ text: Substring) -> NoProxyEntry {
    if text == "*" { return .everything }
    let parts = text.split(separator: "/", maxSplits: 1)
    let plain =
      parts.first.map { $0.hasPrefix("[") && $0.hasSuffix("]") ? $0.dropFirst().dropLast() : $0 } ?? ""
    if let address = IPAddress(printed: String(plain)) {
      let width = if case .v4 = address { 32 } else { 128 }
      return .network(address, bits: parts.count > 1 ? Int(parts[1]) ?? width : width)
    }
    let dot = UInt8(ascii: ".")
    let name = text.lowercased().utf8.drop { $0 == dot }
    let end = name.lastIndex { $0 != dot }.map { name.index(after: $0) } ?? name.startIndex
    return .domain(String(Substring(name[..<end])))
  }
}
