import CSystem

extension WebURL {
  /// Returns the host in `range`, normalised: lower case, ASCII, IPv6 in brackets.
  static func normalisedHost(_ bytes: [UInt8], _ range: Range<Int>) throws(URLFault) -> String {
    guard let first = bytes[range].first else { throw URLFault(at: range.lowerBound, "no host") }
    if first == UInt8(ascii: "[") { return try normalisedIPv6(bytes, range) }
    var ascii = bytes[range].map(\.lowercased)
    if let foreign = bytes[range].firstIndex(where: { $0 >= 0x80 }) {
      ascii = try internationalised(bytes[range], at: foreign)
    }
    for (offset, byte) in ascii.enumerated() where !byte.isHostCharacter {
      throw URLFault(
        at: range.lowerBound + min(offset, range.count - 1), "a character that isn't allowed in a host name")
    }
    guard ascii.count <= 254 else {
      throw URLFault(at: range.lowerBound, "the host name is longer than 253 bytes")
    }
    return String(decoding: ascii, as: UTF8.self)
  }

  /// Uses libcurl's IDNA tables, because libcurl connects to the name that it computes itself.
  private static func internationalised(_ host: ArraySlice<UInt8>, at position: Int) throws(URLFault)
    -> [UInt8]
  {
    guard let name = String(validating: host, as: UTF8.self), let ascii = nhs_host_to_ascii(name) else {
      throw URLFault(at: position, "the host is not a valid internationalised name")
    }
    defer { nhs_string_free(ascii) }
    return Array(String(cString: ascii).lowercased().utf8)
  }

  private static func normalisedIPv6(_ bytes: [UInt8], _ range: Range<Int>) throws(URLFault) -> String {
    let inner = bytes[range].dropFirst().dropLast()
    for (position, byte) in zip(inner.indices, inner)
    where !(byte.isHexDigit || byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")) {
      // A zone ("%eth0") names a network interface of this machine, which a URL must not choose.
      throw URLFault(at: position, "the host is not an IPv6 address, or has a zone (%), which is not allowed")
    }
    guard let canonical = canonicalIPv6(String(decoding: inner, as: UTF8.self)) else {
      throw URLFault(at: range.lowerBound, "the host is not an IPv6 address")
    }
    return "[\(canonical)]"
  }

  private static func canonicalIPv6(_ text: String) -> String? {
    var printed = [CChar](repeating: 0, count: 64)
    guard nhs_canonical_ipv6(text, &printed, printed.count) == 0 else { return nil }
    return String(decoding: printed.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
