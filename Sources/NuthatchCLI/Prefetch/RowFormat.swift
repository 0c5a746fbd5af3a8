/// How the lines of a list are understood: plain, as rows with columns, or as JSON.
struct RowFormat {
  enum Fault: Error {
    /// A quoted field goes on in the next line.
    case incomplete
    case unusable(String)
  }

  struct NoURL: Error {
    var reason: String
  }

  private enum Kind {
    case lines
    case rows(separator: UInt8)
    case objects
  }

  /// What columns with URLs are called where nobody says so.
  private static let usual = [
    "url", "urls", "image_url", "imageurl", "img_url", "link", "href", "src", "uri", "image",
  ]

  private let kind: Kind
  private let field: String?
  private var column: Int?
  private var quotes = Quotes()

  /// Nil for `auto`, which needs a line to look at.
  init?(named format: URLList.Format, _ field: String?) {
    switch format {
    case .auto: return nil
    case .lines: kind = .lines
    case .csv: kind = .rows(separator: UInt8(ascii: ","))
    case .tsv: kind = .rows(separator: 9)
    case .jsonl: kind = .objects
    }
    self.field = field
  }

  /// From a list's first line. A line that is a URL is a plain one, whatever commas it has; no URL has tabulators.
  init(guessedFrom line: [UInt8], _ field: String?) {
    self.field = field
    let showsURL: ([[UInt8]]) -> Bool = { $0.contains(where: Self.isURL) }
    let first = line.first { $0 != 0x20 && $0 != 9 }
    if first == UInt8(ascii: "{") {
      kind = .objects
    } else if let separator = [9, UInt8(ascii: ",")].first(where: { separator in
      // What can't be taken apart at this separator isn't a row of it.
      let names = (try? Self.fields(line, separator)) ?? []
      let isNamed =
        names.count > 1 && Self.column(field, in: names) != nil && (field != nil || !showsURL(names))
      return isNamed
        || separator == 9 && names.count { !$0.allSatisfy { $0 == 0x20 } } > 1
          && showsURL(names)
    }) {
      kind = .rows(separator: separator)
    } else {
      kind = .lines
    }
  }

  /// Whether a row goes on in the next line: each line is looked at once, however many a row has.
  mutating func isOpen(after line: [UInt8]) -> Bool {
    guard case .rows(let separator) = kind else { return false }
    return quotes.areOpen(after: line, separator)
  }

  /// The URL of a record; nil for a header.
  mutating func url(_ record: [UInt8]) throws(Fault) -> Result<String, NoURL>? {
    switch kind {
    case .lines:
      let isBlank: (UInt8) -> Bool = { $0 == 0x20 || $0 == 9 }
      let text = record.drop(while: isBlank)
      let end = text.lastIndex { !isBlank($0) } ?? text.startIndex
      return Self.text(text[...end])
    case .objects:
      let name = field ?? "url"
      guard let text = JSONLine.text(name, in: record) else {
        return .failure(NoURL(reason: "the line is no JSON object with a text '\(name)'"))
      }
      return .success(text)
    case .rows(let separator):
      let fields = try Self.fields(record, separator)
      guard let column else {
        // All rows would be taken for one, and that for a header.
        guard !Self.hasLoneReturn(record) else {
          throw .unusable("the rows end in CR alone: LF, or CR and LF, are needed")
        }
        return try firstRow(fields)
      }
      guard column < fields.count else {
        return .failure(
          NoURL(reason: "the row has \(fields.count) columns, and the URL is in column \(column + 1)"))
      }
      return Self.text(fields[column][...])
    }
  }

  /// A header says which column it is; a first row without names shows it.
  private mutating func firstRow(_ fields: [[UInt8]]) throws(Fault) -> Result<String, NoURL>? {
    let shown = fields.firstIndex(where: Self.isURL)
    if let field, let number = Int(field), number > 0 {
      column = number - 1
      guard number <= fields.count else { throw .unusable("there is no column \(number)") }
      return shown == number - 1 ? Self.text(fields[number - 1][...]) : nil
    }
    // Whatever else stands in it, such as "image": a row with a URL is no header.
    if let named = Self.column(field, in: fields), field != nil || shown == nil {
      column = named
      return nil
    }
    if let field { throw .unusable("there is no column '\(field)'") }
    guard let shown else { throw .unusable("no column is called url; --url-field says which it is") }
    column = shown
    return Self.text(fields[shown][...])
  }

  private static func text(_ bytes: some Collection<UInt8>) -> Result<String, NoURL> {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return .failure(NoURL(reason: "the URL is not UTF-8"))
    }
    return .success(text)
  }

  /// Whether there is a CR with something else than LF behind it.
  private static func hasLoneReturn(_ row: [UInt8]) -> Bool {
    row.indices.contains { row[$0] == 13 && $0 + 1 < row.count && row[$0 + 1] != 10 }
  }

  private static func isURL(_ field: [UInt8]) -> Bool {
    let start = String(decoding: field.drop { $0 == 0x20 }.prefix(8), as: UTF8.self).lowercased()
    return start.hasPrefix("http://") || start.hasPrefix("https://")
  }

  private static func column(_ field: String?, in names: [[UInt8]]) -> Int? {
    let names = names.map { String(decoding: $0, as: UTF8.self).lowercased() }
    for wanted in field.map({ [$0.lowercased()] }) ?? usual {
      if let column = names.firstIndex(of: wanted) { return column }
    }
    return nil
  }

  /// The fields of a row (RFC 4180): those in quotes may hold separators and line breaks.
  private static func fields(_ row: [UInt8], _ separator: UInt8) throws(Fault) -> [[UInt8]] {
    let quote = UInt8(ascii: "\"")
    var fields: [[UInt8]] = []
    var field: [UInt8] = []
    var place = 0
    while place < row.count {
      if row[place] == quote, field.isEmpty {
        place += 1
        while true {
          guard place < row.count else { throw .incomplete }
          if row[place] == quote {
            place += 1
            guard place < row.count, row[place] == quote else { break }
          }
          field.append(row[place])
          place += 1
        }
      } else if row[place] == separator {
        fields.append(field)
        field = []
        place += 1
      } else {
        field.append(row[place])
        place += 1
      }
    }
    return fields + [field]
  }
}

extension RowFormat {
  /// Follows the quotes of a row from line to line, as `fields` reads them.
  private struct Quotes {
    private var areOpen = false
    private var isFieldEmpty = true

    mutating func areOpen(after line: [UInt8], _ separator: UInt8) -> Bool {
      let quote = UInt8(ascii: "\"")
      guard areOpen || line.contains(quote) else { return false }
      // The line break before this line is part of the field.
      isFieldEmpty = !areOpen
      var place = 0
      while place < line.count {
        let byte = line[place]
        place += 1
        if byte != quote || !areOpen && !isFieldEmpty {
          isFieldEmpty = byte == separator && !areOpen
        } else if !areOpen {
          areOpen = true
        } else if place < line.count, line[place] == quote {
          place += 1
          isFieldEmpty = false
        } else {
          areOpen = false
        }
      }
      return areOpen
    }
  }
}
