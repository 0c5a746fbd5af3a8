import NuthatchBase
import NuthatchCore

/// The exit status of the command. Scripts depend on the numbers, so they never change.
enum ExitCode: Int32 {
  case success = 0
  /// A defect, or the cache can't be opened, or the disk is full.
  case failure = 1
  /// The command line, or the list that it names, is wrong.
  case usage = 2
  /// A URL could not be fetched or found, or `verify` found damage.
  case notFetched = 4
  /// Every URL was fetched, but the cache is too small to keep all thumbnails.
  case tooSmall = 5
  case hungUp = 129
  case interrupted = 130
  case closedPipe = 141
  case terminated = 143
}

/// A command of the program.
protocol Command {
  static var name: String { get }
  /// One line for the list of commands.
  static var summary: String { get }
  /// The text after the name in the usage line.
  static var usage: String { get }
  static var options: [Option] { get }
  /// Options that count as given, because the command has a default for them.
  static var assumed: [String] { get }
  /// Paragraphs and examples for `help`, below the options.
  static var details: String { get }
  /// Whether config files are read before `run`.
  static var readsFiles: Bool { get }
  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode
}

extension Command {
  /// The options, with those that several commands have.
  static var allOptions: [Option] { options + (usesFiles ? CommonOptions.files : []) + [.help] }
  /// Commands that open a cache use config files.
  private static var usesFiles: Bool { options.contains { $0.name == CommonOptions.cache.name } }
  static var readsFiles: Bool { usesFiles }
  static var assumed: [String] { [] }
}

/// Picks the command and runs it.
enum Program {
  static var commands: [any Command.Type] {
    [
      PrefetchCommand.self, GetCommand.self, StatCommand.self, ListCommand.self, ExplainCommand.self,
      RemoveCommand.self, VerifyCommand.self, TrimCommand.self, ClearCommand.self, ExportCommand.self,
      OutboxCommand.self, ConfigCommand.self, CompletionsCommand.self, HelpCommand.self,
    ]
  }

  /// Runs with the arguments of `main`. Refuses an argument that isn't UTF-8: its bytes would change when it becomes a string.
  static func run(_ count: Int32, _ values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> ExitCode {
    var arguments: [String] = []
    for index in 1..<max(Int(count), 1) {
      guard let value = values[index] else { break }
      guard let argument = String(validatingCString: value) else {
        Terminal.complain("nuthatch: argument \(index) is not UTF-8: '\(String(cString: value))'\n")
        return .usage
      }
      arguments.append(argument)
    }
    return run(arguments)
  }

  static func run(_ arguments: [String]) -> ExitCode {
    do {
      guard let first = arguments.first else {
        Terminal.complain(HelpCommand.overview)
        return .usage
      }
      switch first {
      case "--version", "-V":
        return try runCommand(VersionCommand.self, Array(arguments.dropFirst()))
      case HelpCommand.name where arguments.dropFirst() == [VersionCommand.name]:
        return try runCommand(VersionCommand.self, ["--help"])
      case Description.name where arguments.count == 1:
        Terminal.print(Description.text)
        return .success
      case "--help", "-h":
        return try runCommand(HelpCommand.self, [])
      default:
        return try runCommand(try command(first), Array(arguments.dropFirst()))
      }
    } catch {
      Terminal.complain("nuthatch: \(error.message)\n")
      return .usage
    }
  }

  static func command(_ name: String) throws(UsageError) -> any Command.Type {
    if let found = commands.first(where: { $0.name == name }) { return found }
    let near = Spelling.nearest(to: name, among: commands.map { $0.name }) ?? elsewhere[name]
    throw UsageError(
      "there is no command '\(name)'\(near.map { "; did you mean '\($0)'?" } ?? ".") See 'nuthatch help'.")
  }

  /// Commands of other programs, and the command here that does the same.
  private static let elsewhere = [
    "fetch": "prefetch", "add": "prefetch", "warm": "prefetch", "download": "get", "curl": "get",
    "cat": "get",
    "list": "ls", "show": "ls", "remove": "rm", "delete": "rm", "del": "rm", "status": "stat", "info": "stat",
    "du": "stat",
    "why": "explain", "check": "verify", "fsck": "verify", "shrink": "trim", "gc": "trim", "purge": "clear",
    "save": "export", "settings": "config", "options": "config",
    "version": "--version",
  ]

  /// Returns the names of the commands that have this option.
  static func commands(with option: String) -> [String] {
    commands.filter { $0.options.contains { $0.name == option } }.map { $0.name }
  }

  private static func runCommand(_ command: any Command.Type, _ arguments: [String]) throws(UsageError)
    -> ExitCode
  {
    var parsed = try ParsedArguments(
      arguments, options: command.allOptions, command: command.name, assumed: command.assumed)
    if parsed.has("help") {
      Terminal.print(HelpCommand.page(for: command))
      return .success
    }
    if command.readsFiles { try parsed.readFiles() }
    return try command.run(parsed)
  }
}
