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
package struct JSONReader {
  package typealias Fault = JSONScanner.Fault

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

  private var scanner: JSONScanner
  private let keeps: Bool
  // The levels that are open, in place of calls in each other: the caller's stack may be small.
  private var levels: [Level] = []

  /// All of it, as one value.
  package static func read(_ bytes: UnsafeRawBufferPointer) throws(Fault) -> JSON {
    try read(bytes, keeps: true)
  }

  /// Looks whether it is JSON, and keeps nothing of it: what is released level by level takes as much stack as there are levels.
  static func check(_ bytes: UnsafeRawBufferPointer) throws(Fault) { _ = try read(bytes, keeps: false) }

  private static func read(_ bytes: UnsafeRawBufferPointer, keeps: Bool) throws(Fault) -> JSON {
    let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
    var reader = JSONReader(scanner: JSONScanner(bytes, at: start), keeps: keeps)
    let value = try reader.value()
    reader.scanner.skipSpace()
    guard reader.scanner.next == nil else { throw reader.fault("something follows") }
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
    scanner.place += 1
    levels.append(level)
    scanner.skipSpace()
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
    case nil: throw fault("it ends where a value should be")
    default: throw fault("no value begins like this")
    }
  }

  private mutating func word(_ word: String, _ value: JSON) throws(Fault) -> JSON {
    for byte in word.utf8 where !scanner.take(byte) { throw fault("no value begins like this") }
    return value
  }
}
