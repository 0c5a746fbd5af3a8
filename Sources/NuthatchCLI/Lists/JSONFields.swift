import NuthatchCore

/// The URLs that a field of a line of JSON has, one after the other: of an array, no more is kept than the place in it.
struct JSONFields {
  private enum Level {
    /// An array under way, and the path that each of its items is asked for.
    case array(path: ArraySlice<UInt8>)
    /// Behind what was looked for in an object or at one place of an array, it goes on here.
    case back(to: Int)
  }

  /// Arrays in each other. A list has few; each one that is open takes memory.
  private static let deepest = 512

  private let record: [UInt8]
  private let field: String
  private var place = 0
  /// Of the value at the place, what is left of the field's name, if the value is still to be looked at.
  private var path: ArraySlice<UInt8>?
  private var levels: [Level] = []

  /// - Parameter field: a name, or names and numbers of items with dots between.
  init(_ field: String, in record: [UInt8]) {
    self.record = record
    self.field = field
    path = Array(field.utf8)[...]
  }

  /// The next URL, or why there is none; nil behind the last one. The first is never nil.
  mutating func next() -> RowFormat.Outcome? {
    record.withUnsafeBytes { bytes in
      var line = JSONScanner(bytes, at: place)
      defer { place = line.place }
      do throws(JSONScanner.Fault) {
        return try next(in: &line)
      } catch {
        levels = []
        return none("it is no JSON object")
      }
    }
  }

  private mutating func next(in line: inout JSONScanner) throws(JSONScanner.Fault) -> RowFormat.Outcome? {
    while true {
      if let path {
        self.path = nil
        if let found = try look(for: path, in: &line) { return found }
      } else if try !goOn(&line) {
        return nil
      }
    }
  }

  /// Looks at the value at the line's place. Nil when another one is to be looked at first.
  private mutating func look(
    for path: ArraySlice<UInt8>, in line: inout JSONScanner
  ) throws(JSONScanner.Fault) -> RowFormat.Outcome? {
    // A text, or an array of texts, in place of an object.
    let isBare = path.startIndex == 0
    line.skipSpace()
    switch line.next {
    case UInt8(ascii: "\""):
      let text = try line.string()
      guard path.isEmpty || isBare else { return missing }
      return text.allSatisfy({ $0.isWhitespace }) ? none("the field '\(field)' is empty") : .success(text)
    case UInt8(ascii: "{"):
      guard path.isEmpty else { return try lookInObject(for: path, in: &line) }
      try line.skip()
      return none("the field '\(field)' is an object: one of its fields is needed")
    case UInt8(ascii: "["): return try lookInArray(for: path, in: &line)
    case .some where !isBare:
      let isNull = line.bytes[line.place...].starts(with: "null".utf8)
      try line.skip()
      return path.isEmpty ? none("the field '\(field)' is \(isNull ? "null" : "no text")") : missing
    default: throw line.fault("no value")
    }
  }

  private func none(_ reason: String) -> RowFormat.Outcome { .failure(.init(reason: reason)) }

  private var missing: RowFormat.Outcome { none("the field '\(field)' is missing") }

  /// Goes to the member that has the longest name that the path begins with, so that a name may have dots itself.
  private mutating func lookInObject(
    for path: ArraySlice<UInt8>, in line: inout JSONScanner
  ) throws(JSONScanner.Fault) -> RowFormat.Outcome? {
    var found: (place: Int, path: ArraySlice<UInt8>)?
    line.place += 1
    line.skipSpace()
    var isClosed = line.take(UInt8(ascii: "}"))
    while !isClosed {
      let name = try line.name()
      if path.elementsEqual(name), found?.path.isEmpty != true {
        found = (line.place, path.suffix(0))
        // What follows doesn't matter.
        if levels.isEmpty { break }
      } else if path.starts(with: name), path.dropFirst(name.count).first == UInt8(ascii: ".") {
        let rest = path.dropFirst(name.count + 1)
        if rest.count < found?.path.count ?? .max { found = (line.place, rest) }
      }
      try line.skip()
      line.skipSpace()
      isClosed = line.take(UInt8(ascii: "}"))
      guard isClosed || line.take(UInt8(ascii: ",")) else { throw line.fault("a comma is missing") }
    }
    guard let found else { return missing }
    goIn(to: found.place, for: found.path, &line)
    return nil
  }

  /// Goes to one item, if the path begins with a number, or else to all of them.
  private mutating func lookInArray(
    for path: ArraySlice<UInt8>, in line: inout JSONScanner
  ) throws(JSONScanner.Fault) -> RowFormat.Outcome? {
    line.place += 1
    line.skipSpace()
    if line.take(UInt8(ascii: "]")) { return none("the field '\(field)' is empty") }
    guard let (number, rest) = Self.number(path) else {
      guard levels.count < Self.deepest else { return tooDeep() }
      levels.append(.array(path: path))
      self.path = path
      return nil
    }
    var found: Int?
    for index in 0... {
      if index == number {
        found = line.place
        if levels.isEmpty { break }
      }
      try line.skip()
      line.skipSpace()
      if line.take(UInt8(ascii: "]")) { break }
      guard line.take(UInt8(ascii: ",")) else { throw line.fault("a comma is missing") }
    }
    guard let found else { return missing }
    goIn(to: found, for: rest, &line)
    return nil
  }

  private mutating func tooDeep() -> RowFormat.Outcome {
    levels = []
    return none("more than \(Self.deepest) arrays are in each other")
  }

  private mutating func goIn(to place: Int, for path: ArraySlice<UInt8>, _ line: inout JSONScanner) {
    // A whole line, of which nothing else is asked for, needs no way back.
    if !levels.isEmpty { levels.append(.back(to: line.place)) }
    line.place = place
    self.path = path
  }

  /// The number of an item, and what follows it.
  private static func number(_ path: ArraySlice<UInt8>) -> (Int, ArraySlice<UInt8>)? {
    let digits = path.prefix { $0 != UInt8(ascii: ".") }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(String(decoding: digits, as: UTF8.self))
    else { return nil }
    return (number, path.dropFirst(digits.count + 1))
  }

  /// Goes to the next item of the arrays under way. False behind the last one.
  private mutating func goOn(_ line: inout JSONScanner) throws(JSONScanner.Fault) -> Bool {
    while let level = levels.last {
      switch level {
      case .back(let place): line.place = place
      case .array(let path):
        line.skipSpace()
        if line.take(UInt8(ascii: ",")) {
          self.path = path
          return true
        }
        guard line.take(UInt8(ascii: "]")) else { throw line.fault("a comma or ] is missing") }
      }
      levels.removeLast()
    }
    return false
  }
}
