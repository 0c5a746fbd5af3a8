import Glibc
import NuthatchBase

/// The kind of the default route, and its interface.
struct Link: Equatable, Sendable {
  var kind: LinkKind
  var interface: String?
}

/// Reads the kind of the default route from `/proc/net` and `/sys/class/net`. Asks no daemon.
///
/// - `metered`: modems (WWAN, raw IP), and telephones that share their connection over USB or Bluetooth
/// - `wireless`: WLAN
/// - `wired`: Ethernet with a device behind it
/// - A bridge, bond or VLAN counts as the interface below it; of several below it, the most expensive counts.
/// - `unknown`: anything else, such as tunnels. If there is also a default route of a known kind, that one counts.
struct LinkProbe: Sendable {
  /// The prefix of all paths. Tests set it.
  var root = ""

  func link() -> Link {
    let names = defaultInterfaces()
    let links = names.map { Link(kind: kind(of: $0), interface: $0) }
    return links.first { $0.kind != .unknown } ?? links.first ?? Link(kind: .none, interface: nil)
  }

  /// Returns the interfaces of the default routes: the preferred one first, IPv4 before IPv6.
  func defaultInterfaces() -> [String] {
    var names: [String] = []
    for route in (routes4() + routes6()) where !names.contains(route.name) { names.append(route.name) }
    return names
  }

  func kind(of interface: String) -> LinkKind { kind(of: interface, depth: 0) }
}

// MARK: - Routes

extension LinkProbe {
  private typealias Route = (name: String, metric: UInt32)

  private static let upFlag: UInt32 = 0x0001  // RTF_UP
  private static let rejectFlag: UInt32 = 0x0200  // RTF_REJECT

  /// Fields: Iface Destination Gateway Flags RefCnt Use Metric Mask … Destination, gateway, mask and flags are hexadecimal, the
  /// others decimal.
  private func routes4() -> [Route] {
    let routes: [Route] = lines("proc/net/route").dropFirst().compactMap { line in
      let fields = line.split(whereSeparator: { $0 == "\t" || $0 == " " })
      guard fields.count >= 8, fields[1] == "00000000", fields[7] == "00000000",
        let flags = UInt32(fields[3], radix: 16), let metric = UInt32(fields[6])
      else { return nil }
      return usable(String(fields[0]), flags, metric)
    }
    return byMetric(routes)
  }

  /// Fields: destination, its length, source, its length, next hop, metric, references, uses, flags, interface.
  private func routes6() -> [Route] {
    let routes: [Route] = lines("proc/net/ipv6_route").compactMap { line in
      let fields = line.split(separator: " ", omittingEmptySubsequences: true)
      guard fields.count >= 10, fields[0].allSatisfy({ $0 == "0" }), fields[1] == "00",
        let flags = UInt32(fields[8], radix: 16), let metric = UInt32(fields[5], radix: 16)
      else { return nil }
      return usable(String(fields[9]), flags, metric)
    }
    return byMetric(routes)
  }

  private func usable(_ name: String, _ flags: UInt32, _ metric: UInt32) -> Route? {
    guard name != "lo", flags & LinkProbe.upFlag != 0, flags & LinkProbe.rejectFlag == 0 else { return nil }
    return (name, metric)
  }

  /// Sorts by metric. Routes with equal metrics keep the kernel's order.
  private func byMetric(_ routes: [Route]) -> [Route] {
    routes.enumerated().sorted { ($0.element.metric, $0.offset) < ($1.element.metric, $1.offset) }
      .map(\.element)
  }
}

// MARK: - Interfaces

extension LinkProbe {
  /// Drivers of telephones that share their connection over USB, and of modems.
  private static let modemDrivers: Set<String> = [
    "rndis_host", "ipheth", "cdc_mbim", "qmi_wwan", "huawei_cdc_ncm", "sierra_net", "option",
  ]
  /// ARPHRD_ETHER, ARPHRD_RAWIP, and the kinds of IEEE 802.11.
  private static let ethernet = 1
  private static let rawIP = 519
  private static let wlan = 801...803

  private func kind(of interface: String, depth: Int) -> LinkKind {
    // The name comes from the kernel. Check anyway that it doesn't lead out of the folder.
    guard !interface.isEmpty, !interface.contains("/"), !interface.hasPrefix(".") else { return .unknown }
    let folder = "sys/class/net/\(interface)"
    let type = lines("\(folder)/type").first.flatMap { Int($0) }
    switch deviceType(folder) {
    case "wwan", "bluetooth": return .metered
    case "wlan": return .wireless
    default: break
    }
    if type == LinkProbe.rawIP || isModem(folder) { return .metered }
    if exists("\(folder)/wireless") || exists("\(folder)/phy80211") { return .wireless }
    if let type, LinkProbe.wlan.contains(type) { return .wireless }
    let below =
      names("\(folder)").filter { $0.hasPrefix("lower_") }.map { String($0.dropFirst(6)) }
      + names("\(folder)/brif")
    if !below.isEmpty, depth < 4 {
      let kinds = below.map { kind(of: $0, depth: depth + 1) }
      return [.metered, .wireless, .wired].first { kinds.contains($0) } ?? .unknown
    }
    return type == LinkProbe.ethernet && exists("\(folder)/device") ? .wired : .unknown
  }

  private func deviceType(_ folder: String) -> String? {
    lines("\(folder)/uevent").first { $0.hasPrefix("DEVTYPE=") }.map { String($0.dropFirst(8)) }
  }

  private func isModem(_ folder: String) -> Bool {
    guard let driver = target("\(folder)/device/driver"), let name = driver.split(separator: "/").last
    else { return false }
    return LinkProbe.modemDrivers.contains(String(name))
  }
}

// MARK: - Files

extension LinkProbe {
  /// The route table of a router may be long. The default route is near its beginning.
  private static let longestFile = 262_144

  /// Returns no lines if the file doesn't exist.
  private func lines(_ path: String) -> [String] {
    let text = WholeFile.content(of: "\(root)/\(path)", atMost: LinkProbe.longestFile) ?? []
    return String(decoding: text, as: UTF8.self).split(separator: "\n").map(String.init)
  }

  private func exists(_ path: String) -> Bool { access("\(root)/\(path)", F_OK) == 0 }

  private func target(_ path: String) -> String? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = bytes.withUnsafeMutableBytes { buffer in
      buffer.baseAddress.map { readlink("\(root)/\(path)", $0, buffer.count) } ?? -1
    }
    guard count > 0, count <= bytes.count else { return nil }
    return String(decoding: bytes[..<count], as: UTF8.self)
  }

  private func names(_ path: String) -> [String] { (folderNames("\(root)/\(path)") ?? []).sorted() }
}
