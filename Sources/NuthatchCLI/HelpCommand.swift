import Glibc
import NuthatchCore

/// `nuthatch help`: the commands and their options.
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
    let list = (Program.commands + [VersionCommand.self]).map { ("\($0.name) \($0.usage)", $0.summary) }
    return """
      \(headline("nuthatch", "\(Version.string): fetches pictures and other assets once, and keeps them and their thumbnails"))

      \(headline("Usage:", "nuthatch COMMAND [OPTION…] [ARGUMENT…]"))

      \(table(list, width: list.map { $0.0.count }.max() ?? 0))

      \(emphasised(remarks))
      """
  }

  static let remarks = """
    'nuthatch help COMMAND' shows the options of a command, with examples. Options stand anywhere after COMMAND; after
    -- there are none. Names may be shortened (--rep for --report), unless curl or wget would read the short name
    differently. The cache is $NUTHATCH_CACHE, else ~/.cache/nuthatch. Options may stand in
    ~/.config/nuthatch/config.toml, too: see 'nuthatch help config'.

    """

  static func page(for command: any Command.Type) -> String {
    let options = command.allOptions
    let rows = options.map { option in
      let letter = option.letter.map { "-\($0), " } ?? "    "
      return ("\(letter)--\(option.name)\(option.value.map { " \($0)" } ?? "")", option.help)
    }
    let notation = notation(of: options)
    let width = rows.map { $0.0.count }.max() ?? 0
    var groups: [String] = []
    for option in options where !groups.contains(option.group) { groups.append(option.group) }
    let tables = groups.map { group in
      let listed = table(zip(options, rows).filter { $0.0.group == group }.map(\.1), width: width)
      return group.isEmpty ? listed : "\(bold(Terminal.fitted(group + ":")))\n\(listed)"
    }.joined(separator: "\n\n")
    return """
      \(headline("nuthatch \(command.name):", command.summary))

      \(headline("Usage:", "nuthatch \(command.name) \(command.usage)"))

      \(tables)\(notation.isEmpty ? "" : "\n\n\(emphasised(notation))")\n\n\(emphasised(command.details))

      """
  }

  /// Explains the notation of TIME and SIZE, if one of the options has such a value.
  static func notation(of options: [Option]) -> String {
    [
      ("TIME", "a time is 90 (seconds), 250ms, 90s, 15m, 1.5h, 7d, none or forever"),
      ("SIZE", "a size is 500000, 64K, 1.5G, 2T or 64KiB, of 1,024 each"),
    ].filter { value, _ in options.contains { $0.value == value } }
      .map { value, words in "\(value): \(words)." }.joined(separator: "\n")
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

  /// The width of a page if standard output is not a terminal.
  private static let pageColumns = 132

  private static func table(_ rows: [(String, String)], width: Int) -> String {
    let columns = Terminal.knownColumns(of: STDOUT_FILENO) ?? pageColumns
    // Two columns need a wide terminal. In a narrow one, the text of a row stands below its name.
    let isWide = columns >= width + 40
    let margin = String(repeating: " ", count: isWide ? width + 4 : 10)
    return rows.flatMap { name, words in
      var lines = TextLines.broken(words, to: max(20, columns - margin.count), hang: 0).map { margin + $0 }
      if isWide { lines[0] = "  " + padded(name, width) + "  " + lines[0].dropFirst(margin.count) }
      return isWide ? lines : TextLines.broken("  " + name, to: columns) + lines
    }.joined(separator: "\n")
  }
}
