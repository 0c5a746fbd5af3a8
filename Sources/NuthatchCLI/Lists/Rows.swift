/// The rows of CSV and TSV (RFC 4180): fields in quotes may hold separators and line breaks.
enum Rows {
  /// The fields of a row; nil when its last quotes are never closed.
  static func fields(_ row: [UInt8], _ separator: UInt8) -> [[UInt8]]? {
    let quote = UInt8(ascii: "\"")
    var fields: [[UInt8]] = []
    var field: [UInt8] = []
    var place = 0
    while place < row.count {
      if row[place] == quote, field.isEmpty {
        place += 1
        while true {
          guard place < row.count else { return nil }
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

  /// Follows the quotes of a row from line to line, as `fields` reads them.
  struct Quotes {
    private var areOpen = false
    private var isFieldEmpty = true

    /// - Parameter separators: one; all that it may be, before the first row has told.
    mutating func areOpen(after line: [UInt8], _ separators: [UInt8]) -> Bool {
      let quote = UInt8(ascii: "\"")
      guard areOpen || line.contains(quote) else { return false }
      // The line break before this line is part of the field.
      isFieldEmpty = !areOpen
      var place = 0
      while place < line.count {
        let byte = line[place]
        place += 1
        if byte != quote || !areOpen && !isFieldEmpty {
          isFieldEmpty = !areOpen && separators.contains(byte)
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
