import NuthatchCore

/// The text of an option on the command line, and a reader for each kind of value.
struct OptionText {
  let option: Option
  /// The name that was used: the option's name, or that of version 0.1.
  let name: String
  let text: String
  /// Whether the text comes from a config file. Messages then have the library's name of the option.
  var isOfFile = false

  /// Returns the error for a wrong value. The library's message has the same words.
  ///
  /// - Parameter shown: the value in the message; nil: the text in quotes.
  func wrong(_ shown: String? = nil) -> UsageError {
    let row = option.library?.row ?? option.name
    let shown = isOfFile && option.library?.kind == .secret ? "***" : shown ?? text.quotedForMessage
    return UsageError("\(isOfFile ? "" : "--\(name): ")\(row) is \(shown); it must be \(option.range)")
  }

  /// Returns the text, which must not be empty.
  func filled() throws(UsageError) -> String {
    guard !text.isEmpty else { throw wrong("empty") }
    return text
  }

  // MARK: Words

  /// Returns the value that the word stands for.
  ///
  /// - Parameter values: one for each word of the option, in the same order.
  func word<Value>(_ values: [Value]) throws(UsageError) -> Value {
    guard let place = option.words.firstIndex(of: option.oldWords[text] ?? text) else { throw wrong() }
    return values[place]
  }

  /// Reads an option that has no value on the command line. In a config file it is true or false.
  ///
  /// - Parameter implied: what the option means on the command line.
  func isOn(_ implied: Bool) throws(UsageError) -> Bool {
    guard isOfFile else { return implied }
    guard text == "true" || text == "false" else { throw wrong() }
    return text == "true"
  }

  func yesOrNo() throws(UsageError) -> Bool { try word([true, false]) }

  // MARK: Numbers

  /// Reads a time limit. `none` and `forever`: no limit.
  ///
  /// - Parameter least: the lowest limit, in milliseconds.
  func limit(_ least: Int64) throws(UsageError) -> Request.Limit {
    ["none", "forever"].contains(text) ? .none : .milliseconds(try milliseconds(least))
  }

