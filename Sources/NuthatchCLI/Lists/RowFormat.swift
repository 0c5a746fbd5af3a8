/// The format of a list: plain lines, rows with columns, or JSON.
struct RowFormat {
  /// The list can't be read in this format.
  struct Fault: Error {
    var reason: String
  }

  struct NoURL: Error {
    var reason: String
  }

  /// A URL, or why there is none.
  typealias Outcome = Result<String, NoURL>

  enum Found {
    case header
    case url(Outcome)
    case fields(JSONFields)
  }

  private enum Kind {
    case lines
    /// Nil: the first row will show the separator.
    case rows(separator: UInt8?)
    case objects
  }

  /// Usual names of a column with URLs, if no option names it.
  private static let usual = [
    "url", "urls", "image_url", "imageurl", "img_url", "link", "href", "src", "uri", "image",
  ]

  /// The separators of CSV. Spreadsheets write `;` in languages that write numbers with a comma.
  private static let separators = [UInt8(ascii: ","), UInt8(ascii: ";"), 9]

  private var kind: Kind
  private let field: String?
  private var column: (place: Int, title: String)?
  /// The row that is being read.
  private var row = Row(separators: [])
  /// Whether no record has been read yet.
  private var isFirst = true

  /// Returns nil for `auto`: the first line decides.
  init?(named format: URLList.Format, _ field: String?) {
    switch format {
    case .auto: return nil
    case .lines: kind = .lines
    case .csv: kind = .rows(separator: nil)
    case .tsv: kind = .rows(separator: 9)
    case .jsonl: kind = .objects
    }
    self.field = field
  }

  /// Guesses the format from the first line of a list. A line that begins with a URL and has commas is plain. No URL has a
  /// tabulator, so a URL beside a tabulator makes a row.
  init(guessedFrom line: [UInt8], _ field: String?) {
    self.field = field
    let showsURL: ([[UInt8]]) -> Bool = { $0.contains(where: Self.isURL) }
    if Self.isJSON(line) {
      kind = .objects
    } else if let separator = Self.announced(line) {
      kind = .rows(separator: separator)
    } else if let separator = [9, UInt8(ascii: ","), UInt8(ascii: ";")].first(where: { separator in
      // If the quotes don't fit this separator, there are no fields.
      let names = Row.fields(line, separator) ?? []
      let isNamed =
        names.count > 1 && Self.column(field, in: names) != nil && (field != nil || !showsURL(names))
      return isNamed
        || separator == 9 && names.count { !Self.isEmpty($0) } > 1
          && showsURL(names)
    }) {
      kind = .rows(separator: separator)
    } else {
      kind = .lines
    }
  }

  /// Returns whether a line begins as JSON. A header such as `[id],url` does not.
  static func isJSON(_ line: some Sequence<UInt8>) -> Bool {
    var rest = line.lazy.filter { $0 != 0x20 && $0 != 9 }.makeIterator()
    switch rest.next() {
    case UInt8(ascii: "{"): return true
    case UInt8(ascii: "["): return rest.next().map { "[]{\"\r\n".utf8.contains($0) } ?? true
    default: return false
    }
  }

  /// The line breaks of this format. In JSON a lone CR is white space.
  var lineEnds: LineReader.LineEnds {
    if case .objects = kind { .lineFeed } else { .any }
  }

  /// Returns whether a line is blank or a comment. In TSV, a line of tabulators is a row with empty columns.
  static func skips(_ line: [UInt8], by format: RowFormat?) -> Bool {
    var isTab: (UInt8) -> Bool = { $0 == 9 }
    if case .rows(9) = format?.kind { isTab = { _ in false } }
    let first = line.first { $0 != 0x20 && !isTab($0) }
    return first == nil || first == UInt8(ascii: "#")
  }

  private static func isEmpty(_ text: [UInt8]) -> Bool { trimmed(text).isEmpty }

