/// The way to one request's server: through which proxy, or to which addresses.
struct TransferRoute: Sendable {
  var proxy: String?
  /// Whether a proxy of the environment was left aside for the guard's sake.
  var isProxyIgnored = false
  /// What has to be looked up first: nil for addresses, for `localhost`, and through a proxy.
  var name: String?
  var addresses: [IPAddress] = []
  /// How long that took, in microseconds.
  var lookupTime: Int64 = 0

  init(_ request: TransferRequest, _ surroundings: TransportSurroundings) {
    switch request.proxy {
    case .none: break
    case .explicit(let chosen): proxy = chosen
    case .environment:
      proxy = surroundings.proxies.proxy(for: request.url)
      if proxy != nil, request.addressGuard == .public {
        isProxyIgnored = true
        proxy = nil
      }
    }
    let host = request.url.host
    guard proxy == nil, IPAddress(host: host) == nil, !TransferRoute.isThisMachine(host) else { return }
    name = host
  }

  /// libcurl answers these itself (RFC 6761), without asking a resolver.
  private static func isThisMachine(_ host: String) -> Bool {
    let plain = host.hasSuffix(".") ? String(host.dropLast()) : host
    return plain == "localhost" || plain.hasSuffix(".localhost")
  }

  /// What libcurl is to know about the name, in the form of `CURLOPT_RESOLVE`, to be forgotten like its own answers.
  func resolution(port: UInt16) -> String? {
    guard let name, !addresses.isEmpty else { return nil }
    let list = addresses.map { if case .v6 = $0 { "[\($0)]" } else { "\($0)" } }
    return "+\(name):\(port):\(list.joined(separator: ","))"
  }
}
