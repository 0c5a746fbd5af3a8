/// An option of a command.
struct Option: Sendable {
  /// The name without its dashes.
  var name: String
  var letter: Character?
  /// The name of the value in help; nil if the option has no value.
  var value: String?
  var help: String
  /// The words that the value may be; empty for other kinds of values.
  var words: [String]
  /// The allowed values, for messages.
  var range: String
  /// An option that must be given, too.
  var needs: String?
  /// The names of version 0.1. If a name implied a value, the value stands here.
  var old: [String: String?]
  /// The words of version 0.1, and today's words for them.
  var oldWords: [String: String]
  /// The heading in help; empty for options that are not the library's.
  var group: String
  /// The library's option that this one sets; nil if the library has none.
  var library: Library?

  init(
    _ name: String, letter: Character? = nil, value: String? = nil, _ help: String, words: [String] = [],
    range: String = "", needs: String? = nil, old: [String: String?] = [:], oldWords: [String: String] = [:],
    group: String = "",
    library: Library? = nil
  ) {
    (self.name, self.letter, self.value, self.help) = (name, letter, value, help)
    // If `value` lists words, they are all allowed words.
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
    typealias Reading = @Sendable (inout ParsedOptions, OptionText) throws(UsageError) -> Void

    /// The library's name of the option.
    let row: String
    let commands: [String]
    /// Whether the option is part of the cache key.
    let namesAnswers: Bool
    /// Reads the value into `ParsedOptions`.
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
  /// Returns the library's options that a command has.
  static func ofLibrary(for command: String) -> [Option] {
    LibraryOptions.all.filter { $0.library?.commands.contains(command) == true }
  }

  /// Returns the options with one of them changed.
  func changing(_ name: String, _ change: (inout Option) -> Void) -> [Option] {
    map { option in
      var option = option
      if option.name == name { change(&option) }
      return option
    }
  }
}

/// The command line is wrong.
struct UsageError: Error {
  var message: String

  init(_ message: String) { self.message = message }
}
