/// How to reach a request's server: through a proxy, or at which addresses.
struct TransferRoute: Sendable {
  var proxy: String?
  /// The name to look up first; nil for addresses and `localhost`. If a proxy looks names up itself, the result only serves the
  /// guard; then nil also under `any`, and for `socks4a` and `socks5h`.
  var name: String?
  /// The addresses of the name, or the host itself if it is an address.
  var addresses: [IPAddress] = []
  /// The time of the lookup in microseconds.
  var lookupTime: Int64 = 0
  /// Whether the proxy looks names up itself. Addresses found here are then checked, but not sent to the proxy.
  let proxyLooksUp: Bool

  /// How long to wait for a lookup that only serves the guard, in ns. Then the request is sent: perhaps only the proxy knows
  /// the name.
  static let proxiedLookupLimit: Int64 = 1_000_000_000

  init(_ request: TransferRequest, _ environment: TransportEnvironment) {
    switch request.proxy {
    case .none: break
    case .explicit(let chosen): proxy = chosen
    case .environment:
      // `AddressGuard.public` must check the address of the connection, so it uses no proxy.
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
      // A proxy may read "127.0.0.1." as an address, although this machine would look it up as a name.
      addresses = [address]
    } else if !proxyLooksUp || request.addressGuard != .any && kind.map(Self.forbidsLookups) != true {
      // Not for `socks4a` and `socks5h`: their users want no lookups on this machine.
      name = host
    }
  }

  private static func forbidsLookups(_ proxy: String) -> Bool {
    proxy.hasPrefix("socks4a://") || proxy.hasPrefix("socks5h://")
  }

  /// Returns the error if the guard refuses the server behind the proxy. Removes refused addresses if others are left. The
  /// proxy's own connection can't be checked.
  mutating func checkBehindProxy(_ request: TransferRequest) -> TransportFault? {
    guard proxy != nil else { return nil }
    func isRefused(_ address: IPAddress) -> Bool {
      request.addressGuard.refuses(AddressClass(address), redirectedByPublic: request.isRedirectedByPublic)
    }
    guard let refused = addresses.first(where: isRefused) else { return nil }
    if !proxyLooksUp, name != nil {
      // libcurl connects to one of the remaining addresses.
      addresses.removeAll(where: isRefused)
      if !addresses.isEmpty { return nil }
    }
    return TransportFault(.denied, request.addressGuard.reason(refused, of: name))
  }

  /// The class of the address that a proxy connects to. Nil if the proxy looks the name up, because it may find another
  /// address.
  var knownClass: AddressClass? {
    proxy != nil && (name == nil || !proxyLooksUp) ? addresses.first.map { AddressClass($0) } : nil
  }

  private static func withoutDot(_ host: String) -> String {
    host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// libcurl knows the addresses of these names (RFC 6761), so they need no lookup.
  private static func isThisMachine(_ host: String) -> Bool {
    let plain = withoutDot(host)
    return plain == "localhost" || plain.hasSuffix(".localhost")
  }

  /// The addresses of the name in the form of `CURLOPT_RESOLVE`; with "+", libcurl forgets them after
  /// CURLOPT_DNS_CACHE_TIMEOUT.
  func resolution(port: UInt16) -> String? {
    guard let name, !addresses.isEmpty, proxy == nil || !proxyLooksUp else { return nil }
    let list = addresses.map { if case .v6 = $0 { "[\($0)]" } else { "\($0)" } }
    return "+\(name):\(port):\(list.joined(separator: ","))"
  }
}
