/// Header fields in order, as they go over the wire: repeated names are allowed and kept apart.
///
/// Written as a dictionary literal: `["Set-Cookie": "a=1", "Set-Cookie": "b=2"]`. In JSON: an array of
/// `[name, value]` pairs; a plain object is accepted too.
public struct HeaderLines: Sendable, Equatable, ExpressibleByDictionaryLiteral {
  /// One field.
  public struct Line: Sendable, Equatable {
    /// As sent; compared without regard to case.
    public var name: String
    /// Without surrounding blanks when received, untouched when sent.
    public var value: String

    /// A field.
    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// All fields in order.
  public var lines: [Line]

  /// From a list of fields.
  public init(_ lines: [Line] = []) { self.lines = lines }

  /// From a literal; repeated names are fine.
  public init(dictionaryLiteral elements: (String, String)...) {
    lines = elements.map { Line($0.0, $0.1) }
  }

  /// The first value of a name, nil when absent.
  public subscript(name: String) -> String? {
    values(of: name).first
  }

  /// Every value of a name, in order.
  public func values(of name: String) -> [String] {
    let wanted = name.lowercased()
    return lines.filter { $0.name.lowercased() == wanted }.map(\.value)
  }

  /// Appends a field, also when the name is there already.
  public mutating func add(_ name: String, _ value: String) {
    lines.append(Line(name, value))
  }

  /// Removes every field of that name, then appends this one.
  public mutating func set(_ name: String, _ value: String) {
    remove(name)
    add(name, value)
  }

  /// Removes every field of that name.
  public mutating func remove(_ name: String) {
    let unwanted = name.lowercased()
    lines.removeAll { $0.name.lowercased() == unwanted }
  }

  /// Whether a comma-separated field such as `Connection` holds this token.
  func lists(_ token: String, in name: String) -> Bool {
    values(of: name).contains { value in
      value.split(separator: ",").contains { trimmed($0).lowercased() == token }
    }
  }
}

extension HeaderLines: Codable {
  /// Reads `[[name, value], …]` or `{name: value, …}` (the latter in the order of names).
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let pairs = try? container.decode([[String]].self) {
      guard pairs.allSatisfy({ $0.count == 2 }) else {
        throw DecodingError.dataCorruptedError(in: container, debugDescription: "a header is [name, value]")
      }
      lines = pairs.map { Line($0[0], $0[1]) }
    } else {
      let object = try container.decode([String: String].self)
      lines = object.sorted { $0.key < $1.key }.map { Line($0.key, $0.value) }
    }
  }

  /// Writes `[[name, value], …]`.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(lines.map { [$0.name, $0.value] })
  }
}

/// Without blanks and tabs at both ends.
func trimmed(_ text: some StringProtocol) -> String {
  var rest = text[...]
  while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
  while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
  return String(rest)
}
