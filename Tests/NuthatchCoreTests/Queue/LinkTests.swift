import Foundation
import Testing

@testable import NuthatchCore

/// A folder in place of `/`, with the files of `/proc/net` and `/sys/class/net` that the probe reads.
private final class LinkTree {
  let root: String

  init() throws {
    var template = Array("/tmp/nuthatch-link-XXXXXX".utf8CString)
    root = try #require(mkdtemp(&template).map { String(cString: $0) })
    try write("proc/net/route", LinkTree.header)
  }

  deinit { try? FileManager.default.removeItem(atPath: root) }  // what remains lies in /tmp

  static let header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"

  static func route(_ name: String, metric: Int = 0, to: String = "00000000", flags: String = "0003")
    -> String
  {
    "\(name)\t\(to)\t010200C0\t\(flags)\t0\t0\t\(metric)\t\(to == "00000000" ? to : "00FFFFFF")\t0\t0\t0   \n"
  }

  func routes(_ lines: String...) throws { try write("proc/net/route", LinkTree.header + lines.joined()) }

  func write(_ path: String, _ text: String) throws {
    var folder = root
    for part in path.split(separator: "/").dropLast() {
      folder += "/\(part)"
      mkdir(folder, 0o755)
    }
    let file = try #require(fopen("\(root)/\(path)", "w"))
    fputs(text, file)
    fclose(file)
  }

  func interface(_ name: String, type: Int = 1, uevent: String = "", device: Bool = true) throws {
    try write("sys/class/net/\(name)/type", "\(type)\n")
    try write("sys/class/net/\(name)/uevent", "\(uevent)\nINTERFACE=\(name)\nIFINDEX=2\n")
    if device { try write("sys/class/net/\(name)/device/vendor", "0x8086\n") }
  }
}

@Suite("Network links") struct LinkTests {
  @Test("there is no link without a default route")
  func none() throws {
    let tree = try LinkTree()
    try tree.interface("eth0")
    try tree.routes(LinkTree.route("eth0", to: "000200C0"))
    #expect(LinkProbe(root: tree.root).link() == Link(kind: .none, interface: nil))
    #expect(LinkProbe(root: "\(tree.root)/nowhere").link().kind == .none)
  }

  @Test("the kind of a link comes from the kernel's files about its interface")
  func kinds() throws {
    let tree = try LinkTree()
    try tree.interface("eth0")
    try tree.interface("wlp3s0", uevent: "DEVTYPE=wlan")
    try tree.interface("ath0")
    try tree.write("sys/class/net/ath0/wireless/.keep", "")
    try tree.interface("wifi1")
    try tree.write("sys/class/net/wifi1/phy80211/index", "0\n")
    try tree.interface("mon0", type: 803, device: false)
    try tree.interface("wwp0s20", uevent: "DEVTYPE=wwan")
    try tree.interface("rmnet0", type: 519, device: false)
    try tree.interface("bnep0", uevent: "DEVTYPE=bluetooth")
    try tree.interface("usb0")
    mkdir("\(tree.root)/drivers", 0o755)
    symlink("../../../../../bus/usb/drivers/rndis_host", "\(tree.root)/sys/class/net/usb0/device/driver")
    try tree.interface("tun0", type: 65534, device: false)
    try tree.interface("wg0", type: 65534, uevent: "DEVTYPE=wireguard", device: false)
    try tree.interface("veth0", device: false)
    let expected: [(String, LinkKind)] = [
      ("eth0", .wired), ("wlp3s0", .wireless), ("ath0", .wireless), ("wifi1", .wireless), ("mon0", .wireless),
      ("wwp0s20", .metered), ("rmnet0", .metered), ("bnep0", .metered), ("usb0", .metered),
      ("tun0", .unknown), ("wg0", .unknown), ("veth0", .unknown), ("gone0", .unknown),
      ("../../../etc", .unknown), ("..", .unknown), ("", .unknown),
    ]
    for (name, kind) in expected {
      #expect(LinkProbe(root: tree.root).kind(of: name) == kind, "\(name)")
    }
  }

