/// A value of JSON (RFC 8259).
public enum JSON: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  /// If a name occurs several times, its last value counts.
  case object([String: JSON])

  /// The member of an object; nil if it is missing, and for other values.
  public subscript(name: String) -> JSON? {
    if case .object(let members) = self { members[name] } else { nil }
  }

  /// The item of an array; nil if it is missing, and for other values.
  public subscript(index: Int) -> JSON? {
    if case .array(let items) = self, items.indices.contains(index) { items[index] } else { nil }
  }

  /// The text of a string; nil for other values.
  public var string: String? { if case .string(let text) = self { text } else { nil } }

  /// The value of a number; nil for other values.
  public var number: Double? { if case .number(let number) = self { number } else { nil } }
}

/// Reads strict JSON: no comments, no `NaN`, no superfluous commas.
package struct JSONReader {
  package typealias Fault = JSONScanner.Fault

  /// An array or object that isn't complete.
  private struct Level {
    let isObject: Bool
    var items: [JSON] = []
    var members: [String: JSON] = [:]
    /// The name of the next member.
    var name = ""
  }

  /// The greatest depth of nested arrays and objects.
  static let deepest = 512

  private var scanner: JSONScanner
  private let keeps: Bool
  // The open levels, instead of recursion: the caller's stack may be small.
  private var levels: [Level] = []

  /// Reads all bytes as one value.
  package static func read(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> JSON {
    try read(bytes, keeps: true)
  }

  /// Checks whether the bytes are JSON, without building a value: releasing a deep value would use the stack for each level.
  static func check(_ bytes: UnsafeRawBufferPointer) throws(Fault) { _ = try read(bytes, keeps: false) }

  private static func read(_ bytes: UnsafeRawBufferPointer, keeps: Bool) throws(Fault) -> JSON {
    let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    var reader = JSONReader(scanner: JSONScanner(bytes, at: start), keeps: keeps)
    let value = try reader.value()
    reader.scanner.skipSpace()
    guard reader.scanner.next == nil else { throw reader.fault("there is more text after the value") }
    return value
  }

  private func fault(_ reason: StaticString) -> Fault { scanner.fault(reason) }

  private mutating func value() throws(Fault) -> JSON {
    while true {
      scanner.skipSpace()
      var value: JSON
      switch scanner.next {
      case UInt8(ascii: "{"):
        try begin(Level(isObject: true))
        guard scanner.take(UInt8(ascii: "}")) else {
          try nameOfMember()
          continue
        }
        value = end()
      case UInt8(ascii: "["):
        try begin(Level(isObject: false))
        guard scanner.take(UInt8(ascii: "]")) else { continue }
        value = end()
      default: value = try scalar()
      }
      // The value may end its surrounding levels.
      while !levels.isEmpty {
        guard try closes(after: value) else { break }
        value = end()
      }
      if levels.isEmpty { return value }
    }
  }

  private mutating func begin(_ level: Level) throws(Fault) {
    guard levels.count < Self.deepest else { throw fault("more than 512 arrays and objects are nested") }
    scanner.place += 1
    levels.append(level)
    scanner.skipSpace()
  }

  private mutating func end() -> JSON {
    let level = levels.removeLast()
    return level.isObject ? .object(level.members) : .array(level.items)
  }

  /// Puts a value into the innermost level. Returns whether that level ends after it.
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
    scanner.skipSpace()
    if scanner.take(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) { return true }
    guard scanner.take(UInt8(ascii: ",")) else {
      throw fault(isObject ? "a comma or } is missing" : "a comma or ] is missing")
    }
    if isObject { try nameOfMember() }
    return false
  }

  private mutating func nameOfMember() throws(Fault) {
    levels[levels.count - 1].name = try scanner.text(try scanner.name())
  }

  private mutating func scalar() throws(Fault) -> JSON {
    switch scanner.next {
    case UInt8(ascii: "\""): return .string(try scanner.string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    case UInt8(ascii: "-"): return .number(try scanner.number())
    case let digit? where (0x30...0x39).contains(digit): return .number(try scanner.number())
    case nil: throw fault("the text ends where a value is expected")
    default: throw fault("no JSON value begins with this character")
    }
  }

  private mutating func word(_ word: String, _ value: JSON) throws(Fault) -> JSON {
    for byte in word.utf8 where !scanner.take(byte) {
      throw fault("no JSON value begins with this character")
    }
    return value
  }
}
