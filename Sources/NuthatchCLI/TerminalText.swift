import Glibc

/// What is written to a terminal that the caller hasn't named: text. Other bytes can change how the terminal works.
enum TerminalText {
  /// Whether standard output, where answers go that no `--output` sends elsewhere, is a terminal.
  static func isRequired(_ arguments: ParsedArguments) -> Bool {
    !arguments.has("output") && isatty(STDOUT_FILENO) == 1
  }

  /// Whether the bytes are text: none is a control character but those that text has, and ESC, which begins colours.
  static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
    !bytes.contains { $0 < 32 && !(7...13).contains($0) && $0 != 27 }
  }

  static let advice = "-o FILE writes it to a file, and -o - to the terminal all the same"

  /// Says why an answer isn't written.
  static func refuse() -> ExitCode {
    Terminal.complain("nuthatch: get: the answer is not text, and standard output is a terminal: \(advice)\n")
    return .usage
  }
}