  @Test("the link is that of the best default route that is up")
  func bestRoute() throws {
    let tree = try LinkTree()
    try tree.interface("eth0")
    try tree.interface("wlan0", uevent: "DEVTYPE=wlan")
    try tree.routes(
      LinkTree.route("dead0", flags: "0200"), LinkTree.route("eth0", metric: 600),
      LinkTree.route("wlan0", metric: 100), LinkTree.route("eth0", to: "000200C0"))
    #expect(LinkProbe(root: tree.root).link() == Link(kind: .wireless, interface: "wlan0"))
    #expect(LinkProbe(root: tree.root).defaultInterfaces() == ["wlan0", "eth0"])
  }

  @Test("a default route of IPv6 is found, too")
  func ipv6() throws {
    let tree = try LinkTree()
    try tree.interface("wwan0", uevent: "DEVTYPE=wwan")
    let zeros = String(repeating: "0", count: 32)
    try tree.write(
      "proc/net/ipv6_route",
      """
      fe800000000000000000000000000000 40 \(zeros) 00 \(zeros) 00000100 00000001 00000000 00000001 wwan0
      \(zeros) 00 \(zeros) 00 \(zeros) ffffffff 00000001 00000000 00200200       lo
      \(zeros) 00 \(zeros) 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003 wwan0

      """)
    #expect(LinkProbe(root: tree.root).link() == Link(kind: .metered, interface: "wwan0"))
  }

  @Test("the link below a bridge, bond or tunnel counts, if it can be known")
  func stacked() throws {
    let tree = try LinkTree()
    try tree.interface("eth0")
    try tree.interface("wlan0", uevent: "DEVTYPE=wlan")
    try tree.interface("br0", uevent: "DEVTYPE=bridge", device: false)
    try tree.write("sys/class/net/br0/brif/eth0", "")
    try tree.write("sys/class/net/br0/brif/veth1", "")
    try tree.interface("bond0", uevent: "DEVTYPE=bond", device: false)
    try tree.write("sys/class/net/bond0/lower_eth0", "")
    try tree.write("sys/class/net/bond0/lower_wlan0", "")
    try tree.interface("loop0", device: false)
    try tree.write("sys/class/net/loop0/lower_loop0", "")
    try tree.interface("tun0", type: 65534, device: false)
    let probe = LinkProbe(root: tree.root)
    #expect(probe.kind(of: "br0") == .wired)
    #expect(probe.kind(of: "bond0") == .wireless)
    #expect(probe.kind(of: "loop0") == .unknown)
    try tree.routes(LinkTree.route("tun0", metric: 50), LinkTree.route("wlan0", metric: 600))
    #expect(probe.link() == Link(kind: .wireless, interface: "wlan0"))
    try tree.routes(LinkTree.route("tun0", metric: 50))
    #expect(probe.link() == Link(kind: .unknown, interface: "tun0"))
  }

  @Test("garbage in the kernel's files means no link, and does no harm")
  func garbage() throws {
    let tree = try LinkTree()
    let all = (0...255).map { String(UnicodeScalar(UInt8($0))) }.joined()
    for text in [
      "", "\n\n\n", "eth0", all, String(repeating: "eth0\t00000000\t", count: 50_000), "a b c d e f g h",
    ] {
      try tree.write("proc/net/route", text)
      try tree.write("proc/net/ipv6_route", text)
      #expect(LinkProbe(root: tree.root).link().kind == .none)
    }
  }

  @Test("the watch looks again when the kernel says so, and tells only of another link")
  func watch() throws {
    let tree = try LinkTree()
    try tree.interface("eth0")
    try tree.interface("wlan0", uevent: "DEVTYPE=wlan")
    var seen: [Link] = []
    let watch = LinkWatch(LinkProbe(root: tree.root)) { seen.append($0) }
    #expect(watch.link.kind == .none)
    watch.readMessages()
    #expect(seen.isEmpty)
    try tree.routes(LinkTree.route("eth0"))
    watch.readMessages()
    watch.readMessages()
    try tree.routes(LinkTree.route("wlan0"))
    watch.look()
    try tree.routes()
    watch.look()
    #expect(seen.map(\.kind) == [.wired, .wireless, .none])
    if watch.descriptor >= 0 { #expect(fcntl(watch.descriptor, F_GETFD) & FD_CLOEXEC != 0) }
    watch.stop()
    watch.stop()
    #expect(watch.descriptor == -1)
  }

  @Test("the link of this machine can be read")
  func thisMachine() {
    let link = LinkProbe().link()
    #expect((link.kind == .none) == (link.interface == nil))
  }
}
