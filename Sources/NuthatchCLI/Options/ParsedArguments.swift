import NuthatchBase
import NuthatchCore

/// Reads arguments as getopt_long does: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-abc`. Options and operands stand
/// in any order, names may be shortened if they stay unambiguous, `--` ends the options, and `-` alone is an operand. Short
/// names that curl or wget would read differently are refused.
struct ParsedArguments {
  private(set) var operands: [String] = []
  private var given: [OptionText] = []
  private let command: String
  private let known: [Option]
  private var config = Config()

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

  /// Returns the library's options from the command line and the config files.
  ///
  /// - Parameter base: the command's defaults.
  func said(over base: ParsedOptions = ParsedOptions()) throws(UsageError) -> ParsedOptions {
    var said = base
    for value in given { try value.option.library?.take(&said, value) }
    let rows = Set(known.compactMap { $0.library?.row })
    // A command ignores the options of files that it doesn't have.
    let ours = config.only { rows.contains($0.isOfSignIn ? "headers" : $0.name) }
    do throws(NuthatchError) {
      (said.cache, said.process) = try ours.under(said.cache, process: said.process)
    } catch {
      throw UsageError("\(command): \(error.message)")
    }
    return said
  }

  // MARK: Config files

  /// Reads the config files.
  mutating func readFiles() throws(UsageError) {
    config = Config()
    let files = try configFiles
    do throws(NuthatchError) { config = try Config(files) } catch {
      throw UsageError("\(command): \(error.message) (--no-config reads no config file)")
    }
  }

  /// The config files that the command is to read.
  var configFiles: [ConfigFile] {
    get throws(UsageError) {
      guard let path = value("config") else { return has("no-config") ? [] : ConfigFile.standard }
      guard !has("no-config") else { throw UsageError("--config and --no-config exclude each other") }
      guard !Environment.isPrivileged else {
        throw UsageError("--config: a program with more rights than its user reads no file of the user")
      }
      return [ConfigFile(.named, path)]
    }
  }

  var settings: [ConfigSetting] { config.settings }

  /// Leaves out the files' options. The cache's directory stays the same.
  mutating func forgetFileOptions() { config = config.only { _ in false } }

  /// Returns the uses of a library's option.
  func given(row: String) -> [OptionText] { given.filter { $0.option.library?.row == row } }

  /// The directory of the cache; nil for the usual one.
  var cachePath: String? { value(CommonOptions.cache.name) ?? config.cache?.text }

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
