/// Walks through the bytes of a TOML text and knows the place. The text is checked at the beginning: it is UTF-8 without control
/// characters.
struct TOMLScanner {
  private let bytes: [UInt8]
  private(set) var position = 0
  private var line = 1
  private var column = 1

  /// The longest text that is read.
  static let longest = 256 * 1024

  init(_ bytes: [UInt8]) throws(TOMLFault) {
    guard bytes.count <= Self.longest else {
      throw TOMLFault(message: "the text is larger than 256 KiB", place: TOMLPlace(line: 1, column: 1))
    }
    self.bytes = bytes
    try checkCharacters()
    // Some editors begin a file with a byte order mark.
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
  }

  private func checkCharacters() throws(TOMLFault) {
    var rest = bytes[...]
    var (line, column) = (1, 1)
    while let byte = rest.first {
      func fault(_ message: String) -> TOMLFault {
        TOMLFault(message: message, place: TOMLPlace(line: line, column: column))
      }
      if byte == 10 {
        (line, column) = (line + 1, 0)
      } else if byte == 0 {
        throw fault("a NUL byte is not allowed")
      } else if byte == 13, rest.dropFirst().first != 10 {
        throw fault("a carriage return without a line feed is not allowed")
      } else if byte < 0x20 && byte != 9 && byte != 13 || byte == 0x7F {
        throw fault("the control character U+\(byte.digits(4, radix: 16)) is not allowed")
      }
      guard let length = Self.scalarLength(rest) else { throw fault("the text is not UTF-8 here") }
      rest = rest.dropFirst(length)
      column += 1
    }
  }

  /// Returns the number of bytes of the first scalar; nil if it isn't UTF-8.
  private static func scalarLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    guard let first = bytes.first else { return nil }
    let length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    return length == 1 || String(validating: bytes.prefix(length), as: UTF8.self) != nil ? length : nil
  }

  // MARK: The place

  var place: TOMLPlace { TOMLPlace(line: line, column: column) }

  func fault(_ message: String) -> TOMLFault { TOMLFault(message: message, place: place) }

  // MARK: Bytes

  var next: UInt8? { position < bytes.count ? bytes[position] : nil }
  var isAtEnd: Bool { position >= bytes.count }

  /// Whether the line ends here.
  var isAtLineEnd: Bool { isAtEnd || starts(with: "\n") || starts(with: "\r\n") }

  func starts(with text: StaticString) -> Bool {
    let wanted = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
    return bytes[position...].starts(with: wanted)
  }

  mutating func take() -> UInt8? {
    guard let byte = next else { return nil }
    position += 1
    if byte == 10 {
      (line, column) = (line + 1, 1)
    } else if byte & 0xC0 != 0x80 {
      // Other bytes continue a scalar.
      column += 1
    }
    return byte
  }

  /// Takes the text if it stands here.
  mutating func take(_ text: StaticString) -> Bool {
    guard starts(with: text) else { return false }
    for _ in 0..<text.utf8CodeUnitCount { _ = take() }
    return true
  }

  mutating func takeWhile(_ isWanted: (UInt8) -> Bool) -> [UInt8] {
    var taken: [UInt8] = []
    while let byte = next, isWanted(byte), let byte = take() { taken.append(byte) }
    return taken
  }

  mutating func skipBlanks() { while next == 9 || next == 0x20 { _ = take() } }

  private mutating func skipComment() {
    if next == UInt8(ascii: "#") { while !isAtLineEnd { _ = take() } }
  }

  /// Takes blanks, a comment, and the end of the line.
  mutating func endLine() throws(TOMLFault) {
    skipBlanks()
    skipComment()
    guard isAtLineEnd else {
      throw fault("the line goes on after its value: a text with blanks needs quotes")
    }
    if !take("\r\n") { _ = take("\n") }
  }

  /// Takes blanks, comments and ends of lines.
  mutating func skipLines() {
    while true {
      skipBlanks()
      skipComment()
      guard take("\r\n") || take("\n") else { return }
    }
  }
}
