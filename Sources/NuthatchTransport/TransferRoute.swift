/// The route to a request's server: a proxy, or addresses.
struct TransferRoute: Sendable {
  var proxy: String?
  /// The name to look up first; nil for addresses and `localhost`. If a proxy looks names up itself, the result only serves the
  /// guard.
  var name: String?
  /// The addresses of the name, or the host itself if it is an address.
  var addresses: [IPAddress] = []
  /// The time of the lookup in microseconds.
  var lookupTime: Int64 = 0
  /// Whether the proxy looks names up itself. Addresses found here are then checked, but not sent to the proxy.
  let proxyLooksUp: Bool

  /// How long to wait for the lookup of such a name, in ns. A name that only the proxy knows is allowed after that.
  static let proxiedLookupLimit: Int64 = 1_000_000_000

  init(_ request: TransferRequest, _ environment: TransportEnvironment) {
    switch request.proxy {
    case .none: break
    case .explicit(let chosen): proxy = chosen
    case .environment:
      // This guard must see the address.
      proxy = request.addressGuard == .public ? nil : environment.proxies.proxy(for: request.url)
    }
    let kind = proxy?.lowercased()
    // To libcurl, `socks://` means `socks4://`.
    proxyLooksUp =
      kind.map { kind in !["socks://", "socks4://", "socks5://"].contains { kind.hasPrefix($0) } } ?? false
    let host = request.url.host
    if TransferRoute.isThisMachine(host) {
      addresses = [.loopback]
    } else if let address = IPAddress(host: proxyLooksUp ? Self.withoutDot(host) : host) {
      // Here, a final dot makes the text a name; a proxy may take it for an address all the same.
      addresses = [address]
    } else if !proxyLooksUp || request.addressGuard != .any && kind.map(Self.leavesNames) != true {
      // A user who chose such a proxy wants no name lookups on this machine.
      name = host
    }
  }

  private static func leavesNames(to proxy: String) -> Bool {
    proxy.hasPrefix("socks4a://") || proxy.hasPrefix("socks5h://")
  }

  /// Returns why the guard refuses the proxy, or nil. The proxy's own connection can't be checked.
  mutating func denial(_ request: TransferRequest) -> TransportFault? {
    guard proxy != nil else { return nil }
    func isRefused(_ address: IPAddress) -> Bool {
      request.addressGuard.refuses(AddressClass(address), sentByPublic: request.isSentByPublic)
    }
    guard let refused = addresses.first(where: isRefused) else { return nil }
    if !proxyLooksUp, name != nil {
      // libcurl connects to one of the remaining addresses.
      addresses.removeAll(where: isRefused)
      if !addresses.isEmpty { return nil }
    }
    let reason = request.addressGuard.reason(
      refused, AddressClass(refused), sentByPublic: request.isSentByPublic)
    return TransportFault(.denied, name.map { "\($0) is \(refused) here: \(reason)" } ?? reason)
  }

  /// The class of the address that a proxy connects to; nil if the proxy looks the name up itself, maybe with another result.
  var knownClass: AddressClass? {
    proxy != nil && (name == nil || !proxyLooksUp) ? addresses.first.map { AddressClass($0) } : nil
  }

  private static func withoutDot(_ host: String) -> String {
    host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// libcurl resolves these itself (RFC 6761), without a resolver.
  private static func isThisMachine(_ host: String) -> Bool {
    let plain = withoutDot(host)
    return plain == "localhost" || plain.hasSuffix(".localhost")
  }

  /// The addresses of the name in the form of `CURLOPT_RESOLVE`; "+" makes libcurl forget them like its own.
  func resolution(port: UInt16) -> String? {
    guard let name, !addresses.isEmpty, proxy == nil || !proxyLooksUp else { return nil }
    let list = addresses.map { if case .v6 = $0 { "[\($0)]" } else { "\($0)" } }
    return "+\(name):\(port):\(list.joined(separator: ","))"
  }
}
