import NuthatchCore

/// What is said of an option on the command line, and how each kind of value is read.
struct OptionText {
  let option: Option
  /// As what it was said: the option's name, or that of version 0.1.
  let name: String
  let text: String

  /// The one message about a value, in the words of the library.
  ///
  /// - Parameter shown: how the message shows the value; nil for one that is no number.
  func wrong(_ shown: String? = nil) -> UsageError {
    let row = option.library?.row ?? option.name
    return UsageError("--\(name): \(row) is \(shown ?? text.quotedForMessage); it must be \(option.range)")
  }

  /// A text that may not be empty.
  func filled() throws(UsageError) -> String {
    guard !text.isEmpty else { throw wrong("empty") }
    return text
  }

  // MARK: Words

  /// - Parameter values: in the order of the option's words.
  func word<Value>(_ values: [Value]) throws(UsageError) -> Value {
    guard let place = option.words.firstIndex(of: option.oldWords[text] ?? text) else { throw wrong() }
    return values[place]
  }

  func yesOrNo() throws(UsageError) -> Bool { try word([true, false]) }

  // MARK: Numbers

  /// A limit in time, which none and forever take away.
  ///
  /// - Parameter least: in milliseconds.
  func limit(_ least: Int64) throws(UsageError) -> Request.Limit {
    ["none", "forever"].contains(text) ? .none : .milliseconds(try milliseconds(least))
  }

  /// A lifetime, of which none is zero.
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

  /// `90`, `250ms`, `90s`, `15m`, `1.5h`, `7d`. A part of a millisecond is one, where the option may be less.
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

  /// Bytes: `500000`, `64K`, `1.5G`, `2T`, `64KiB`.
  func bytes(_ least: Int64, _ most: Int64?, none: Int64?) throws(UsageError) -> Int64 {
    try amount(least, most, none, Self.sizes)
  }

  private static let counts: [String: Int64] = ["": 1, "k": 1000, "m": 1_000_000, "g": 1_000_000_000]

  /// A whole number.
  func count(_ least: Int64, _ most: Int64?, none: Int64?, hasUnits: Bool = false) throws(UsageError) -> Int {
    Int(try amount(least, most, none, hasUnits ? Self.counts : ["": 1]))
  }

  /// - Parameters:
  ///   - most: nil where there is no end: then what is too large for a number is the greatest there is.
  ///   - none: what none is; nil where it isn't a value.
  private func amount(
    _ least: Int64, _ most: Int64?, _ none: Int64?, _ units: [String: Int64]
  ) throws(UsageError) -> Int64 {
    if text == "none", let none { return none }
    guard let number = WrittenNumber(text), let unit = units[number.unit.lowercased()] else { throw wrong() }
    let (below, above) = number.counted(in: unit)
    // Half a byte is none; of a kilobyte a part may be one more.
    guard below == above || unit > 1 else { throw wrong() }
    guard above >= least, above <= most ?? .max else { throw below == .max ? wrong() : wrong("\(above)") }
    return above
  }

  func share(_ least: Double, _ most: Double, none: Double) throws(UsageError) -> Double {
    text == "none" ? none : try decimal(least, most)
  }

  /// A number a second; nil, no limit, for none. Version 0.1 called that off.
  func rate(_ least: Double, _ most: Double) throws(UsageError) -> Double? {
    ["none", "off"].contains(text) ? nil : try decimal(least, most)
  }

  private func decimal(_ least: Double, _ most: Double) throws(UsageError) -> Double {
    // Swift also reads nan, inf and hexadecimal digits.
    guard WrittenNumber(text)?.unit.isEmpty == true, let number = Double(text) else { throw wrong() }
    guard (least...most).contains(number) else { throw wrong("\(number)") }
    return number
  }

  // MARK: What has parts

  /// Boxes: `256`, `320x240`, several with commas between them.
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

  /// With commas or spaces between them.
  func names() -> [String] { text.split { $0 == "," || $0 == " " }.map { String($0) } }

  /// `Name: value`. What is wrong with it isn't shown as a whole: it may be a secret.
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

  /// `Name: env:VARIABLE` or `Name: PREFIX env:VARIABLE`. It isn't shown, as it may be the secret itself.
  func secret() throws(UsageError) -> Request.Freezing.Secret {
    let parts = text.split(separator: ":", maxSplits: 1)
    let words = parts.count == 2 ? parts[1].split(separator: " ") : []
    guard let provider = words.last, Self.isVariable(provider), words.count <= 2 else { throw wrong("***") }
    let prefix = words.count == 2 ? "\(words[0]) " : ""
    return .init(String(parts[0]), prefix: prefix, provider: String(provider))
  }

  /// `env:VARIABLE`.
  func provider() throws(UsageError) -> String {
    guard Self.isVariable(text[...]) else { throw wrong("***") }
    return text
  }

  private static func isVariable(_ text: Substring) -> Bool { text.hasPrefix("env:") && text.count > 4 }

  /// What the Accept header says. wget's --accept is another thing.
  func mediaTypes() throws(UsageError) -> String {
    guard text.isEmpty || text.contains("/") else {
      throw UsageError(
        "\(wrong().message). wget's --accept is a list of endings of names; here, --accept is what the Accept header says."
      )
    }
    return text
  }
}
