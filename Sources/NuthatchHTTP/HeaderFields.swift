/// Header fields in their order. Repeated fields are kept apart.
package struct HeaderFields: Sendable, Equatable {
  package struct Field: Sendable, Equatable {
    /// As received; compared without regard to case.
    package var name: String
    /// Without surrounding white space. Bytes beyond ASCII are kept if they are UTF-8.
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  package private(set) var fields: [Field] = []

  /// The most header lines of a request or an answer, and their most bytes together.
  package static let mostLines = 1000
  package static let mostBytes = 262_144

  package init() {}

  /// Throws if a field from the caller is invalid, or if they are over the limits.
  package init(checking pairs: some Sequence<(name: String, value: String)>) throws(HeaderFault) {
    for (name, value) in pairs { try append(checking: name, value) }
    try checkSize()
  }

  package func checkSize() throws(HeaderFault) {
    guard fields.count <= Self.mostLines else {
      throw HeaderFault("there are more than \(Self.mostLines) headers, the limit")
    }
    // As sent, with colon, blank and line break.
    guard fields.reduce(0, { $0 + $1.name.utf8.count + $1.value.utf8.count + 4 }) <= Self.mostBytes else {
      throw HeaderFault("the headers have more than \(Self.mostBytes) bytes, the limit")
    }
  }

  /// Adds a field from a caller; throws if it is invalid. A line break would start another header. A wrong length or transfer
  /// coding would smuggle a second request.
  package mutating func append(checking name: String, _ value: String) throws(HeaderFault) {
    guard !name.isEmpty, name.utf8.allSatisfy(\.isTokenCharacter) else {
      throw HeaderFault(
        "the header name \(name.quotedForMessage) is not a token of letters, digits and !#$%&'*+-.^_`|~")
    }
    if let bad = value.utf8.first(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7f }) {
      throw HeaderFault("the value of header \(name.quotedForMessage) holds the control character \(bad)")
    }
    guard !["content-length", "transfer-encoding"].contains(name.lowercased()) else {
      throw HeaderFault("the header \(name) is computed from the body and can't be set")
    }
    append(name, value)
  }

  /// Adds a field from a server.
  package mutating func append(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value.trimmingHeaderSpace().withoutCarriageReturns()))
  }

  /// Adds a field that `append` has processed before it was stored.
  package mutating func restore(_ name: String, _ value: String) {
    fields.append(Field(name: name, value: value))
  }

  package mutating func reserveCapacity(_ count: Int) { fields.reserveCapacity(count) }

  /// Appends an obsolete folded line to the last value.
  package mutating func fold(_ more: String) {
    guard let last = fields.indices.last else { return }
    fields[last].value += " " + more.trimmingHeaderSpace()
  }

  /// The first value of a field.
  package subscript(name: String) -> String? {
    // By number, here and below: iterating over the fields would count a reference to each value.
    for place in fields.indices where fields[place].name.equalsIgnoringCase(name) {
      return fields[place].value
    }
    return nil
  }

  /// Returns every value of a field, in order.
  package func values(_ name: String) -> [String] {
    var found: [String] = []
    for place in fields.indices where fields[place].name.equalsIgnoringCase(name) {
      found.append(fields[place].value)
    }
    return found
  }

  package func contains(_ name: String) -> Bool { self[name] != nil }

  package mutating func remove(where isUnwanted: (Field) -> Bool) { fields.removeAll(where: isUnwanted) }
}

extension [(name: String, value: String)] {
  /// Returns the fields whose names don't occur in `others`.
  package func without(namesOf others: Self) -> Self {
    if isEmpty || others.isEmpty { return self }
    let names = Set(others.map { $0.name.lowercased() })
    return filter { !names.contains($0.name.lowercased()) }
  }
}

/// Why a header field or a method was refused.
package struct HeaderFault: Error, Equatable {
  package var reason: String

  package init(_ reason: String) { self.reason = reason }
}

package func checkMethod(_ method: String) throws(HeaderFault) {
  guard !method.isEmpty, method.utf8.allSatisfy(\.isTokenCharacter) else {
    throw HeaderFault("the method \(method.quotedForMessage) is not a token")
  }
  guard method.utf8.count <= longestMethod else {
    throw HeaderFault(
      "the method \(method.quotedForMessage) is longer than \(longestMethod) bytes, the longest that is sent")
  }
}

/// The longest registered method has 17 bytes.
private let longestMethod = 64

/// Returns the method as it is sent: a known method in capitals, another one unchanged, because case matters.
package func sentMethod(_ method: String) -> String {
  knownMethods.first { $0.equalsIgnoringCase(method) } ?? method
}

/// The methods of RFC 9110, section 9, and of RFC 5789.
private let knownMethods = [
  "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT",
]

/// Returns whether a request with this method may be sent twice (RFC 9110, 9.2.2); false for an unknown method.
package func isIdempotent(method: String) -> Bool {
  ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(method)
}

extension HeaderFields.Field {
  /// Whether the name contains a word that suggests credentials.
  package var isSecret: Bool {
    // Compare bytes: this runs for each field of each request, and a search in a string takes microseconds.
    var name = name
    return name.withUTF8 { name in
      for start in name.indices {
        let first = name[start].lowercased
        for word in Self.secretWords where word[0] == first && name.count - start >= word.count {
          if word.indices.allSatisfy({ name[start + $0].lowercased == word[$0] }) { return true }
        }
      }
      return false
    }
  }

  private static let secretWords = [
    "auth", "token", "key", "secret", "session", "cookie", "passw", "passphrase", "credential", "bearer",
    "jwt",
  ].map { Array($0.utf8) }
}

extension String {
  package func equalsIgnoringCase(_ other: String) -> Bool {
    guard utf8.count == other.utf8.count else { return false }
    var (one, other) = (self, other)
    // Plain loops over bytes: every answer from the cache compares some dozens of names.
    return one.withUTF8 { one in
      other.withUTF8 { other in
        for place in one.indices where one[place] != other[place] {
          guard one[place].lowercased == other[place].lowercased else { return false }
        }
        return true
      }
    }
  }

  fileprivate func trimmingHeaderSpace() -> String {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d || $0 == 0x0a }
    guard utf8.first.map(isSpace) == true || utf8.last.map(isSpace) == true else { return self }
    let trimmed = utf8.drop(while: isSpace)
    guard let last = trimmed.lastIndex(where: { !isSpace($0) }) else { return "" }
    return String(decoding: trimmed[...last], as: UTF8.self)
  }

  /// Replaces each CR by a space (RFC 9110, 5.5), because some programs read it as a line break.
  fileprivate func withoutCarriageReturns() -> String {
    // In one piece of memory, as most strings are, the search is a loop over bytes.
    guard utf8.withContiguousStorageIfAvailable({ $0.contains(0x0d) }) ?? utf8.contains(0x0d) else {
      return self
    }
    return String(decoding: utf8.map { $0 == 0x0d ? 0x20 : $0 }, as: UTF8.self)
  }

  /// The text with control characters escaped, because a terminal would execute them.
  package var printable: String {
    guard unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return self }
    return unicodeScalars.map {
      $0.properties.generalCategory == .control ? $0.escaped(asASCII: true) : String($0)
    }.joined()
  }

  /// For messages: quoted, control characters escaped, at most 80 characters.
  package var quotedForMessage: String {
    let shown = unicodeScalars.prefix(80).map { $0.escaped(asASCII: false) }.joined()
    return "'\(shown)\(unicodeScalars.dropFirst(80).isEmpty ? "" : "…")'"
  }
}
