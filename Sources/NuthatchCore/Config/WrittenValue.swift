/// The value of an option as text, from the command line or a config file, with a reader for each kind of value.
package struct WrittenValue: Sendable {
  /// The library's name of the option.
  package let row: String
  package let text: String
  /// The words that the value may be.
  let words: [String]
  /// The allowed values, for messages.
  let range: String
  /// Whether messages don't show the text.
  let isSecret: Bool

  package init(_ row: String, _ text: String, words: [String] = [], range: String, isSecret: Bool = false) {
    (self.row, self.text, self.words) = (row, text, words)
    (self.range, self.isSecret) = (range, isSecret)
  }

  /// Returns the error for a wrong value. The error for a number out of range has the same words.
  ///
  /// - Parameter shown: the value in the message; nil: the text in quotes.
  package func wrong(_ shown: String? = nil) -> NuthatchError {
    let shown = isSecret && !text.isEmpty ? "***" : shown ?? text.quotedForMessage
    return NuthatchError(.invalid, "\(row) is \(shown); it must be \(range)")
  }

  /// Returns the text, which must not be empty.
  package func filled() throws(NuthatchError) -> String {
    guard !text.isEmpty else { throw wrong("empty") }
    return text
  }

  // MARK: Words

  /// Returns the value that the word stands for.
  ///
  /// - Parameter values: one for each word of the option, in the same order.
  package func word<Value>(_ values: [Value]) throws(NuthatchError) -> Value {
    guard let place = words.firstIndex(of: text) else { throw wrong() }
    return values[place]
  }

  func trueOrFalse() throws(NuthatchError) -> Bool {
    guard let value = ["true": true, "false": false][text] else { throw wrong() }
    return value
  }

  // MARK: Numbers

  /// Reads a time limit. `none` and `forever`: no limit.
  ///
  /// - Parameter least: the lowest limit, in milliseconds.
  package func limit(_ least: Int64) throws(NuthatchError) -> Request.Limit {
    ["none", "forever"].contains(text) ? .none : .milliseconds(try milliseconds(least))
  }

  /// Reads a lifetime. `none`: 0.
  package func lifetime() throws(NuthatchError) -> Duration {
    switch text {
    case "none": .zero
    case "forever": .milliseconds(Int64.max)
    default: .milliseconds(try milliseconds(0))
    }
  }

  private static let times: [Substring: Int64] = [
    "": 1000, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000,
  ]

  /// Reads `90`, `250ms`, `90s`, `15m`, `1.5h`, `7d`. Rounds a fraction of a millisecond up, if the lower number is allowed, too.
  func milliseconds(_ least: Int64, _ most: Int64 = .max) throws(NuthatchError) -> Int64 {
    guard let number = WrittenNumber(text), let unit = Self.times[number.unit] else { throw wrong() }
    let (below, above) = number.counted(in: unit)
    guard below >= least, above <= most else { throw below == above ? wrong("\(below) ms") : wrong() }
    return above
  }

  private static let sizes: [String: Int64] = [
    "": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
  ]

  /// Reads bytes: `500000`, `64K`, `1.5G`, `2T`, `64KiB`.
  package func bytes(_ least: Int64, _ most: Int64?, none: Int64?) throws(NuthatchError) -> Int64 {
    try amount(least, most, none, Self.sizes)
  }

  private static let counts: [String: Int64] = ["": 1, "k": 1000, "m": 1_000_000, "g": 1_000_000_000]

  /// Reads a whole number.
  package func count(
    _ least: Int64, _ most: Int64?, none: Int64?, hasUnits: Bool = false
  ) throws(NuthatchError) -> Int {
    Int(try amount(least, most, none, hasUnits ? Self.counts : ["": 1]))
  }

  /// - Parameters:
  ///   - most: the greatest value; nil: no limit, and a number that is too large for `Int64` becomes its greatest value.
  ///   - none: the value of the word `none`; nil if the option doesn't allow it.
  @inline(never)  // Each option would have a copy of it.
  private func amount(
    _ least: Int64, _ most: Int64?, _ none: Int64?, _ units: [String: Int64]
  ) throws(NuthatchError) -> Int64 {
    if text == "none", let none { return none }
    guard let number = WrittenNumber(text), let unit = units[number.unit.lowercased()] else { throw wrong() }
    let (below, above) = number.counted(in: unit)
    // Refuse half a byte. With a unit such as K, a fraction of a byte is rounded up.
    guard below == above || unit > 1 else { throw wrong() }
    guard above >= least, above <= most ?? .max else { throw below == .max ? wrong() : wrong("\(above)") }
    return above
  }

  package func share(_ least: Double, _ most: Double, none: Double) throws(NuthatchError) -> Double {
    text == "none" ? none : try decimal(least, most)
  }

  /// Reads a number a second. Returns nil, no limit, for `none`, and for `off`, the word of version 0.1.
  package func rate(_ least: Double, _ most: Double) throws(NuthatchError) -> Double? {
    ["none", "off"].contains(text) ? nil : try decimal(least, most)
  }

  private func decimal(_ least: Double, _ most: Double) throws(NuthatchError) -> Double {
    // `Double` alone would also accept nan, inf and hexadecimal digits.
    guard WrittenNumber(text)?.unit.isEmpty == true, let number = Double(text) else { throw wrong() }
    guard (least...most).contains(number) else { throw wrong("\(number)") }
    return number
  }

  // MARK: Values with parts

  /// Reads names with commas or spaces between them.
  package func names() -> [String] { text.split { $0 == "," || $0 == " " }.map { String($0) } }

  /// Reads `Name: value`. An error shows only the name or the first word, because the value may be a secret.
  package func header() throws(NuthatchError) -> (name: String, value: String) {
    guard let colon = text.firstIndex(of: ":") else {
      throw wrong(String(text.prefix { $0 != " " }).quotedForMessage)
    }
    let (name, value) = (text[..<colon], text[text.index(after: colon)...])
    var options = Options()
    options.headers = [(String(name), String(value.drop { $0 == " " }))]
    do throws(NuthatchError) { try options.checkContents() } catch {
      throw NuthatchError(
        .badHeader, "\(wrong(String(name).quotedForMessage).message) (\(error.message))")
    }
    return options.headers[0]
  }

  /// Reads `NAME:PASSWORD`.
  func signIn() throws(NuthatchError) -> (name: String, password: String) {
    let parts = try filled().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
  }
}
