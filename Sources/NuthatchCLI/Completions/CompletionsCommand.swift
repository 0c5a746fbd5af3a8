import NuthatchCore

/// `nuthatch completions`: the completions of a shell. `make header` writes the files in `share` with it.
enum CompletionsCommand: Command {
  static let name = "completions"
  static let summary = "print the completions for bash, zsh or fish"
  static let usage = "bash|zsh|fish"
  static let options: [Option] = []
  static let details = """
    `make install` and packages install them. Use this command if the shell doesn't find them, for example after pip install.

    Exit status: 0 done; 2 wrong usage; 141 standard output was closed.

    Examples:
      source <(nuthatch completions bash)
      nuthatch completions zsh > _nuthatch
      nuthatch completions fish > nuthatch.fish

    """

  private static let shells: KeyValuePairs<String, @Sendable () -> String> = [
    "bash": { BashCompletions.script }, "zsh": { ZshCompletions.script }, "fish": { FishCompletions.script },
  ]

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    let names = shells.map(\.key).joined(separator: ", ")
    guard arguments.operands.count == 1 else { throw UsageError("\(name): name one shell of \(names)") }
    let shell = arguments.operands[0]
    guard let script = shells.first(where: { $0.key == shell })?.value else {
      throw UsageError(
        "\(name): there are no completions for \(shell.quotedForMessage); name one of \(names)")
    }
    Terminal.print(script())
    return .success
  }
}
