/// Reads JSON token by token, without recursion, so that the depth of the JSON doesn't matter.
package struct JSONScanner {
  /// The position and the reason of an error in JSON.
  package struct Fault: Error {
    let place: Int
    let reason: StaticString
  }

  package let bytes: UnsafeRawBufferPointer
  package var place: Int

  package init(_ bytes: UnsafeRawBufferPointer, at place: Int = 0) {
    self.bytes = bytes
    self.place = place
  }

  package func fault(_ reason: StaticString) -> Fault { Fault(place: place, reason: reason) }

  package var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  package mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    place += 1
    return true
  }

  package mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { place += 1 }
  }

  /// Skips a value without checking it: only brackets and strings are recognised.
  package mutating func skip() throws(Fault) {
    var depth = 0
    while let byte = next {
      switch byte {
      case UInt8(ascii: "\""):
        try skipString()
        if depth == 0 { return }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: ",") where depth == 0: return
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
        if depth == 0 { return place += 1 }
      default: break
      }
      place += 1
    }
    guard depth == 0 else { throw fault("the text ends inside a value") }
  }

  private mutating func skipString() throws(Fault) {
    place += 1
    while let byte = next {
      // A character after a backslash doesn't end the string.
      place += byte == UInt8(ascii: "\\") ? 2 : 1
      if byte == UInt8(ascii: "\"") { return }
    }
    throw fault("the text ends inside a string")
  }

  /// Reads the name of an object's next member, and the colon.
  package mutating func name() throws(Fault) -> [UInt8] {
    skipSpace()
    guard next == UInt8(ascii: "\"") else { throw fault("a name is missing") }
    let name = try stringBytes()
    skipSpace()
    guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
    return name
  }

  package mutating func string() throws(Fault) -> String { try text(try stringBytes()) }

  func text(_ bytes: [UInt8]) throws(Fault) -> String {
    guard let valid = String(validating: bytes, as: UTF8.self) else {
      throw fault("a string is not UTF-8")
    }
    return valid
  }

  private mutating func stringBytes() throws(Fault) -> [UInt8] {
    place += 1
    var text: [UInt8] = []
    while true {
      let start = place
      while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
        place += 1
      }
      text += bytes[start..<place]
      if take(UInt8(ascii: "\"")) { return text }
      guard take(UInt8(ascii: "\\")) else {
        throw fault(next == nil ? "the text ends inside a string" : "a string contains a control character")
      }
      try escape(into: &text)
    }
  }

  private mutating func escape(into text: inout [UInt8]) throws(Fault) {
    let byte = next
    place += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte ?? 0)
    case UInt8(ascii: "b"): text.append(8)
    case UInt8(ascii: "f"): text.append(12)
    case UInt8(ascii: "n"): text.append(10)
    case UInt8(ascii: "r"): text.append(13)
    case UInt8(ascii: "t"): text.append(9)
    case UInt8(ascii: "u"):
      let first = try unit()
      var scalar = Unicode.Scalar(UInt32(first))
      if (0xd800..<0xdc00).contains(first), bytes[min(place, bytes.count)...].starts(with: "\\u".utf8) {
        let before = place
        place += 2
        let second = try unit()
        if (0xdc00..<0xe000).contains(second) {
          scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00))
        } else {
          place = before
        }
      }
      // A lone surrogate isn't a character.
      text += Array(String(scalar ?? "\u{fffd}").utf8)
    default:
      place -= 1
      throw fault("an unknown escape sequence")
    }
  }

  private mutating func unit() throws(Fault) -> UInt16 {
    var unit: UInt16 = 0
    for _ in 0..<4 {
      guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
        throw fault("four hexadecimal digits are missing")
      }
      unit = unit << 4 | UInt16(digit)
      place += 1
    }
    return unit
  }

  mutating func number() throws(Fault) -> Double {
    let start = place
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    guard let number = Double(String(decoding: bytes[start..<place], as: UTF8.self)) else {
      throw fault("not a number")
    }
    return number
  }

  private mutating func digits() throws(Fault) {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    if place == start { throw fault("a digit is missing") }
  }
}
