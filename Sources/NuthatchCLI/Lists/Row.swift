/// A row of CSV or TSV (RFC 4180), read line by line: fields in quotes may hold separators and line breaks.
struct Row {
  private static let quote = UInt8(ascii: "\"")

  private let separators: [UInt8]
  private var finished: [[UInt8]] = []
  private var field: [UInt8] = []
  /// Whether quotes are open, so that the row goes on in the next line.
  private(set) var isOpen = false
  /// Whether the last byte closed quotes: if another quote follows, the two stand for one that belongs to the field.
  private var hasJustClosed = false

  init(separators: [UInt8]) { self.separators = separators }

  /// The fields of a whole row; nil when its last quotes are never closed.
  static func fields(_ bytes: [UInt8], _ separator: UInt8) -> [[UInt8]]? {
    var row = Row(separators: [separator])
    row.take(bytes)
    return row.isOpen ? nil : row.fields
  }

  var fields: [[UInt8]] { finished + [field] }

  /// Takes the next bytes of the row. A line break belongs to them only while quotes are open.
  mutating func take(_ bytes: [UInt8]) {
    for byte in bytes {
      let isDoubled = hasJustClosed && byte == Self.quote
      hasJustClosed = isOpen && byte == Self.quote
      if hasJustClosed {
        isOpen = false
      } else if byte == Self.quote, field.isEmpty || isDoubled {
        isOpen = true
        if isDoubled { field.append(byte) }
      } else if !isOpen, separators.contains(byte) {
        finished.append(field)
        field = []
      } else {
        field.append(byte)
      }
    }
  }
}
