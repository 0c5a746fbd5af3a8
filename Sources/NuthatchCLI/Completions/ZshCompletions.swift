enum ZshCompletions {
  static var script: String {
    var lines = ["#compdef nuthatch", "# \(Completable.banner)", "_nuthatch() {", "  local -a commands=("]
    lines += Completable.commands.map { "    '\($0.name):\(quoted($0.summary))'" }
    lines += [
      "  )", "  if ((CURRENT == 2)); then", "    _describe -t commands command commands",
      "    compadd -- --version --help", "    return",
      "  fi", "  local command=$words[2]", "  shift words", "  ((CURRENT--))", "  case $command in",
    ]
    for command in Completable.all {
      lines += ["    \(command.name))", "      _arguments -s -S \\"]
      lines += command.options.map { "        \(argument($0)) \\" }
      if case .these = command.operands {
        lines.append("        '1:argument:\(action(command.operands))' \\")
        lines.append("        '*:argument:\(action(command.laterOperands))' ;;")
      } else {
        lines.append("        '*:argument:\(action(command.operands))' ;;")
      }
    }
    // If the file is sourced and not loaded by its name, it says what the function is for.
    lines += [
      "  esac", "}",
      "if [[ $funcstack[1] == _nuthatch ]]; then _nuthatch \"$@\"; else compdef _nuthatch nuthatch; fi",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  /// A blank if there is nothing to offer.
  private static func action(_ words: Completable.Words) -> String {
    switch words {
    case .unknown: " "
    case .files: "_files"
    case .folders: "_files -/"
    case .these(let list): "(\(list.joined(separator: " ")))"
    }
  }

  private static func argument(_ option: Option) -> String {
    var ends = "[\(quoted(option.help.escaping("[]:\\")))]"
    if let value = option.value { ends += ":\(quoted(value.escaping("[]:\\"))):\(action(option.values))" }
    let (equals, plus) = option.value == nil ? ("", "") : ("=", "+")
    guard let letter = option.letter else { return "'*--\(option.name)\(equals)\(ends)'" }
    return "'*'{-\(letter)\(plus),--\(option.name)\(equals)}'\(ends)'"
  }

  /// Returns a text that can stand between single quotes.
  private static func quoted(_ text: String) -> String {
    text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''")
  }
}
