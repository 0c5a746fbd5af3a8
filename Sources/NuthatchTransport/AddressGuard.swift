/// Decides which addresses a request may be connected to. Each new socket and each kept connection is checked; with a proxy,
/// the addresses behind it that are known here. An earlier result for the same name never counts.
package enum AddressGuard: UInt8, Sendable {
  /// Refuses link-local addresses and cloud metadata; after a redirect from a public server, all addresses that aren't public.
  case guarded
  /// Public addresses only.
  case `public`
  /// All addresses.
  case any

  /// Returns whether to refuse an address of this class. `redirectedByPublic`: a public server has redirected the request here.
  package func refuses(_ kind: AddressClass, redirectedByPublic: Bool) -> Bool {
    switch self {
    case .any: false
    case .public: kind.reach > .open
    case .guarded: kind.reach == .link || (redirectedByPublic && kind.reach > .open)
    }
  }

  /// Returns why `address` is refused, for the user. `name`: the host name that was looked up on this machine.
  func reason(_ address: IPAddress, of name: String? = nil) -> String {
    let kind = AddressClass(address)
    let why =
      switch self {
      case .guarded where kind.reach != .link: "a public server may not redirect to it"
      case .guarded, .any: "guard=guarded refuses it"
      case .public: "guard=public allows only public addresses"
      }
    let what = name.map { "this machine resolves \($0) to \(address)," } ?? "\(address) is"
    return "\(what) a \(kind.words) address; \(why)"
  }
}
