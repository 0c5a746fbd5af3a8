/// Reads arguments as getopt_long does: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-abc`. Options and operands stand
/// in any order, names may be shortened if they stay unambiguous, `--` ends the options, and `-` alone is an operand. Short
/// names that curl or wget would read differently are refused.
struct ParsedArguments {
  private(set) var operands: [String] = []
  private var given: [OptionText] = []
  private let command: String
  private let known: [Option]
  private var configuration = Configuration()

  /// - Parameter assumed: options that count as given, because the command has a default for them.
  init(
    _ arguments: [String], options: [Option], command: String, assumed: [String] = []
  ) throws(UsageError) {
    (self.command, known) = (command, options)
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        break
      } else if argument.hasPrefix("--") {
        try takeName(argument.dropFirst(2), &rest)
      } else if argument.hasPrefix("-"), argument != "-" {
        try takeLetters(argument.dropFirst(), &rest)
      } else {
        operands.append(argument)
      }
    }
    try check(assumed)
  }

  func has(_ name: String) -> Bool { last(name) != nil }

  /// Returns the last value of an option: later ones override earlier ones.
  func value(_ name: String) -> String? { last(name)?.text }

  func values(_ name: String) -> [String] {
    precondition(isKnown(name), "\(command) reads --\(name), which it doesn't have")
    return given.filter { $0.option.name == name }.map(\.text)
  }

  /// Returns the last use of an option, or nil. A command must have the option: otherwise the result would always be nil.
  func last(_ name: String) -> OptionText? {
    precondition(isKnown(name), "\(command) reads --\(name), which it doesn't have")
    return given.last { $0.option.name == name }
  }

  private func isKnown(_ name: String) -> Bool { known.contains { $0.name == name } }

  /// Returns the library's options from the command line.
  ///
  /// - Parameter base: the command's defaults.
  func said(over base: ParsedOptions = ParsedOptions()) throws(UsageError) -> ParsedOptions {
    var said = base
    let rows = Set(given.compactMap { $0.option.library?.row })
    try configuration.apply(to: &said, known: known, given: rows)
    for value in given { try value.option.library?.take(&said, value) }
    return said
  }

  // MARK: Config files

  /// Reads the config files.
  mutating func readFiles() throws(UsageError) {
    configuration = Configuration()
    let files = try Configuration.files(self)
    do throws(UsageError) { configuration = try Configuration(files) } catch {
      throw UsageError("\(command): \(error.message)")
    }
  }

  var settings: [Setting] { configuration.settings }

  /// Leaves out the files' options. The cache's directory stays the same.
  mutating func forgetFileOptions() { configuration = configuration.withCacheOnly }

  /// Returns the uses of a library's option.
  func given(row: String) -> [OptionText] { given.filter { $0.option.library?.row == row } }

  /// The directory of the cache; nil for the usual one.
  var cachePath: String? { value(CommonOptions.cache.name) ?? configuration.cache?.text }

  /// Whether an option is given that is part of the cache key.
  var namesAnswers: Bool { given.contains { $0.option.library?.namesAnswers == true } }

  /// Checks that options which need another one have it, and that no option is given under two names.
  private func check(_ assumed: [String]) throws(UsageError) {
    for value in given {
      if let needs = value.option.needs, !assumed.contains(needs), !has(needs) {
        throw UsageError("\(command): --\(value.name) goes with --\(needs)")
      }
      if let other = given.first(where: { $0.option.name == value.option.name }), other.name != value.name {
        throw UsageError("\(command): --\(other.name) and --\(value.name) exclude each other")
      }
    }
  }

  private mutating func takeName(_ text: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let (option, name) = try OptionNames(known, command).option(String(parts[0]))
    if let implied = option.value == nil ? "" : option.old[name] ?? nil {
      guard parts.count == 1 else { throw UsageError("\(command): the option --\(name) takes no value") }
      give(option, name, implied)
    } else if parts.count == 2 {
      give(option, name, String(parts[1]))
    } else {
      give(option, name, try next(&rest, "--\(name)"))
    }
  }

  private mutating func takeLetters(_ text: Substring, _ rest: inout ArraySlice<String>) throws(UsageError) {
    var letters = text
    while let letter = letters.popFirst() {
      guard let option = known.first(where: { $0.letter == letter }) else {
        throw UsageError("\(command): there is no option -\(letter). See 'nuthatch help \(command)'.")
      }
      if option.value == nil {
        give(option, option.name, "")
      } else {
        give(option, option.name, letters.isEmpty ? try next(&rest, "-\(letter)") : String(letters))
        return
      }
    }
  }

  private mutating func give(_ option: Option, _ name: String, _ text: String) {
    given.append(OptionText(option: option, name: name, text: text))
  }

  private func next(_ rest: inout ArraySlice<String>, _ option: String) throws(UsageError) -> String {
    guard let value = rest.popFirst() else {
      throw UsageError("\(command): the option \(option) needs a value")
    }
    return value
  }
}

/// Finds similar words.
enum Spelling {
  /// Returns the candidate that is at most two typing errors away, or nil.
  static func nearest(to word: String, among candidates: [String]) -> String? {
    let measured = candidates.map { (distance(word, $0), $0) }
    guard let best = measured.min(by: { $0.0 < $1.0 }), best.0 <= 2, best.0 < word.count else { return nil }
    return best.1
  }

  /// Levenshtein's distance.
  private static func distance(_ first: String, _ second: String) -> Int {
    let (rows, columns) = (Array(first), Array(second))
    var previous = Array(0...columns.count)
    for (row, character) in rows.enumerated() {
      var current = [row + 1]
      for (column, other) in columns.enumerated() {
        current.append(
          min(previous[column] + (character == other ? 0 : 1), previous[column + 1] + 1, current[column] + 1))
      }
      previous = current
    }
    return previous[columns.count]
  }
}