  /// Reads a lifetime. `none`: 0.
  func lifetime() throws(UsageError) -> Duration {
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
  private func milliseconds(_ least: Int64) throws(UsageError) -> Int64 {
    guard let number = WrittenNumber(text), let unit = Self.times[number.unit] else { throw wrong() }
    let (below, above) = number.counted(in: unit)
    guard below >= least else { throw below == above ? wrong("\(below) ms") : wrong() }
    return above
  }

  private static let sizes: [String: Int64] = [
    "": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
    "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
  ]

  /// Reads bytes: `500000`, `64K`, `1.5G`, `2T`, `64KiB`.
  func bytes(_ least: Int64, _ most: Int64?, none: Int64?) throws(UsageError) -> Int64 {
    try amount(least, most, none, Self.sizes)
  }

  private static let counts: [String: Int64] = ["": 1, "k": 1000, "m": 1_000_000, "g": 1_000_000_000]

  /// Reads a whole number.
  func count(_ least: Int64, _ most: Int64?, none: Int64?, hasUnits: Bool = false) throws(UsageError) -> Int {
    Int(try amount(least, most, none, hasUnits ? Self.counts : ["": 1]))
  }

  /// - Parameters:
  ///   - most: the greatest value; nil: no limit, and a number that is too large for `Int64` becomes its greatest value.
  ///   - none: the value of the word `none`; nil if the option doesn't allow it.
  private func amount(
    _ least: Int64, _ most: Int64?, _ none: Int64?, _ units: [String: Int64]
  ) throws(UsageError) -> Int64 {
    if text == "none", let none { return none }
    guard let number = WrittenNumber(text), let unit = units[number.unit.lowercased()] else { throw wrong() }
    let (below, above) = number.counted(in: unit)
    // Refuse half a byte. With a unit such as K, a fraction of a byte is rounded up.
    guard below == above || unit > 1 else { throw wrong() }
    guard above >= least, above <= most ?? .max else { throw below == .max ? wrong() : wrong("\(above)") }
    return above
  }

  func share(_ least: Double, _ most: Double, none: Double) throws(UsageError) -> Double {
    text == "none" ? none : try decimal(least, most)
  }

  /// Reads a number a second. Returns nil, no limit, for `none`, and for `off`, the word of version 0.1.
  func rate(_ least: Double, _ most: Double) throws(UsageError) -> Double? {
    ["none", "off"].contains(text) ? nil : try decimal(least, most)
  }

  private func decimal(_ least: Double, _ most: Double) throws(UsageError) -> Double {
    // `Double` alone would also accept nan, inf and hexadecimal digits.
    guard WrittenNumber(text)?.unit.isEmpty == true, let number = Double(text) else { throw wrong() }
    guard (least...most).contains(number) else { throw wrong("\(number)") }
    return number
  }

  // MARK: Values with parts

  /// Reads boxes: `256`, `320x240`, several with commas between them.
  func sizes() throws(UsageError) -> [(width: Int, height: Int)] {
    var sizes: [(width: Int, height: Int)] = []
    for size in text.split(separator: ",", omittingEmptySubsequences: false) {
      let sides = size.split(omittingEmptySubsequences: false) { $0 == "x" || $0 == "×" }
        .map { $0.allSatisfy { $0.isASCII && $0.isNumber } ? Int($0) ?? 0 : 0 }
      guard let width = sides.first, let height = sides.last, sides.count <= 2,
        sides.allSatisfy({ (1...ThumbnailBox.maxSide).contains($0) })
      else { throw wrong(String(size).quotedForMessage) }
      if !sizes.contains(where: { $0 == (width, height) }) { sizes.append((width, height)) }
    }
    guard sizes.count <= 64 else { throw wrong("\(sizes.count) of them") }
    return sizes
  }

  /// Reads names with commas or spaces between them.
  func names() -> [String] { text.split { $0 == "," || $0 == " " }.map { String($0) } }

  /// Reads `Name: value`. An error shows only the name or the first word, because the value may be a secret.
  func header() throws(UsageError) -> (name: String, value: String) {
    guard let colon = text.firstIndex(of: ":") else {
      throw wrong(String(text.prefix { $0 != " " }).quotedForMessage)
    }
    let (name, value) = (text[..<colon], text[text.index(after: colon)...])
    var options = Options()
    options.headers = [(String(name), String(value.drop { $0 == " " }))]
    do throws(NuthatchError) { try options.checkContents() } catch {
      throw UsageError("\(wrong(String(name).quotedForMessage).message) (\(error.message))")
    }
    return options.headers[0]
  }

  /// Reads `Name: env:VARIABLE` or `Name: PREFIX env:VARIABLE`. An error doesn't show the text: it may be the secret itself.
  func secret() throws(UsageError) -> Request.Freezing.Secret {
    let parts = text.split(separator: ":", maxSplits: 1)
    let words = parts.count == 2 ? parts[1].split(separator: " ") : []
    guard let provider = words.last, Self.isVariable(provider), words.count <= 2 else { throw wrong("***") }
    let prefix = words.count == 2 ? "\(words[0]) " : ""
    return .init(String(parts[0]), prefix: prefix, provider: String(provider))
  }

  /// Reads `env:VARIABLE`. An error doesn't show the text: it may be the secret itself.
  func provider() throws(UsageError) -> String {
    guard Self.isVariable(text[...]) else { throw wrong("***") }
    return text
  }

  private static func isVariable(_ text: Substring) -> Bool { text.hasPrefix("env:") && text.count > 4 }

  /// Reads the value of the Accept header. Refuses a value of wget's --accept, which has another meaning.
  func mediaTypes() throws(UsageError) -> String {
    guard text.isEmpty || text.contains("/") else {
      throw UsageError(
        "\(wrong().message). wget's --accept is a list of file name endings; here, --accept is the value of the Accept header."
      )
    }
    return text
  }
}
