import Glibc

/// An IPv4 or IPv6 address. The first byte of the address is the highest byte of the number.
package enum IPAddress: Hashable, Sendable {
  case v4(UInt32)
  case v6(high: UInt64, low: UInt64)

  static let loopback = IPAddress.v4(0x7F00_0001)

  /// Nil if the `sockaddr` is too short, or neither IPv4 nor IPv6.
  init?(_ address: UnsafePointer<sockaddr>, length: Int) {
    let raw = UnsafeRawBufferPointer(start: address, count: length)
    switch Int32(address.pointee.sa_family) {
    case AF_INET where raw.count >= 8: self = .v4(IPAddress.number(raw[4..<8], as: UInt32.self))
    case AF_INET6 where raw.count >= 24: self.init(sixteen: raw[8..<24])
    default: return nil
    }
  }

  /// Parses the form that `inet_ntop` prints. A zone behind `%` is ignored.
  package init?(printed text: String) {
    guard let address = text.withCString({ IPAddress(cString: $0) }) else { return nil }
    self = address
  }

  /// Parses a C string in that form.
  init?(cString text: UnsafePointer<CChar>) {
    if let zone = strchr(text, 0x25) {
      let bytes = UnsafeRawBufferPointer(start: text, count: zone - UnsafeMutablePointer(mutating: text))
      self.init(printed: String(decoding: bytes, as: UTF8.self))
      return
    }
    var four = in_addr()
    if inet_pton(AF_INET, text, &four) == 1 {
      self = .v4(UInt32(bigEndian: four.s_addr))
      return
    }
    var six = in6_addr()
    guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    self = withUnsafeBytes(of: &six) { IPAddress(sixteen: $0[...]) }
  }

  /// Parses a URL's host: IPv6 in brackets, or IPv4 as `inet_aton` does (one to four numbers, decimal, octal or hexadecimal).
  /// Nil if the host is a name.
  package init?(host: String) {
    if host.hasPrefix("["), host.hasSuffix("]") {
      self.init(printed: String(host.dropFirst().dropLast()))
      return
    }
    var four = in_addr()
    guard host.utf8.first?.isASCIIDigit == true, inet_aton(host, &four) != 0 else { return nil }
    self = .v4(UInt32(bigEndian: four.s_addr))
  }

  private init(sixteen bytes: Slice<UnsafeRawBufferPointer>) {
    self = .v6(
      high: IPAddress.number(bytes.prefix(8), as: UInt64.self),
      low: IPAddress.number(bytes.dropFirst(8), as: UInt64.self))
  }

  private static func number<Number: FixedWidthInteger>(
    _ bytes: Slice<UnsafeRawBufferPointer>, as _: Number.Type
  ) -> Number {
    bytes.reduce(0) { $0 << 8 | Number(truncatingIfNeeded: $1) }
  }

  /// Returns whether the first `bits` bits are those of `network`.
  func isIn(_ network: IPAddress, bits: Int) -> Bool {
    switch (self, network) {
    case (.v4(let own), .v4(let other)):
      return (0...32).contains(bits) && (bits == 0 || (own ^ other) >> (32 - bits) == 0)
    case (.v6(let high, let low), .v6(let otherHigh, let otherLow)):
      guard (0...128).contains(bits) else { return false }
      if bits <= 64 { return bits == 0 || (high ^ otherHigh) >> (64 - bits) == 0 }
      return high == otherHigh && (low ^ otherLow) >> (128 - bits) == 0
    default: return false
    }
  }
}

extension IPAddress: CustomStringConvertible {
  package var description: String {
    var printed = [CChar](repeating: 0, count: 64)
    switch self {
    case .v4(let number):
      var four = in_addr(s_addr: number.bigEndian)
      inet_ntop(AF_INET, &four, &printed, socklen_t(printed.count))
    case .v6(let high, let low):
      var six = (high.bigEndian, low.bigEndian)
      inet_ntop(AF_INET6, &six, &printed, socklen_t(printed.count))
    }
    return String(decoding: printed.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

extension UInt8 {
  fileprivate var isASCIIDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
