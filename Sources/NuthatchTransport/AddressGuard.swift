/// Which addresses a request may be connected to. It is asked about every address, at every hop, when the socket is
/// opened and before a kept connection is used again: what a name resolved to earlier never counts.
package enum AddressGuard: UInt8, Sendable {
  /// No link-local address and no cloud metadata; nothing private after a public origin sent the request on.
  case guarded
  /// Public addresses only.
  case `public`
  /// All of them.
  case any

  /// Whether an address of this kind is refused. `sentByPublic`: an earlier hop of the redirects was public.
  package func refuses(_ kind: AddressClass, sentByPublic: Bool) -> Bool {
    switch self {
    case .any: false
    case .public: kind.reach > .open
    case .guarded: kind.reach == .link || (sentByPublic && kind.reach > .open)
    }
  }

  /// Why, for the user.
  func reason(_ address: IPAddress, _ kind: AddressClass, sentByPublic: Bool) -> String {
    let why =
      switch self {
      case .guarded where kind.reach != .link: "which a public origin may not redirect to"
      case .guarded, .any: "which is refused by guard=guarded"
      case .public: "and guard=public lets public ones pass only"
      }
    return "\(address) is a \(kind.words) address, \(why)"
  }
}
