/// Reads values without quotes: numbers, true and false. Refuses dates.
struct TOMLNumbers {
  static func take(_ scanner: inout TOMLScanner) throws(TOMLFault) -> TOMLValue.Form {
    let begin = scanner
    let word = scanner.takeWhile { byte in
      Character(UnicodeScalar(byte)).isLetter && byte < 0x80 || isDigit(byte) || "+-_.:".utf8.contains(byte)
    }
    switch String(decoding: word, as: UTF8.self) {
    case "": throw begin.fault("a value is missing")
    case "true": return .flag(true)
    case "false": return .flag(false)
    default: break
    }
    guard !isDate(word) else {
      throw begin.fault("dates and times of day have no use here; a text needs quotes")
    }
    guard let number = number(word) else {
      throw begin.fault("this is neither a number nor true or false; a text needs quotes")
    }
    return number
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Whether the word begins like `1979-05-27` or `07:32`.
  private static func isDate(_ word: [UInt8]) -> Bool {
    let digits = word.prefix(while: isDigit).count
    guard digits < word.count else { return false }
    return digits == 4 && word[4] == UInt8(ascii: "-") || digits == 2 && word[2] == UInt8(ascii: ":")
  }

  private static func number(_ word: [UInt8]) -> TOMLValue.Form? {
    var digits = word[...]
    let sign = digits.first.flatMap { "+-".utf8.contains($0) ? $0 : nil }
    if sign != nil { digits = digits.dropFirst() }
    if sign == nil, let based = based(digits) { return based }
    guard let plain = withoutUnderscores(digits), let first = plain.first, isDigit(first) else { return nil }
    let whole = plain.prefix(while: isDigit)
    guard whole.count == 1 || first != UInt8(ascii: "0") else { return nil }
    let text = (sign == UInt8(ascii: "-") ? "-" : "") + String(decoding: plain, as: UTF8.self)
    if whole.count == plain.count { return Int64(text).map { .integer($0) } }
    guard isDecimal(plain[whole.count...]), let number = Double(text) else { return nil }
    if let integer = Int64(exactly: number), integer.magnitude < 1 << 53 { return .integer(integer) }
    return .decimal(plain.contains { $0 | 0x20 == UInt8(ascii: "e") } ? "\(number)" : text)
  }

  /// Reads `0x1F`, `0o17`, `0b101`.
  private static func based(_ word: ArraySlice<UInt8>) -> TOMLValue.Form? {
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where word.starts(with: prefix.utf8) {
      guard let digits = withoutUnderscores(word.dropFirst(2)), digits.first != UInt8(ascii: "+"),
        digits.first != UInt8(ascii: "-")
      else { return nil }
      return Int64(String(decoding: digits, as: UTF8.self), radix: radix).map { .integer($0) }
    }
    return nil
  }

  /// Whether the bytes are `.5`, `e7`, `.5e-7`.
  private static func isDecimal(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    if rest.first == UInt8(ascii: ".") {
      let places = rest.dropFirst().prefix(while: isDigit)
      guard !places.isEmpty else { return false }
      rest = rest.dropFirst(places.count + 1)
    }
    guard let exponent = rest.first else { return true }
    guard exponent | 0x20 == UInt8(ascii: "e") else { return false }
    rest = rest.dropFirst()
    if rest.first.map({ "+-".utf8.contains($0) }) == true { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy(isDigit)
  }

  /// nil if an underscore doesn't stand between two digits.
  private static func withoutUnderscores(_ word: ArraySlice<UInt8>) -> [UInt8]? {
    let bytes = Array(word)
    func isHex(_ place: Int) -> Bool {
      bytes.indices.contains(place) && Character(UnicodeScalar(bytes[place])).isHexDigit
    }
    for place in bytes.indices where bytes[place] == UInt8(ascii: "_") {
      guard isHex(place - 1), isHex(place + 1) else { return nil }
    }
    return bytes.filter { $0 != UInt8(ascii: "_") }
  }
}
