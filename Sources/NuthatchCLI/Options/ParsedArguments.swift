/// An option of a command.
struct Option {
  /// Without its dashes.
  var name: String
  var letter: Character?
  /// How help calls its value; nil when it has none.
  var value: String?
  var help: String

  init(_ name: String, letter: Character? = nil, value: String? = nil, _ help: String) {
    self.name = name
    self.letter = letter
    self.value = value
    self.help = help
  }

  static let help = Option("help", letter: "h", "show this help")
}

/// A command line that can't be understood.
struct UsageError: Error {
  var message: String

  init(_ message: String) { self.message = message }
}

/// Arguments read the way getopt_long does: `--name value`, `--name=value`, `-n value`, `-nvalue`, `-abc`, options and
/// operands in any order, unambiguous beginnings of names, `--` ends the options, `-` alone is an operand. Names that curl
/// or wget would read differently are refused.
struct ParsedArguments {
  private(set) var operands: [String] = []
  private var given: [(name: String, value: String)] = []

  init(_ arguments: [String], options: [Option], command: String) throws(UsageError) {
    let known = options + [.help]
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      if argument == "--" {
        operands += rest
        break
      } else if argument.hasPrefix("--") {
        try takeName(argument.dropFirst(2), &rest, known, command)
      } else if argument.hasPrefix("-"), argument != "-" {
        try takeLetters(argument.dropFirst(), &rest, known, command)
      } else {
        operands.append(argument)
      }
    }
  }

  func has(_ name: String) -> Bool { given.contains { $0.name == name } }

  /// The last value of an option, as later ones override.
  func value(_ name: String) -> String? { given.last { $0.name == name }?.value }

  func values(_ name: String) -> [String] { given.filter { $0.name == name }.map(\.value) }

  private mutating func takeName(
    _ text: Substring, _ rest: inout ArraySlice<String>, _ known: [Option], _ command: String
  ) throws(UsageError) {
    // Version 0.1 had it for `--key-lifetime none`.
    if text == "resend-late", known.contains(where: { $0.name == "key-lifetime" }) {
      given.append(("resend-late", ""))
      return
    }
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let option = try Self.option(String(parts[0]), known, command)
    if option.value == nil {
      guard parts.count == 1 else {
        throw UsageError("\(command): the option --\(option.name) takes no value")
      }
      given.append((option.name, ""))
    } else if parts.count == 2 {
      given.append((option.name, String(parts[1])))
    } else {
      given.append((option.name, try Self.next(&rest, "--\(option.name)", command)))
    }
  }

  private mutating func takeLetters(
    _ text: Substring, _ rest: inout ArraySlice<String>, _ known: [Option], _ command: String
  ) throws(UsageError) {
    var letters = text
    while let letter = letters.popFirst() {
      guard let option = known.first(where: { $0.letter == letter }) else {
        throw UsageError("\(command): there is no option -\(letter). See 'nuthatch help \(command)'.")
      }
      if option.value == nil {
        given.append((option.name, ""))
      } else {
        let value = letters.isEmpty ? try Self.next(&rest, "-\(letter)", command) : String(letters)
        given.append((option.name, value))
        return
      }
    }
  }

  private static func option(_ name: String, _ known: [Option], _ command: String) throws(UsageError)
    -> Option
  {
    if let exact = known.first(where: { $0.name == name }) { return exact }
    let matches = name.isEmpty ? [] : known.filter { $0.name.hasPrefix(name) }
    if let foreign = ForeignOption.named(name), foreign.name == name || matches.count == 1 {
      throw UsageError(
        "\(command): "
          + (matches.first.map { foreign.refusal(of: name, for: $0.name) } ?? foreign.absence(of: name)))
    }
    if matches.count == 1 { return matches[0] }
    if matches.count > 1 {
      let names = matches.map { "--\($0.name)" }.joined(separator: ", ")
      throw UsageError("\(command): the option --\(name) could be any of \(names)")
    }
    throw UsageError(
      "\(command): there is no option --\(name)\(hint(name, known)) See 'nuthatch help \(command)'.")
  }

  /// What was probably meant: an option of another command, or one that is written much like it.
  private static func hint(_ name: String, _ known: [Option]) -> String {
    let others = Program.commands(with: name)
    if !others.isEmpty {
      return "; \(others.joined(separator: ", ")) \(others.count == 1 ? "has" : "have") it."
    }
    return Spelling.nearest(to: name, among: known.map(\.name)).map { "; did you mean --\($0)?" } ?? "."
  }

  private static func next(
    _ rest: inout ArraySlice<String>, _ option: String, _ command: String
  ) throws(UsageError) -> String {
    guard let value = rest.popFirst() else {
      throw UsageError("\(command): the option \(option) needs a value")
    }
    return value
  }
}

/// Finds what was probably meant.
enum Spelling {
  /// The candidate that is at most two typing errors away, if there is one.
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
