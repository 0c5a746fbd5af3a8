/// The kind of network that an address belongs to, by IANA's registries of special addresses (except `metadata`).
package enum AddressClass: UInt8, CaseIterable, Sendable {
  /// Reachable from anywhere.
  case `public`
  /// RFC 1918, and unique local addresses (fc00::/7).
  case `private`
  /// This machine.
  case loopback
  /// The network between a provider and its customers (100.64.0.0/10).
  case carrier
  case siteLocal
  case multicast
  case broadcast
  /// 0.0.0.0/8 and `::`, which connect to this machine.
  case unspecified
  /// Addresses for examples, benchmarks or discarding, and addresses that are not assigned.
  case reserved
  /// The local link only. Includes 169.254.169.254, where clouds serve the secrets of a machine.
  case linkLocal
  /// An address where clouds serve the secrets of a machine, outside of the link-local range (`CloudMetadata`).
  case metadata

  package init(_ address: IPAddress) {
    switch address {
    case .v4(let number): self = AddressClass.ofV4(number)
    case .v6(let high, let low): self = AddressClass.ofV6(high, low)
    }
  }

  /// How private the address is. `AddressGuard` compares it, and the records of stored answers contain it.
  package var reach: AddressReach {
    switch self {
    case .public: .open
    case .linkLocal, .metadata: .link
    default: .inner
    }
  }

  /// For messages: "a … address".
  package var words: String {
    switch self {
    case .public: "public"
    case .private: "private"
    case .loopback: "loopback"
    case .carrier: "carrier-grade NAT"
    case .siteLocal: "site-local"
    case .multicast: "multicast"
    case .broadcast: "broadcast"
    case .unspecified: "unspecified"
    case .reserved: "reserved"
    case .linkLocal: "link-local"
    case .metadata: "cloud metadata"
    }
  }
}

/// How private an address is. `<` compares by `rank`. The raw values never change, because stored answers contain them.
package enum AddressReach: UInt8, Comparable, Sendable {
  case open = 0
  case inner = 1
  case link = 2
  /// Unknown: a proxy has resolved the name itself.
  case hidden = 3

  private var rank: Int {
    switch self {
    case .open: 0
    case .hidden: 1
    case .inner: 2
    case .link: 3
    }
  }

  /// Whether a server at such an address counts as public when it redirects.
  package var countsAsPublic: Bool { self <= .hidden }

  package static func < (left: AddressReach, right: AddressReach) -> Bool { left.rank < right.rank }
}

// MARK: - IPv4

extension AddressClass {
  private static func ofV4(_ address: UInt32) -> AddressClass {
    if CloudMetadata.v4.contains(address) { return .metadata }
    if address == .max { return .broadcast }
    return v4Ranges.first { address >> (32 - $0.bits) == $0.network >> (32 - $0.bits) }?.kind ?? .public
  }

  private static let v4Ranges: [(network: UInt32, bits: UInt32, kind: AddressClass)] = [
    (0x0000_0000, 8, .unspecified), (0x0A00_0000, 8, .private), (0x6440_0000, 10, .carrier),
    (0x7F00_0000, 8, .loopback), (0xA9FE_0000, 16, .linkLocal), (0xAC10_0000, 12, .private),
    (0xC000_0000, 24, .reserved), (0xC000_0200, 24, .reserved), (0xC058_6300, 24, .reserved),
    (0xC0A8_0000, 16, .private), (0xC612_0000, 15, .reserved), (0xC633_6400, 24, .reserved),
    (0xCB00_7100, 24, .reserved), (0xE000_0000, 4, .multicast), (0xF000_0000, 4, .reserved),
  ]
}

// MARK: - IPv6

extension AddressClass {
  private static func ofV6(_ high: UInt64, _ low: UInt64) -> AddressClass {
    if (high, low) == (0, 0) { return .unspecified }
    if (high, low) == (0, 1) { return .loopback }
    if CloudMetadata.has(high, low) { return .metadata }
    if let embedded = embedded(high, low) { return embedded }
    let own = v6Ranges.first { high >> (64 - $0.bits) == $0.network >> (64 - $0.bits) }?.kind ?? .reserved
    // ISATAP puts an IPv4 address into the lower half, with any prefix.
    guard low >> 32 & ~0x0200_0000 == 0x0000_5efe else { return own }
    return morePrivate(own, ofV4(UInt32(truncatingIfNeeded: low)))
  }

  /// The class of the IPv4 address inside this IPv6 address, to which a translator or a tunnel sends the bytes. Nil if there is
  /// none.
  private static func embedded(_ high: UInt64, _ low: UInt64) -> AddressClass? {
    let last = UInt32(truncatingIfNeeded: low)
    if high == 0 {
      // Mapped, compatible, and translated (::ffff:0:0/96, ::/96, ::ffff:0:0:0/96).
      if [0xffff, 0, 0xffff_0000].contains(low >> 32) { return ofV4(last) }
    }
    // NAT64 with the well-known prefix, 64:ff9b::/96.
    if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return ofV4(last) }
    // NAT64 with the network's own prefix, 64:ff9b:1::/48. The position of the IPv4 address is known only to that network, so
    // all positions of RFC 6052, 2.2 are read. The most private class counts, and at least `private`.
    if high >> 16 == 0x0064_ff9b_0001 {
      let places: [UInt32] = [
        last,
        UInt32(truncatingIfNeeded: (high & 0xffff) << 16 | low >> 40 & 0xffff),
        UInt32(truncatingIfNeeded: (high & 0xff) << 24 | low >> 32 & 0xff_ffff),
        UInt32(truncatingIfNeeded: low >> 24),
      ]
      return places.reduce(.private) { morePrivate($0, ofV4($1)) }
    }
    // 6to4, 2002::/16.
    if high >> 48 == 0x2002 { return ofV4(UInt32(truncatingIfNeeded: high >> 16)) }
    // Teredo, 2001::/32: the server's address, and the client's with inverted bits.
    if high >> 32 == 0x2001_0000 {
      return morePrivate(ofV4(UInt32(truncatingIfNeeded: high)), ofV4(~last))
    }
    return nil
  }

  private static let v6Ranges: [(network: UInt64, bits: UInt64, kind: AddressClass)] = [
    (0x2001_0db8_0000_0000, 32, .reserved), (0x2001_0000_0000_0000, 23, .reserved),
    (0x3fff_0000_0000_0000, 20, .reserved), (0x2000_0000_0000_0000, 3, .public),
    (0xfc00_0000_0000_0000, 7, .private), (0xfe80_0000_0000_0000, 10, .linkLocal),
    (0xfec0_0000_0000_0000, 10, .siteLocal), (0xff00_0000_0000_0000, 8, .multicast),
  ]

  private static func morePrivate(_ one: AddressClass, _ other: AddressClass) -> AddressClass {
    one.reach < other.reach ? other : one
  }
}
