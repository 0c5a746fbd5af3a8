/// Goes through a line of JSON, without making anything of the values that aren't asked for.
struct JSONLine {
  let bytes: [UInt8]
  var place = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The text that the field `name` of an object is. Nil for anything else.
  static func text(_ name: String, in line: [UInt8]) -> String? {
    var reader = JSONLine(line)
    reader.skipBlanks()
    return reader.find(name) ? reader.string() : nil
  }

  /// The whole number, not below 0, that the field `name` of an object is. Nil for anything else.
  static func number(_ name: String, in line: [UInt8]) -> Int? {
    var reader = JSONLine(line)
    reader.skipBlanks()
    guard reader.find(name) else { return nil }
    return Int(
      String(decoding: reader.bytes[reader.place...].prefix { (0x30...0x39).contains($0) }, as: UTF8.self))
  }

  /// Goes to the value of a field of an object. False when there is none.
  private mutating func find(_ name: String) -> Bool {
    guard take(UInt8(ascii: "{")) else { return false }
    while let key = memberName() {
      if key.elementsEqual(name.utf8) { return true }
      guard skipValue() else { return false }
      skipBlanks()
      guard take(UInt8(ascii: ",")) else { return false }
    }
    return false
  }

  /// Goes to the value of an object's next member. Nil when there is none.
  mutating func memberName() -> [UInt8]? {
    skipBlanks()
    guard let name = stringBytes() else { return nil }
    skipBlanks()
    guard take(UInt8(ascii: ":")) else { return nil }
    skipBlanks()
    return name
  }

  var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    place += 1
    return true
  }

  mutating func skipBlanks() {
    while let byte = next, byte == 0x20 || (9...13).contains(byte) { place += 1 }
  }

  /// Passes over a value; what stands in brackets is counted, not looked at.
  mutating func skipValue() -> Bool {
    var depth = 0
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        guard skipString() else { return false }
        if depth == 0 { return true }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return true }
        depth -= 1
        if depth == 0 {
          place += 1
          return true
        }
      case UInt8(ascii: ","): if depth == 0 { return true }
      default: break
      }
      place += 1
    }
    return depth == 0
  }

  mutating func string() -> String? { stringBytes().flatMap { String(validating: $0, as: UTF8.self) } }

  private mutating func skipString() -> Bool {
    place += 1
    while let byte = next {
      // What stands behind a backslash ends nothing.
      place += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return true }
    }
    place = bytes.count
    return false
  }

  private mutating func stringBytes() -> [UInt8]? {
    guard take(UInt8(ascii: "\"")) else { return nil }
    var text: [UInt8] = []
    while let byte = next {
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return text
      case UInt8(ascii: "\\"): guard unescape(into: &text) else { return nil }
      default: text.append(byte)
      }
    }
    return nil
  }

  private mutating func unescape(into text: inout [UInt8]) -> Bool {
    guard let byte = next else { return false }
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "u"): return unescapeNumber(into: &text)
    default: return false
    }
    return true
  }

  private mutating func unescapeNumber(into text: inout [UInt8]) -> Bool {
    guard var code = hex() else { return false }
    if (0xd800..<0xdc00).contains(code) {
      guard take(0x5c), take(UInt8(ascii: "u")), let low = hex(), (0xdc00..<0xe000).contains(low) else {
        return false
      }
      code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(code) else { return false }
    text += Array(String(Character(scalar)).utf8)
    return true
  }

  private mutating func hex() -> UInt32? {
    guard place + 4 <= bytes.count else { return nil }
    let digits = String(decoding: bytes[place..<place + 4], as: UTF8.self)
    place += 4
    return UInt32(digits, radix: 16)
  }
}
