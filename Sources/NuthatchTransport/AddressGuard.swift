/// Decides which addresses a request may be connected to. Each new socket and each kept connection is checked; with a proxy,
/// the addresses behind it that are known here. An earlier result for the same name never counts.
package enum AddressGuard: UInt8, Sendable {
  /// Refuses link-local addresses and cloud metadata; after a redirect from a public server, all addresses that aren't public.
  case guarded
  /// Public addresses only.
  case `public`
  /// All addresses.
  case any

  /// Returns whether an address of this class is refused. `sentByPublic`: a public server has redirected the request here.
  package func refuses(_ kind: AddressClass, sentByPublic: Bool) -> Bool {
    switch self {
    case .any: false
    case .public: kind.reach > .open
    case .guarded: kind.reach == .link || (sentByPublic && kind.reach > .open)
    }
  }

  /// The reason, for the user.
  func reason(_ address: IPAddress, _ kind: AddressClass, sentByPublic: Bool) -> String {
    let why =
      switch self {
      case .guarded where kind.reach != .link: "which a public origin may not redirect to"
      case .guarded, .any: "which is refused by guard=guarded"
      case .public: "and guard=public allows only public addresses"
      }
    return "\(address) is a \(kind.words) address, \(why)"
  }
}