  /// Returns the text without blanks at both ends.
  private static func trimmed(_ text: [UInt8]) -> ArraySlice<UInt8> {
    let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 9 }
    guard let first = text.firstIndex(where: { !isBlank($0) }),
      let last = text.lastIndex(where: { !isBlank($0) })
    else {
      return []
    }
    return text[first...last]
  }

  /// Adds the next line to the record. Reads each line once, however many lines a record has.
  ///
  /// - Returns: whether the record goes on in the next line.
  mutating func isOpen(after line: [UInt8], endedBy lineBreak: [UInt8]) -> Bool {
    guard case .rows(let separator) = kind else { return false }
    if !row.isOpen { row = Row(separators: separator.map { [$0] } ?? Self.separators) }
    row.take(line)
    if row.isOpen { row.take(lineBreak) }
    return row.isOpen
  }

  /// Returns the contents of a record. `isOpen(after:endedBy:)` must have taken its lines before.
  mutating func find(in record: [UInt8]) throws(Fault) -> Found {
    switch kind {
    case .lines:
      return .url(Self.text(record))
    case .objects:
      if isFirst, record.allSatisfy(Self.isOpening) {
        throw Fault(
          reason:
            "the JSON is spread over several lines; write one object a line, for example with jq -c '.[]'")
      }
      isFirst = false
      return .fields(JSONFields(field ?? "url", in: record))
    case .rows(let separator):
      guard let column else { return try firstRow(record, separator) }
      return .url(Self.url(in: row.fields, column))
    }
  }

  /// Returns whether the byte is a bracket or a blank. The first line of an indented JSON document has only these.
  private static func isOpening(_ byte: UInt8) -> Bool {
    [UInt8(ascii: "{"), UInt8(ascii: "["), 0x20, 9, 13].contains(byte)
  }

  private static func url(in fields: [[UInt8]], _ column: (place: Int, title: String)) -> Outcome {
    guard column.place < fields.count else {
      return .failure(
        NoURL(
          reason:
            "the row ends before \(column.title): it has \(fields.count) columns, and the URL is in number \(column.place + 1)"
        ))
    }
    let url = fields[column.place]
    return isEmpty(url) ? .failure(NoURL(reason: "\(column.title) is empty")) : text(url)
  }

  // MARK: The first row

  /// Finds the separator and the column with the URLs in the first row: a header, or a row with a URL.
  private mutating func firstRow(_ record: [UInt8], _ known: UInt8?) throws(Fault) -> Found {
    if let announced = Self.announced(record) {
      kind = .rows(separator: announced)
      return .header
    }
    var chosen: (fields: [[UInt8]], separator: UInt8, fit: Fit)?
    for separator in known.map({ [$0] }) ?? Self.separators {
      guard let fields = Row.fields(record, separator) else { continue }
      let fit = fit(fields)
      if chosen.map({ $0.fit < fit }) ?? true { chosen = (fields, separator, fit) }
    }
    guard let chosen else { throw Fault(reason: "quotes are never closed") }
    kind = .rows(separator: chosen.separator)
    let found = try column(of: chosen.fields)
    column = found.column
    return found.isHeader ? .header : .url(Self.url(in: chosen.fields, found.column))
  }

  /// How well a separator fits the first row. A greater value is better.
  private enum Fit: Comparable {
    case none
    /// There are enough columns for the wanted number.
    case columns(Int)
    /// There is the wanted column, or a column with a URL.
    case column
  }

  private func fit(_ fields: [[UInt8]]) -> Fit {
    let isShown = fields.contains(where: Self.isURL) || Self.column(nil, in: fields) != nil
    guard let field else { return isShown ? .column : .none }
    if Self.column(field, in: fields) != nil { return .column }
    guard let number = Self.number(field), number <= fields.count else { return .none }
    return isShown ? .column : .columns(fields.count)
  }

  private func column(
    of fields: [[UInt8]]
  ) throws(Fault) -> (column: (place: Int, title: String), isHeader: Bool) {
    if let field, let number = Self.number(field) {
      guard number <= fields.count else { throw Fault(reason: "there is no column \(number)") }
      return ((number - 1, "column \(number)"), !Self.isURL(fields[number - 1]))
    }
    let shown = fields.firstIndex(where: Self.isURL)
    // A row with a URL is no header, even if another field is a usual name, such as "image".
    if let named = Self.column(field, in: fields), field != nil || shown == nil {
      return ((named, "the column \(Self.name(fields[named]))"), true)
    }
    if let field { throw Fault(reason: "there is no column '\(field)'") }
    guard let shown else { throw Fault(reason: "there is no column 'url'; name the column with --url-field") }
    return ((shown, "column \(shown + 1)"), false)
  }

  /// Returns the number of a column, from 1, if the text is one.
  private static func number(_ field: String) -> Int? { Int(field).flatMap { $0 > 0 ? $0 : nil } }

  /// Returns the separator of a line such as `sep=;`. Spreadsheets write it before the first row.
  private static func announced(_ line: [UInt8]) -> UInt8? {
    guard line.count == 5, String(decoding: line[..<4], as: UTF8.self).lowercased() == "sep=" else {
      return nil
    }
    return separators.contains(line[4]) ? line[4] : nil
  }

  private static func text(_ bytes: [UInt8]) -> Outcome {
    guard let text = String(validating: trimmed(bytes), as: UTF8.self) else {
      return .failure(NoURL(reason: "the URL is not UTF-8"))
    }
    return .success(text)
  }

  private static func isURL(_ field: [UInt8]) -> Bool {
    let start = String(decoding: field.drop { $0 == 0x20 }.prefix(8), as: UTF8.self).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }

  private static func name(_ field: [UInt8]) -> String { String(decoding: trimmed(field), as: UTF8.self) }

  private static func column(_ field: String?, in names: [[UInt8]]) -> Int? {
    let names = names.map { name($0).lowercased() }
    for wanted in field.map({ [$0.lowercased()] }) ?? usual {
      if let column = names.firstIndex(of: wanted) { return column }
    }
    return nil
  }
}
