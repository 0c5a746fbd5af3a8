/// What can be completed after a command.
struct Completable {
  /// What a word of the command line can be.
  enum Words {
    case unknown, files, folders
    case these([String])
  }

  let name: String
  let summary: String
  let options: [Option]
  /// The first operand, or each of them if it is a file.
  let operands: Words
  /// Behind one of the words that `operands` has.
  let laterOperands: Words

  static let banner = "Printed by nuthatch completions. Its sources are Sources/NuthatchCLI and options.toml."

  static var commands: [Completable] { Program.commands.map { Completable($0) } }
  /// The commands, and what has options without being one.
  static var all: [Completable] { commands + [Completable(VersionCommand.self)] }

  private init(_ command: any Command.Type) {
    (name, summary) = (command.name, command.summary)
    options = command.allOptions
    operands =
      switch command.name {
      case PrefetchCommand.name, ExportCommand.name: .files
      case OutboxCommand.name: .these(["list", "replay", "collect", "drop"])
      case ConfigCommand.name: .these(["check"])
      case CompletionsCommand.name: .these(["bash", "zsh", "fish"])
      case HelpCommand.name: .these(Program.commands.map { $0.name })
      default: .unknown
      }
    laterOperands = command.name == ConfigCommand.name ? .files : .unknown
  }

  /// Joins words to lines of at most 100 characters.
  static func rows(_ words: [String], between: String) -> [String] {
    var rows = [""]
    for word in words {
      if !rows[rows.count - 1].isEmpty, rows[rows.count - 1].count + between.count + word.count > 100 {
        rows.append("")
      }
      rows[rows.count - 1] += (rows[rows.count - 1].isEmpty ? "" : between) + word
    }
    return rows
  }
}

extension Option {
  var values: Completable.Words {
    guard words.isEmpty else { return .these(words) }
    return switch value?.prefix(while: { ("A"..."Z").contains($0) }) {
    case "FILE": .files
    case "DIR": .folders
    default: .unknown
    }
  }

  /// The name with its dashes, and before it the letter.
  var flags: [String] { (letter.map { ["-\($0)"] } ?? []) + ["--\(name)"] }
}

extension String {
  /// Returns the text with a backslash before each of these characters.
  func escaping(_ characters: String) -> String {
    String(flatMap { characters.contains($0) ? ["\\", $0] : [$0] })
  }
}
