import NuthatchHTTP

/// A value of JSON (RFC 8259).
public enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  /// Of members with the same name the last one.
  case object([String: JSON])

  /// The member of an object; nil for none, and of everything else.
  public subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The item of an array; nil for none, and of everything else.
  public subscript(index: Int) -> JSON? {
    if case .array(let items) = self, items.indices.contains(index) { items[index] } else { nil }
  }

  /// The text of a string; nil of everything else.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// A number; nil of everything else.
  public var number: Double? { if case .number(let number) = self { number } else { nil } }
}

/// Reads JSON, and nothing that isn't: no comments, no `NaN`, no commas too many.
struct JSONReader {
  /// Where and why it isn't JSON.
  struct Fault: Error {
    let place: Int
    let reason: StaticString
  }

  /// An array or object that has yet to end.
  private struct Level {
    let isObject: Bool
    var items: [JSON] = []
    var members: [String: JSON] = [:]
    /// Of the member that comes next.
    var name = ""
  }

  /// Arrays and objects in each other.
  static let deepest = 512

  private let bytes: UnsafeRawBufferPointer
  private let keeps: Bool
  private var place = 0
  // The levels that are open, in place of calls in each other: the caller's stack may be small.
  private var levels: [Level] = []

  /// All of it, as one value.
  static func read(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> JSON { try read(bytes, keeps: true) }

  /// Looks whether it is JSON, and keeps nothing of it: what is released level by level takes as much stack as there are levels.
  static func check(_ bytes: UnsafeRawBufferPointer) throws(Fault) { _ = try read(bytes, keeps: false) }

  private static func read(_ bytes: UnsafeRawBufferPointer, keeps: Bool) throws(Fault) -> JSON {
    var reader = JSONReader(bytes: bytes, keeps: keeps)
    if bytes.starts(with: [0xef, 0xbb, 0xbf]) { reader.place = 3 }
    let value = try reader.value()
    reader.skipSpace()
    guard reader.place == bytes.count else { throw reader.fault("something follows") }
    return value
  }

  private init(bytes: UnsafeRawBufferPointer, keeps: Bool) { (self.bytes, self.keeps) = (bytes, keeps) }

  private func fault(_ reason: StaticString) -> Fault { Fault(place: place, reason: reason) }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    place += 1
    return true
  }

  private mutating func skipSpace() {
    while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { place += 1 }
  }

  private mutating func value() throws(Fault) -> JSON {
    while true {
      skipSpace()
      var value: JSON
      switch next {
      case UInt8(ascii: "{"):
        try begin(Level(isObject: true))
        guard take(UInt8(ascii: "}")) else {
          try nameOfMember()
          continue
        }
        value = end()
      case UInt8(ascii: "["):
        try begin(Level(isObject: false))
        guard take(UInt8(ascii: "]")) else { continue }
        value = end()
      default: value = try scalar()
      }
      // It may end the ones that it is in.
      while !levels.isEmpty {
        guard try closes(after: value) else { break }
        value = end()
      }
      if levels.isEmpty { return value }
    }
  }

  private mutating func begin(_ level: Level) throws(Fault) {
    guard levels.count < Self.deepest else { throw fault("more than 512 arrays and objects in each other") }
    place += 1
    levels.append(level)
    skipSpace()
  }

  private mutating func end() -> JSON {
    let level = levels.removeLast()
    return level.isObject ? .object(level.members) : .array(level.items)
  }

  /// Puts a value into the innermost level. Whether that ends then.
  private mutating func closes(after value: JSON) throws(Fault) -> Bool {
    let inner = levels.count - 1
    let isObject = levels[inner].isObject
    if keeps {
      if isObject {
        levels[inner].members[levels[inner].name] = value
      } else {
        levels[inner].items.append(value)
      }
    }
    skipSpace()
    if take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return true }
    guard take(UInt8(ascii: ",")) else {
      throw fault(isObject ? "a comma or } is missing" : "a comma or ] is missing")
    }
    if isObject { try nameOfMember() }
    return false
  }

  private mutating func nameOfMember() throws(Fault) {
    skipSpace()
    guard next == UInt8(ascii: "\"") else { throw fault("a name is missing") }
    levels[levels.count - 1].name = try string()
    skipSpace()
    guard take(UInt8(ascii: ":")) else { throw fault("a colon is missing") }
  }

  private mutating func scalar() throws(Fault) -> JSON {
    switch next {
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"): return .number(try number())
    case let digit? where (0x30...0x39).contains(digit): return .number(try number())
    case nil: throw fault("it ends where a value should be")
    default: throw fault("no value begins like this")
    }
  }

  private mutating func word(_ word: String, _ value: JSON) throws(Fault) -> JSON {
    for byte in word.utf8 where !take(byte) { throw fault("no value begins like this") }
    return value
  }

  private mutating func number() throws(Fault) -> Double {
    let start = place
    _ = take(UInt8(ascii: "-"))
    if !take(UInt8(ascii: "0")) { try digits() }
    if take(UInt8(ascii: ".")) { try digits() }
    if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
      if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
      try digits()
    }
    guard let number = Double(String(decoding: bytes[start..<place], as: UTF8.self)) else {
      throw fault("no number")
    }
    return number
  }

  private mutating func digits() throws(Fault) {
    let start = place
    while let byte = next, (0x30...0x39).contains(byte) { place += 1 }
    if place == start { throw fault("a digit is missing") }
  }

  private mutating func string() throws(Fault) -> String {
    place += 1
    var text: [UInt8] = []
    while true {
      let start = place
      while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\"), byte >= 0x20 {
        place += 1
      }
      text += bytes[start..<place]
      if take(UInt8(ascii: "\"")) { break }
      guard take(UInt8(ascii: "\\")) else {
        throw fault(next == nil ? "it ends in the middle of a string" : "a control character in a string")
      }
      try escape(into: &text)
    }
    guard let valid = String(validating: text, as: UTF8.self) else {
      throw fault("a string that is no UTF-8")
    }
    return valid
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
      // Half of a pair is no character.
      text += Array(String(scalar ?? "\u{fffd}").utf8)
    default:
      place -= 1
      throw fault("no such escape")
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
}
