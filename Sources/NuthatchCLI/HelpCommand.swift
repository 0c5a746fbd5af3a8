import NuthatchCore

/// `nuthatch help`: what there is, and how it is used.
enum HelpCommand: Command {
  static let name = "help"
  static let summary = "show this overview, or the help of one command"
  static let usage = "[COMMAND]"
  static let options: [Option] = []
  static let details = """
    Examples:
      nuthatch help
      nuthatch help prefetch

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    switch arguments.operands.count {
    case 0: Terminal.print(overview)
    case 1: Terminal.print(page(for: try Program.command(arguments.operands[0])))
    default: throw UsageError("help: one command at a time")
    }
    return .success
  }

  static var overview: String {
    let list =
      Program.commands.map { ("\($0.name) \($0.usage)", $0.summary) } + [("--version", "show the version")]
    return """
      \(bold("nuthatch")) \(Version.string): fetches pictures and other assets once, and keeps them and their thumbnails

      \(bold("Usage:")) nuthatch COMMAND [OPTION…] [ARGUMENT…]

      \(table(list))

      'nuthatch help COMMAND' shows its options with examples. Options may stand anywhere, names may be cut short
      (--rep for --report) unless curl or wget would read them differently, and what follows -- is no option. The cache is $NUTHATCH_CACHE, else ~/.cache/nuthatch.

      """
  }

  static func page(for command: any Command.Type) -> String {
    let rows = (command.options + [.help]).map { option in
      let letter = option.letter.map { "-\($0), " } ?? "    "
      return ("\(letter)--\(option.name)\(option.value.map { " \($0)" } ?? "")", option.help)
    }
    return """
      \(bold("nuthatch \(command.name)")): \(command.summary)

      \(bold("Usage:")) nuthatch \(command.name) \(command.usage)

      \(table(rows))\(command.details.isEmpty ? "" : "\n\n\(emphasised(command.details))")

      """
  }

  private static func bold(_ text: String) -> String { Terminal.styled(text, .bold) }

  private static func emphasised(_ details: String) -> String {
    details.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0 == "Examples:" ? bold(String($0)) : String($0) }.joined(separator: "\n")
  }

  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map { $0.0.count }.max() ?? 0
    return rows.map { "  \($0.0)\(String(repeating: " ", count: width - $0.0.count))  \($0.1)" }.joined(
      separator: "\n")
  }
}
