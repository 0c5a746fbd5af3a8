import Glibc
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
      \(headline("nuthatch", "\(Version.string): fetches pictures and other assets once, and keeps them and their thumbnails"))

      \(headline("Usage:", "nuthatch COMMAND [OPTION…] [ARGUMENT…]"))

      \(table(list))

      \(emphasised(remarks))
      """
  }

  private static let remarks = """
    'nuthatch help COMMAND' shows its options with examples. Options may stand anywhere, names may be cut short
    (--rep for --report) unless curl or wget would read them differently, and what follows -- is no option. The cache
    is $NUTHATCH_CACHE, else ~/.cache/nuthatch.

    """

  static func page(for command: any Command.Type) -> String {
    let rows = (command.options + [.help]).map { option in
      let letter = option.letter.map { "-\($0), " } ?? "    "
      return ("\(letter)--\(option.name)\(option.value.map { " \($0)" } ?? "")", option.help)
    }
    return """
      \(headline("nuthatch \(command.name):", command.summary))

      \(headline("Usage:", "nuthatch \(command.name) \(command.usage)"))

      \(table(rows))\(command.details.isEmpty ? "" : "\n\n\(emphasised(command.details))")

      """
  }

  private static func headline(_ title: String, _ words: String) -> String {
    bold(title) + Terminal.fitted("\(title) \(words)").dropFirst(title.count)
  }

  private static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  private static func bold(_ text: String) -> String { Terminal.styled(text, .bold) }

  private static func emphasised(_ details: String) -> String {
    let lines = details.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    return (Terminal.knownColumns(of: STDOUT_FILENO).map { TextLines.flowed(lines, to: $0) } ?? lines)
      .map { $0 == "Examples:" ? bold($0) : $0 }.joined(separator: "\n")
  }

  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map { $0.0.count }.max() ?? 0
    guard let columns = Terminal.knownColumns(of: STDOUT_FILENO) else {
      return rows.map { "  " + padded($0.0, width) + "  \($0.1)" }.joined(separator: "\n")
    }
    // Two columns of words beside each other need room; else the words of a row stand below its name.
    let isWide = columns >= width + 40
    let margin = String(repeating: " ", count: isWide ? width + 4 : 10)
    return rows.flatMap { name, words in
      var lines = TextLines.broken(words, to: max(20, columns - margin.count), hang: 0).map { margin + $0 }
      if isWide { lines[0] = "  " + padded(name, width) + "  " + lines[0].dropFirst(margin.count) }
      return isWide ? lines : TextLines.broken("  " + name, to: columns) + lines
    }.joined(separator: "\n")
  }
}
