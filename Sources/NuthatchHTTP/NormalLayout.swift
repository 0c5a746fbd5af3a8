/// Finds the parts of a URL that is already normalised, in one pass. Most URLs are, and every cache hit parses one.
///
/// Nil for all other URLs, also for valid ones: `WebURL.init(bytes:)` parses those.
struct NormalLayout {
  let scheme: WebURL.Scheme
  let hostEnd: Int
  let port: UInt16
  let targetStart: Int

  init?(_ text: UnsafeBufferPointer<UInt8>) {
    guard text.count <= WebURL.longest, let scheme = Self.scheme(text) else { return nil }
    let hostStart = scheme == .http ? 7 : 8
    let hostEnd = text[hostStart...].firstIndex { !$0.isNormalInHost } ?? text.count
    guard hostEnd > hostStart, hostEnd - hostStart <= 253, hostEnd < text.count else { return nil }
    var targetStart = hostEnd
    var port = Int(scheme.defaultPort)
    if text[hostEnd] == UInt8(ascii: ":") {
      targetStart = text[(hostEnd + 1)...].firstIndex { !$0.isDigit } ?? text.count
      guard targetStart < text.count, let own = Self.port(text[(hostEnd + 1)..<targetStart]), own != port
      else {
        return nil
      }
      port = own
    }
    guard text[targetStart] == UInt8(ascii: "/"), Self.isNormalTarget(text[targetStart...]) else {
      return nil
    }
    self.scheme = scheme
    self.hostEnd = hostEnd
    self.port = UInt16(port)
    self.targetStart = targetStart
  }

  private static func scheme(_ text: UnsafeBufferPointer<UInt8>) -> WebURL.Scheme? {
    guard text.count > 8 else { return nil }
    if text.starts(with: "http://".utf8) { return .http }
    return text.starts(with: "https://".utf8) ? .https : nil
  }

  /// Returns nil for a spelling that normalising would change, such as `080`.
  private static func port(_ digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int? {
    guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0") else { return nil }
    let port = digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    return port <= Int(UInt16.max) ? port : nil
  }

  /// Returns whether there is nothing to encode, no fragment, and no segment that may consist of dots.
  private static func isNormalTarget(_ target: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
    var isInPath = true
    var last: UInt8 = 0
    for byte in target {
      switch byte {
      case UInt8(ascii: "."), UInt8(ascii: "%"):
        if isInPath, last == UInt8(ascii: "/") { return false }
      case UInt8(ascii: "?"): isInPath = false
      case UInt8(ascii: "#"), UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
        UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
        return false
      default:
        if byte <= 0x20 || byte >= 0x7f { return false }
      }
      last = byte
    }
    return true
  }
}

extension UInt8 {
  /// Whether the byte may occur in a normalised host, except IPv6.
  fileprivate var isNormalInHost: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"),
      UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}
