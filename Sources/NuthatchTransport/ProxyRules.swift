/// Through which proxy a request goes.
package enum ProxyChoice: Sendable, Equatable {
  /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` said when the transport was made. Under
  /// `AddressGuard.public` they are left aside: through a proxy, nobody here sees the address.
  case environment
  case none
  /// This one, whatever the guard and `no_proxy` say: `http://`, `https://`, `socks4://`, `socks5://`, `socks5h://`.
  case explicit(String)
}

/// The proxies of the environment. They are read once, by the thread that opens, because `getenv` beside a
/// `setenv` of another thread is a crash; and decided here, because libcurl doesn't tell whether it used one.
struct ProxyRules: Sendable {
  private let http: String?
  private let https: String?
  private let exceptions: [Exception]

  private enum Exception: Sendable {
    case everything
    case network(IPAddress, bits: Int)
    /// The name itself and all below it.
    case domain(String)
  }

  init(environment: (String) -> String?) {
    func first(_ names: String...) -> String? {
      names.lazy.compactMap(environment).first { !$0.isEmpty }
    }
    // HTTP_PROXY in capitals is what a CGI program gets from the request header "Proxy".
    http = first("http_proxy", "all_proxy", "ALL_PROXY")
    https = first("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    exceptions = (first("no_proxy", "NO_PROXY") ?? "").split { ", \t".contains($0) }.map(ProxyRules.exception)
  }

  /// The proxy for a URL; nil for none.
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

  private static func exception(_ text: Substring) -> Exception {
    if text == "*" { return .everything }
    let parts = text.split(separator: "/", maxSplits: 1)
    let plain =
      parts.first.map { $0.hasPrefix("[") && $0.hasSuffix("]") ? $0.dropFirst().dropLast() : $0 } ?? ""
    if let address = IPAddress(printed: String(plain)) {
      let width = if case .v4 = address { 32 } else { 128 }
      return .network(address, bits: parts.count > 1 ? Int(parts[1]) ?? width : width)
    }
    var name = text.lowercased()[...]
    while name.hasPrefix(".") { name.removeFirst() }
    while name.hasSuffix(".") { name.removeLast() }
    return .domain(String(name))
  }
}
