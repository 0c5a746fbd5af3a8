import NuthatchCore

/// Reads the URLs of a field in a line of JSON, one after the other. For an array it keeps only the current place.
struct JSONFields {
  private enum Level {
    /// An open array, and the path to look up in each of its items.
    case array(path: ArraySlice<UInt8>)
    /// The place to continue at after a value that was found in an object, or as one item of an array.
    case back(to: Int)
  }

  /// The most nested arrays. Each open array takes memory, and real lists have few.
  private static let deepest = 512

  private let record: [UInt8]
  private let field: String
  private var place = 0
  /// The rest of the field's path for the value at `place`; nil if that value was read already.
  private var path: ArraySlice<UInt8>?
  private var levels: [Level] = []

  /// - Parameter field: a name, or names and item numbers with dots between them.
  init(_ field: String, in record: [UInt8]) {
    self.record = record
    self.field = field
    path = Array(field.utf8)[...]
  }

  /// Returns the next URL, or why there is none; nil after the last one. The first result is never nil.
  mutating func next() -> RowFormat.Outcome? {
    record.withUnsafeBytes { bytes in
      var line = JSONScanner(bytes, at: place)
      defer { place = line.place }
      do throws(JSONScanner.Fault) {
        return try next(in: &line)
      } catch {
        levels = []
        return none("the line is not a JSON object, array or text")
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

  /// Reads the value at the line's place. Returns nil if the value to read next is inside it.
  private mutating func look(
    for path: ArraySlice<UInt8>, in line: inout JSONScanner
  ) throws(JSONScanner.Fault) -> RowFormat.Outcome? {
    // No part of the path was followed: the value is the line itself, or an item of its array. A string is then a URL.
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
      return none("the field '\(field)' is an object; name one of its fields")
    case UInt8(ascii: "["): return try lookInArray(for: path, in: &line)
    case .some where !isBare:
      let isNull = line.bytes[line.place...].starts(with: "null".utf8)
      try line.skip()
      return path.isEmpty ? none("the field '\(field)' is \(isNull ? "null" : "not a string")") : missing
    default: throw line.fault("no value")
    }
  }

  private func none(_ reason: String) -> RowFormat.Outcome { .failure(.init(reason: reason)) }

  private var missing: RowFormat.Outcome { none("the field '\(field)' is missing") }

  /// Goes to the member with the longest name that is a beginning of the path. So a name may have dots itself.
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
        // Nothing after this member is needed.
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

  /// Goes to one item if the path begins with a number, else to all of them.
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
    return none("more than \(Self.deepest) arrays are nested")
  }

  private mutating func goIn(to place: Int, for path: ArraySlice<UInt8>, _ line: inout JSONScanner) {
    // At the top level nothing else of the line is needed, so there is no place to return to.
    if !levels.isEmpty { levels.append(.back(to: line.place)) }
    line.place = place
    self.path = path
  }

  /// Returns the item number at the beginning of the path, and the rest of the path, or nil.
  private static func number(_ path: ArraySlice<UInt8>) -> (Int, ArraySlice<UInt8>)? {
    let digits = path.prefix { $0 != UInt8(ascii: ".") }
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(String(decoding: digits, as: UTF8.self))
    else { return nil }
    return (number, path.dropFirst(digits.count + 1))
  }

  /// Goes to the next item of the open arrays. Returns false after the last one.
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
