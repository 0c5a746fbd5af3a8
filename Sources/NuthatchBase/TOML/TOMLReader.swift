/// Reads TOML 1.0, strictly, for config files: it has no dates, no arrays of tables (`[[a]]`), no `inf` and no `nan`. Keys may stand
/// once. Size and depth are limited, so that a hostile text costs neither memory nor stack.
package struct TOMLReader {
  private var scanner: TOMLScanner
  private let root = TOMLTable(.header)
  /// The table that keys are added to.
  private var current: TOMLTable
  /// The depth of the current table.
  private var level = 0

  /// Parts of a key, arrays in arrays and tables in tables, all together.
  static let deepest = 16

  /// Returns the table of all keys.
  ///
  /// - Throws: the first mistake.
  package static func read(_ bytes: [UInt8]) throws(TOMLFault) -> TOMLTable {
    var reader = TOMLReader(try TOMLScanner(bytes))
    return try reader.read()
  }

  private init(_ scanner: TOMLScanner) {
    self.scanner = scanner
    current = root
  }

  private mutating func read() throws(TOMLFault) -> TOMLTable {
    while true {
      scanner.skipLines()
      guard let byte = scanner.next else { return root }
      if byte == UInt8(ascii: "[") { try takeHeader() } else { try takePair(into: current, level) }
      try scanner.endLine()
    }
  }

  // MARK: Keys

  private struct Part {
    let name: String
    let place: TOMLPlace
  }

  /// Takes `a."b".c`.
  private mutating func takeKey() throws(TOMLFault) -> [Part] {
    var parts: [Part] = []
    repeat {
      scanner.skipBlanks()
      parts.append(try takePart())
      try check(parts.count)
      scanner.skipBlanks()
    } while scanner.take(".")
    return parts
  }

  private mutating func takePart() throws(TOMLFault) -> Part {
    let place = scanner.place
    if scanner.starts(with: "\"\"\"") || scanner.starts(with: "'''") {
      throw scanner.fault("a key is one line")
    }
    if scanner.next == UInt8(ascii: "\"") || scanner.next == UInt8(ascii: "'") {
      return Part(name: try TOMLStrings.takeLine(&scanner), place: place)
    }
    let name = scanner.takeWhile(Self.isBare)
    guard !name.isEmpty else {
      throw scanner.fault("a key is missing: letters, digits, - and _, or a text in quotes")
    }
    return Part(name: String(decoding: name, as: UTF8.self), place: place)
  }

  private static func isBare(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
      true
    default: false
    }
  }

  private func check(_ depth: Int) throws(TOMLFault) {
    guard depth <= Self.deepest else { throw scanner.fault("this is nested more than \(Self.deepest) deep") }
  }

  private static func twice(_ part: Part) -> TOMLFault {
    let name = part.name.utf8.allSatisfy(isBare) ? "the key \(part.name)" : "this key"
    return TOMLFault(message: "\(name) stands here a second time", place: part.place)
  }

  // MARK: Tables

  /// Takes `[a.b]`.
  private mutating func takeHeader() throws(TOMLFault) {
    guard !scanner.starts(with: "[[") else {
      throw scanner.fault("arrays of tables ([[…]]) have no use here")
    }
    _ = scanner.take("[")
    let parts = try takeKey()
    guard scanner.take("]") else { throw scanner.fault("the ] after the name of the table is missing") }
    var table = root
    for part in parts.dropLast() { table = try child(of: table, part, .parent) { $0 != .inline } }
    let last = parts[parts.count - 1]
    let named = try child(of: table, last, .parent) { $0 == .parent }
    named.origin = .header
    (current, level) = (named, parts.count)
  }

  /// Takes `a.b = value`.
  private mutating func takePair(into table: TOMLTable, _ level: Int) throws(TOMLFault) {
    let parts = try takeKey()
    try check(level + parts.count)
    guard scanner.take("=") else { throw scanner.fault("the = after the key is missing") }
    scanner.skipBlanks()
    let value = try takeValue(level + parts.count)
    var table = table
    for part in parts.dropLast() { table = try child(of: table, part, .dotted) { $0 == .dotted } }
    let last = parts[parts.count - 1]
    guard table[last.name] == nil else { throw Self.twice(last) }
    table.add(last.name, at: last.place, value)
  }

  /// Returns the table under a key, and makes it if there is none.
  ///
  /// - Parameter mayBe: whether a table of this origin may be used again.
  private func child(
    of table: TOMLTable, _ part: Part, _ origin: TOMLTable.Origin, _ mayBe: (TOMLTable.Origin) -> Bool
  ) throws(TOMLFault) -> TOMLTable {
    if let found = table.table(part.name), mayBe(found.origin) { return found }
    guard table[part.name] == nil else { throw Self.twice(part) }
    let made = TOMLTable(origin)
    table.add(part.name, at: part.place, TOMLValue(form: .table(made), place: part.place))
    return made
  }

  // MARK: Values

  private mutating func takeValue(_ level: Int) throws(TOMLFault) -> TOMLValue {
    let place = scanner.place
    let form: TOMLValue.Form =
      switch scanner.next {
      case UInt8(ascii: "\""), UInt8(ascii: "'"): .text(try TOMLStrings.take(&scanner))
      case UInt8(ascii: "["): .array(try takeArray(level + 1))
      case UInt8(ascii: "{"): .table(try takeInlineTable(level))
      default: try TOMLNumbers.take(&scanner)
      }
    return TOMLValue(form: form, place: place)
  }

  private mutating func takeArray(_ level: Int) throws(TOMLFault) -> [TOMLValue] {
    try check(level)
    let begin = scanner
    _ = scanner.take("[")
    var values: [TOMLValue] = []
    while true {
      scanner.skipLines()
      if scanner.take("]") { return values }
      guard !scanner.isAtEnd else { throw begin.fault("the array that begins here is not closed") }
      values.append(try takeValue(level))
      scanner.skipLines()
      if scanner.take("]") { return values }
      guard scanner.take(",") else { throw scanner.fault("a comma or the ] of the array is missing") }
    }
  }

  private mutating func takeInlineTable(_ level: Int) throws(TOMLFault) -> TOMLTable {
    _ = scanner.take("{")
    let table = TOMLTable(.inline)
    scanner.skipBlanks()
    if scanner.take("}") { return table }
    while true {
      try takePair(into: table, level)
      scanner.skipBlanks()
      if scanner.take("}") { return table }
      guard scanner.take(",") else {
        throw scanner.fault("a comma or the } is missing: a table in braces is one line")
      }
      scanner.skipBlanks()
    }
  }
}
