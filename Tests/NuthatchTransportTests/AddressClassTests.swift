import Testing

@testable import NuthatchTransport

@Suite("Addresses") struct AddressClassTests {
  /// By IANA's registries; of those that carry an IPv4 address, by where a translator would send them.
  static let table: [(String, AddressClass)] = [
    ("8.8.8.8", .public), ("1.1.1.1", .public), ("100.63.255.255", .public), ("100.128.0.0", .public),
    ("172.15.255.255", .public), ("172.32.0.0", .public), ("223.255.255.255", .public),
    ("169.253.255.255", .public), ("9.255.255.255", .public), ("11.0.0.0", .public),
    ("198.17.255.255", .public), ("198.20.0.0", .public), ("192.0.1.0", .public),
    ("10.0.0.0", .private), ("10.255.255.255", .private), ("172.16.0.1", .private),
    ("172.31.255.255", .private), ("192.168.0.1", .private),
    ("127.0.0.1", .loopback), ("127.255.255.255", .loopback),
    ("100.64.0.0", .carrier), ("100.127.255.255", .carrier),
    ("169.254.169.254", .linkLocal), ("169.254.0.0", .linkLocal),
    ("100.100.100.200", .metadata), ("192.0.0.192", .metadata), ("168.63.129.16", .metadata),
    ("168.63.129.15", .public), ("168.63.129.17", .public), ("100.100.100.201", .carrier),
    ("0.0.0.0", .unspecified), ("0.1.2.3", .unspecified),
    ("224.0.0.1", .multicast), ("239.255.255.255", .multicast),
    ("255.255.255.255", .broadcast), ("240.0.0.1", .reserved), ("255.255.255.254", .reserved),
    ("192.0.2.1", .reserved), ("198.51.100.1", .reserved), ("203.0.113.255", .reserved),
    ("198.18.0.0", .reserved), ("198.19.255.255", .reserved), ("192.88.99.1", .reserved),
    ("192.0.0.1", .reserved),
    ("2606:4700::1111", .public), ("2a00:1450::1", .public), ("3ffe::1", .public), ("2001:200::1", .public),
    ("::", .unspecified), ("::1", .loopback), ("fc00::1", .private), ("fdff:ffff::1", .private),
    ("fe80::1", .linkLocal), ("febf::1", .linkLocal), ("fec0::1", .siteLocal), ("feff::1", .siteLocal),
    ("ff02::1", .multicast), ("fd00:ec2::254", .metadata), ("fd20:ce::254", .metadata),
    ("fd00:ec2::23", .metadata), ("fd00:ec2:1::1", .metadata), ("fd00:42::42", .metadata),
    ("fd00:42::43", .private), ("fd00:c1::a9fe:a9fe", .metadata), ("fd00:a9fe:a9fe::1", .metadata),
    ("fd00:100::100:200", .metadata), ("::ffff:168.63.129.16", .metadata), ("64:ff9b::a83f:8110", .metadata),
    ("2002:a83f:8110::1", .metadata), ("64:ff9b:1::168.63.129.16", .metadata),
    ("2001:db8::1", .reserved), ("3fff::1", .reserved), ("100::1", .reserved), ("2001:2::1", .reserved),
    ("5f00::1", .reserved), ("4000::1", .reserved), ("2001:10::1", .reserved), ("fe00::1", .reserved),
    // Mapped, compatible, translated
    ("::ffff:127.0.0.1", .loopback), ("::ffff:8.8.8.8", .public), ("::ffff:169.254.169.254", .linkLocal),
    ("::10.0.0.1", .private), ("::2", .unspecified), ("::ffff:0:192.168.1.1", .private),
    // NAT64
    ("64:ff9b::127.0.0.1", .loopback), ("64:ff9b::8.8.8.8", .public), ("64:ff9b::a9fe:a9fe", .linkLocal),
    ("64:ff9b:1::8.8.8.8", .private), ("64:ff9b:1::169.254.169.254", .linkLocal),
    ("64:ff9b:1:a9fe:a9:fe00::", .linkLocal), ("64:ff9b:2::1", .reserved),
    // 6to4, Teredo, ISATAP
    ("2002:7f00:1::1", .loopback), ("2002:0808:0808::1", .public), ("2002:a9fe:a9fe::", .linkLocal),
    ("2001:0:808:808:0:0:f7f7:f7f7", .public), ("2001:0:808:808:0:0:80ff:fffe", .loopback),
    ("2001:0:7f00:1:0:0:f7f7:f7f7", .loopback), ("2001:0:808:808:0:0:5601:5601", .linkLocal),
    ("2606:4700::5efe:192.168.0.1", .private), ("2606:4700::200:5efe:10.0.0.1", .private),
    ("2606:4700::5efe:8.8.8.8", .public), ("fe80::5efe:8.8.8.8", .linkLocal),
  ]

  @Test("an address has the class of IANA's registries", arguments: table)
  func kind(_ text: String, _ expected: AddressClass) throws {
    let address = try #require(IPAddress(printed: text))
    #expect(AddressClass(address) == expected, "\(address)")
  }

  @Test("an address is written as it is read")
  func printed() {
    for text in [
      "0.0.0.0", "255.255.255.255", "10.1.2.3", "::", "::1", "fe80::1", "2001:db8::8:800:200c:417a",
    ] {
      #expect(IPAddress(printed: text)?.description == text)
    }
    for text in ["", "1.2.3", "a.b.c.d", "1.2.3.4.5", "[::1]", ":::", "256.1.1.1"] {
      #expect(IPAddress(printed: text) == nil, "\(text)")
    }
  }

  @Test("an address is recognised as a host in every spelling, and a name isn't")
  func hosts() {
    for host in [
      "127.0.0.1", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0x7f000001", "017700000001", "127.0.1",
    ] {
      #expect(IPAddress(host: host)?.description == "127.0.0.1", "\(host)")
    }
    #expect(IPAddress(host: "[::1]")?.description == "::1")
    for host in ["localhost", "a.example", "1.2.3.4.example", "127.0.0.1.", "0x7g.1", "", "deadbeef"] {
      #expect(IPAddress(host: host) == nil, "\(host)")
    }
  }

  @Test("the three address guards refuse their classes")
  func grades() {
    for kind in AddressClass.allCases {
      #expect(!AddressGuard.any.refuses(kind, redirectedByPublic: true))
      #expect(AddressGuard.public.refuses(kind, redirectedByPublic: false) == (kind != .public))
      let isLink = kind == .linkLocal || kind == .metadata
      #expect(AddressGuard.guarded.refuses(kind, redirectedByPublic: false) == isLink)
      #expect(AddressGuard.guarded.refuses(kind, redirectedByPublic: true) == (kind != .public))
    }
    #expect(AddressReach.open < .inner)
    #expect(AddressReach.inner < .link)
  }
}
