/// The way to one request's server: through which proxy, or to which addresses.
struct TransferRoute: Sendable {
  var proxy: String?
  /// What has to be looked up first: nil for addresses and for `localhost`; for a proxy that looks names up itself, what is to be
  /// judged.
  var name: String?
  /// Of the name, or of the host that is one itself.
  var addresses: [IPAddress] = []
  /// How long that took, in microseconds.
  var lookupTime: Int64 = 0
  /// Whether the proxy looks names up itself. What is found here is judged then, and not sent along.
  let proxyLooksUp: Bool

  /// So many nanoseconds such a name is waited for: one that only the proxy knows goes through.
  static let patienceForProxied: Int64 = 1_000_000_000

  init(_ request: TransferRequest, _ surroundings: TransportSurroundings) {
    switch request.proxy {
    case .none: break
    case .explicit(let chosen): proxy = chosen
    case .environment:
      // The strictest guard wants to see the address.
      proxy = request.addressGuard == .public ? nil : surroundings.proxies.proxy(for: request.url)
    }
    let kind = proxy?.lowercased()
    // To libcurl `socks://` is `socks4://`.
    proxyLooksUp =
      kind.map { kind in !["socks://", "socks4://", "socks5://"].contains { kind.hasPrefix($0) } } ?? false
    let host = request.url.host
    if TransferRoute.isThisMachine(host) {
      addresses = [.loopback]
    } else if let address = IPAddress(host: proxyLooksUp ? Self.withoutDot(host) : host) {
      // A dot at the end makes a name of it here; what a proxy makes of it nobody knows.
      addresses = [address]
    } else if !proxyLooksUp || request.addressGuard != .any && kind.map(Self.leavesNames) != true {
      // Whoever chose a proxy of that kind wants no name to leave this machine.
      name = host
    }
  }

  private static func leavesNames(to proxy: String) -> Bool {
    proxy.hasPrefix("socks4a://") || proxy.hasPrefix("socks5h://")
  }

  /// Why the guard lets nothing through the proxy; nil when it does. What a proxy connects to, no socket of ours shows.
  mutating func denial(_ request: TransferRequest) -> TransportFault? {
    guard proxy != nil else { return nil }
    func isRefused(_ address: IPAddress) -> Bool {
      request.addressGuard.refuses(AddressClass(address), sentByPublic: request.isSentByPublic)
    }
    guard let refused = addresses.first(where: isRefused) else { return nil }
    if !proxyLooksUp, name != nil {
      // libcurl takes one of those that it is given.
      addresses.removeAll(where: isRefused)
      if !addresses.isEmpty { return nil }
    }
    let reason = request.addressGuard.reason(
      refused, AddressClass(refused), sentByPublic: request.isSentByPublic)
    return TransportFault(.denied, name.map { "\($0) is \(refused) here: \(reason)" } ?? reason)
  }

  /// What is known of where a proxy goes: what it looks up itself may be something else there.
  var knownClass: AddressClass? {
    proxy != nil && (name == nil || !proxyLooksUp) ? addresses.first.map { AddressClass($0) } : nil
  }

  private static func withoutDot(_ host: String) -> String {
    host.hasSuffix(".") ? String(host.dropLast()) : host
  }

  /// libcurl answers these itself (RFC 6761), without asking a resolver.
  private static func isThisMachine(_ host: String) -> Bool {
    let plain = withoutDot(host)
    return plain == "localhost" || plain.hasSuffix(".localhost")
  }

  /// What libcurl is to know about the name, in the form of `CURLOPT_RESOLVE`, to be forgotten like its own answers.
  func resolution(port: UInt16) -> String? {
    guard let name, !addresses.isEmpty, proxy == nil || !proxyLooksUp else { return nil }
    let list = addresses.map { if case .v6 = $0 { "[\($0)]" } else { "\($0)" } }
    return "+\(name):\(port):\(list.joined(separator: ","))"
  }
}
