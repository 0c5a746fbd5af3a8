/// The directives of `Cache-Control` in a request or an answer.
///
/// Names are compared without regard to case. A comma or `=` inside a quoted string separates nothing.
package struct CacheDirectives: Sendable, Equatable {
  private var directives: [(name: String, value: String?)] = []

  package init(_ fields: HeaderFields, _ name: String = "Cache-Control") {
    for line in fields.values(name) { parse(Array(line.utf8)) }
  }

  package static func == (left: CacheDirectives, right: CacheDirectives) -> Bool {
    left.directives.count == right.directives.count
      && zip(left.directives, right.directives).allSatisfy { $0 == $1 }
  }

  package func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

  /// Returns whether the directive has no value: `no-cache` concerns the whole answer, `no-cache="a"` one field.
  package func hasBare(_ name: String) -> Bool { directives.contains { $0.name == name && $0.value == nil } }

  /// Returns the value of a directive in seconds; nil if the directive is missing. The lowest of several values counts. A value
  /// that isn't a number counts as 0, because the sender wanted some limit.
  package func seconds(_ name: String) -> Int64? {
    let values = directives.filter { $0.name == name }.map { $0.value.flatMap(DeltaSeconds.parse) ?? 0 }
    return values.min()
  }

  /// Returns the field names that a directive lists, in lower case.
  package func fields(_ name: String) -> [String] {
    directives.filter { $0.name == name }.compactMap(\.value).flatMap { list in
      list.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
    }
  }

  private mutating func parse(_ line: [UInt8]) {
    var place = 0
    while place < line.count {
      let start = place
      while place < line.count, line[place] != UInt8(ascii: ","), line[place] != UInt8(ascii: "=") {
        place += 1
      }
      let name = String(decoding: line[start..<place], as: UTF8.self).trimmed.lowercased()
      var value: String?
      if place < line.count, line[place] == UInt8(ascii: "=") {
        place += 1
        value = Self.value(line, &place)
      }
      if !name.isEmpty { directives.append((name, value)) }
      while place < line.count, line[place] != UInt8(ascii: ",") { place += 1 }
      place += 1
    }
  }

  private static func value(_ line: [UInt8], _ place: inout Int) -> String {
    guard place < line.count, line[place] == UInt8(ascii: "\"") else {
      let start = place
      while place < line.count, line[place] != UInt8(ascii: ",") { place += 1 }
      return String(decoding: line[start..<place], as: UTF8.self).trimmedAtEnd
    }
    place += 1
    var content: [UInt8] = []
    while place < line.count, line[place] != UInt8(ascii: "\"") {
      if line[place] == UInt8(ascii: "\\"), place + 1 < line.count { place += 1 }
      content.append(line[place])
      place += 1
    }
    place += 1
    return String(decoding: content, as: UTF8.self)
  }
}

/// A number of seconds in HTTP, only digits. A larger number counts as 2^31 (RFC 9111, 1.2.2).
package enum DeltaSeconds {
  package static let most: Int64 = 1 << 31

  package static func parse(_ text: String) -> Int64? {
    guard !text.isEmpty, text.utf8.allSatisfy(\.isDigit) else { return nil }
    return min(Int64(text) ?? most, most)
  }
}

extension String {
  var trimmed: String {
    var text = Substring(self)
    while let first = text.utf8.first, first == 0x20 || first == 0x09 { text.removeFirst() }
    return String(text).trimmedAtEnd
  }

  var trimmedAtEnd: String {
    var text = Substring(self)
    while let last = text.utf8.last, last == 0x20 || last == 0x09 { text.removeLast() }
    return String(text)
  }
}
