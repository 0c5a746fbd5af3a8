import Glibc

/// Decides what may be written to a terminal that no option names: text only. Other bytes can change the terminal's state.
enum TerminalText {
  /// Returns whether only text may be written: there is no `--output`, and standard output is a terminal.
  static func isRequired(_ arguments: ParsedArguments) -> Bool {
    !arguments.has("output") && isatty(STDOUT_FILENO) == 1
  }

  /// Returns whether the bytes are text: the only control characters are those from BEL to CR, and ESC, which starts colours.
  static func isText(_ bytes: some Sequence<UInt8>) -> Bool {
    !bytes.contains { $0 < 32 && !(7...13).contains($0) && $0 != 27 }
  }

  static let advice = "-o FILE writes it to a file, and -o - to the terminal"

  /// Prints why an answer isn't written.
  static func refuse() -> ExitCode {
    Terminal.complain("nuthatch: get: the answer is not text, and standard output is a terminal: \(advice)\n")
    return .usage
  }
}
