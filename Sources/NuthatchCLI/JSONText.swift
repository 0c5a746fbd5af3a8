/// Writes JSON, a line at a time.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  var text: String { String(decoding: bytes, as: UTF8.self) }

  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    needsComma = false
  }

  /// An object whose fields `body` writes; under a name when it stands in another one.
  mutating func object(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "{"))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: "}"))
    needsComma = true
  }

  mutating func list<Element>(
    _ name: String? = nil, _ elements: some Sequence<Element>, _ body: (inout JSONText, Element) -> Void
  ) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    needsComma = false
    for element in elements { body(&self, element) }
    bytes.append(UInt8(ascii: "]"))
    needsComma = true
  }

  mutating func put(_ name: String? = nil, _ text: String?) {
    begin(name)
    if let text { quote(text) } else { raw("null") }
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    defer { bytes.append(UInt8(ascii: "\"")) }
    if text.utf8.allSatisfy(Self.isPlain) { return raw(text) }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      // Also what would end a script in a page.
      case 0..<0x20, 0x7f, UInt8(ascii: "<"):
        let digits = Array("0123456789abcdef".utf8)
        bytes += Array("\\u00".utf8)
        bytes.append(digits[Int(byte >> 4)])
        bytes.append(digits[Int(byte & 15)])
      default: bytes.append(byte)
      }
    }
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7f
      && byte != UInt8(ascii: "<")
  }

  mutating func put(_ name: String? = nil, _ number: (some BinaryInteger)?) {
    begin(name)
    raw(number.map { String($0) } ?? "null")
  }

  mutating func put(_ name: String? = nil, _ value: Bool?) {
    begin(name)
    raw(value.map { $0 ? "true" : "false" } ?? "null")
  }

  /// A number with three digits after the point at most.
  mutating func put(thousandths: Int64, _ name: String? = nil) {
    begin(name)
    let count = max(0, thousandths)
    raw(String(count / 1000))
    var rest = count % 1000
    guard rest > 0 else { return }
    var digits = rest < 10 ? "00" : rest < 100 ? "0" : ""
    while rest % 10 == 0 { rest /= 10 }
    digits += String(rest)
    raw("." + digits)
  }

  mutating func endLine() {
    bytes.append(10)
    needsComma = false
  }

  private mutating func begin(_ name: String?) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = false
    if let name {
      quote(name)
      bytes.append(UInt8(ascii: ":"))
    }
    needsComma = true
  }

  private mutating func raw(_ text: String) { bytes.append(contentsOf: text.utf8) }
}
