/// An option of a command.
struct Option: Sendable {
  /// Without its dashes.
  var name: String
  var letter: Character?
  /// How help calls its value; nil when it has none.
  var value: String?
  var help: String
  /// What its value may be, where it is one of several words.
  var words: [String]
  /// What its value must be, as messages say it.
  var range: String
  /// The option that it goes with.
  var needs: String?
  /// What version 0.1 called it. A name that stood for a value has that.
  var old: [String: String?]
  /// What version 0.1 called its words.
  var oldWords: [String: String]
  /// Where help lists it; empty for what is the command's own.
  var group: String
  /// What it is to the library; nil for what is the command's own.
  var library: Library?

  init(
    _ name: String, letter: Character? = nil, value: String? = nil, _ help: String, words: [String] = [],
    range: String = "", needs: String? = nil, old: [String: String?] = [:], oldWords: [String: String] = [:],
    group: String = "",
    library: Library? = nil
  ) {
    (self.name, self.letter, self.value, self.help) = (name, letter, value, help)
    // Where help names the words, they are all that there are.
    self.words = words.isEmpty && value?.contains("|") == true ? value.map(Self.parts) ?? [] : words
    self.range = range.isEmpty ? Self.oneOf(self.words) : range
    (self.needs, self.old, self.oldWords, self.group, self.library) = (needs, old, oldWords, group, library)
  }

  private static func parts(_ value: String) -> [String] { value.split(separator: "|").map(String.init) }

  private static func oneOf(_ words: [String]) -> String {
    words.dropLast().joined(separator: ", ") + (words.last.map { " or \($0)" } ?? "")
  }

  static let help = Option("help", letter: "h", "show this help")

  /// An option of the library.
  struct Library: Sendable {
    typealias Reading = @Sendable (inout SaidOptions, OptionText) throws(UsageError) -> Void

    /// What the library calls it.
    let row: String
    let commands: [String]
    /// Whether it has a part in what answers are kept under.
    let namesAnswers: Bool
    /// Takes what is said of it.
    let take: Reading

    init(
      _ row: String, commands: [String], namesAnswers: Bool, take: @escaping Reading
    ) {
      (self.row, self.commands) = (row, commands)
      (self.namesAnswers, self.take) = (namesAnswers, take)
    }
  }
}

extension [Option] {
  /// The library's options that a command has.
  static func ofLibrary(for command: String) -> [Option] {
    LibraryOptions.all.filter { $0.library?.commands.contains(command) == true }
  }

  /// The same, one of which has something more to say.
  func changing(_ name: String, _ change: (inout Option) -> Void) -> [Option] {
    map { option in
      var option = option
      if option.name == name { change(&option) }
      return option
    }
  }
}

/// A command line that can't be understood.
struct UsageError: Error {
  var message: String

  init(_ message: String) { self.message = message }
}
