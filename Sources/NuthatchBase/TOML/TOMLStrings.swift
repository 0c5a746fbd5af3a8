/// Reads strings: basic ones with escapes, literal ones without, and both over several lines.
struct TOMLStrings {
  /// Takes the string that begins here.
  static func take(_ scanner: inout TOMLScanner) throws(TOMLFault) -> String {
    if scanner.take("\"\"\"") { return try takeLines(&scanner, "\"\"\"", isBasic: true) }
    if scanner.take("'''") { return try takeLines(&scanner, "'''", isBasic: false) }
    return try takeLine(&scanner)
  }

  static func takeLine(_ scanner: inout TOMLScanner) throws(TOMLFault) -> String {
    let begin = scanner
    guard let quote = scanner.take() else { throw scanner.fault("a text is missing") }
    var text: [UInt8] = []
    while !scanner.isAtLineEnd, let byte = scanner.next {
      if quote == UInt8(ascii: "\""), byte == UInt8(ascii: "\\") {
        text += try takeEscape(&scanner)
        continue
      }
      _ = scanner.take()
      if byte == quote { return String(decoding: text, as: UTF8.self) }
      text.append(byte)
    }
    throw begin.fault("the quotes that begin here are not closed in this line")
  }

  private static func takeLines(
    _ scanner: inout TOMLScanner, _ quotes: StaticString, isBasic: Bool
  ) throws(TOMLFault) -> String {
    let begin = scanner
    // A line break right after the quotes is not part of the text.
    if !scanner.take("\r\n") { _ = scanner.take("\n") }
    var text: [UInt8] = []
    while let byte = scanner.next {
      if scanner.starts(with: quotes) {
        // One or two quotes may stand right before the closing ones.
        let run = scanner.takeWhile { $0 == byte }
        guard run.count <= 5 else { throw scanner.fault("there are too many quotes") }
        return String(decoding: text + run.dropFirst(3), as: UTF8.self)
      }
      if isBasic, byte == UInt8(ascii: "\\") {
        text += skipLineBreak(&scanner) ? [] : try takeEscape(&scanner)
      } else {
        _ = scanner.take()
        text.append(byte)
      }
    }
    throw begin.fault("the three quotes that begin before here are not closed")
  }

  /// Takes a `\` at the end of a line, with the blanks and line breaks that follow it. They are not part of the text.
  private static func skipLineBreak(_ scanner: inout TOMLScanner) -> Bool {
    var ahead = scanner
    _ = ahead.take()
    ahead.skipBlanks()
    guard !ahead.isAtEnd, ahead.isAtLineEnd else { return false }
    _ = ahead.takeWhile { [9, 10, 13, 0x20].contains($0) }
    scanner = ahead
    return true
  }

  private static func takeEscape(_ scanner: inout TOMLScanner) throws(TOMLFault) -> [UInt8] {
    let begin = scanner
    _ = scanner.take()
    switch scanner.take() {
    case UInt8(ascii: "b"): return [8]
    case UInt8(ascii: "t"): return [9]
    case UInt8(ascii: "n"): return [10]
    case UInt8(ascii: "f"): return [12]
    case UInt8(ascii: "r"): return [13]
    case UInt8(ascii: "\""): return [UInt8(ascii: "\"")]
    case UInt8(ascii: "\\"): return [UInt8(ascii: "\\")]
    case UInt8(ascii: "u"): return try takeScalar(&scanner, 4, begin)
    case UInt8(ascii: "U"): return try takeScalar(&scanner, 8, begin)
    default:
      throw begin.fault("there is no such escape: a backslash is written \\\\, or the text in single quotes")
    }
  }

  private static func takeScalar(
    _ scanner: inout TOMLScanner, _ length: Int, _ begin: TOMLScanner
  ) throws(TOMLFault) -> [UInt8] {
    var value: UInt32 = 0
    for _ in 0..<length {
      guard let byte = scanner.next, let digit = Character(UnicodeScalar(byte)).hexDigitValue else {
        throw begin.fault("the escape needs \(length) hexadecimal digits")
      }
      _ = scanner.take()
      value = value << 4 | UInt32(digit)
    }
    guard let scalar = UnicodeScalar(value) else { throw begin.fault("the escape is no Unicode character") }
    guard value != 0 else { throw begin.fault("a NUL character is not allowed") }
    return Array(String(Character(scalar)).utf8)
  }
}
