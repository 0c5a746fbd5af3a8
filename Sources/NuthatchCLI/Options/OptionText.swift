import NuthatchCore

/// The text of an option on the command line.
struct OptionText {
  let option: Option
  /// The name that was used: the option's name, or that of version 0.1.
  let name: String
  let text: String

  /// The value, with today's words.
  private var value: WrittenValue {
    WrittenValue(
      option.library?.row ?? option.name, option.oldWords[text] ?? text, words: option.words,
      range: option.range)
  }

  /// Returns the error for a wrong value. The library's message has the same words.
  ///
  /// - Parameter shown: the value in the message; nil: the text in quotes.
  func wrong(_ shown: String? = nil) -> UsageError {
    UsageError("--\(name): \(value.wrong(shown ?? text.quotedForMessage).message)")
  }

  private func read<Value>(
    _ body: (WrittenValue) throws(NuthatchError) -> Value
  ) throws(UsageError) -> Value {
    do throws(NuthatchError) { return try body(value) } catch {
      throw UsageError("--\(name): \(error.message)")
    }
  }

  /// Returns the text, which must not be empty.
  func filled() throws(UsageError) -> String {
    try read { (value) throws(NuthatchError) in try value.filled() }
  }

  /// Returns the value that the word stands for.
  ///
  /// - Parameter values: one for each word of the option, in the same order.
  func word<Value>(_ values: [Value]) throws(UsageError) -> Value {
    guard option.words.contains(value.text) else { throw wrong() }
    return try read { (value) throws(NuthatchError) in try value.word(values) }
  }

  func yesOrNo() throws(UsageError) -> Bool { try word([true, false]) }

  // MARK: Numbers

  /// Reads a time limit. `none` and `forever`: no limit.
  ///
  /// - Parameter least: the lowest limit, in milliseconds.
  func limit(_ least: Int64) throws(UsageError) -> Request.Limit {
    try read { (value) throws(NuthatchError) in try value.limit(least) }
  }

  /// Reads a lifetime. `none`: 0.
  func lifetime() throws(UsageError) -> Duration {
    try read { (value) throws(NuthatchError) in try value.lifetime() }
  }

  /// Reads bytes: `500000`, `64K`, `1.5G`, `2T`, `64KiB`.
  func bytes(_ least: Int64, _ most: Int64?, none: Int64?) throws(UsageError) -> Int64 {
    try read { (value) throws(NuthatchError) in try value.bytes(least, most, none: none) }
  }

  /// Reads a whole number.
  func count(_ least: Int64, _ most: Int64?, none: Int64?, hasUnits: Bool = false) throws(UsageError) -> Int {
    try read { (value) throws(NuthatchError) in
      try value.count(least, most, none: none, hasUnits: hasUnits)
    }
  }

  func share(_ least: Double, _ most: Double, none: Double) throws(UsageError) -> Double {
    try read { (value) throws(NuthatchError) in try value.share(least, most, none: none) }
  }

  /// Reads a number a second. Returns nil, no limit, for `none`, and for `off`, the word of version 0.1.
  func rate(_ least: Double, _ most: Double) throws(UsageError) -> Double? {
    try read { (value) throws(NuthatchError) in try value.rate(least, most) }
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
  func names() -> [String] { value.names() }

  /// Reads `Name: value`. An error shows only the name or the first word, because the value may be a secret.
  func header() throws(UsageError) -> (name: String, value: String) {
    try read { (value) throws(NuthatchError) in try value.header() }
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

  /// Reads the value of the Accept header, or `modern`. Refuses a value of wget's --accept, which has another meaning.
  func mediaTypes() throws(UsageError) -> String {
    guard text.isEmpty || text.contains("/") || text == "modern" else {
      throw UsageError(
        "\(wrong().message). wget's --accept is a list of file name endings; here, --accept is the value of the Accept header."
      )
    }
    return text
  }
}
