enum FishCompletions {
  static var script: String {
    let first = "complete -c nuthatch -n '__nuthatch_is \"\"'"
    var lines = ["# \(Completable.banner)", head]
    lines.append("\(first) -l version -d 'show the version'")
    lines.append("\(first) -l help -d 'show the commands'")
    lines += Completable.commands.map { "\(first) -a \($0.name) -d '\($0.summary.escaping("\\'"))'" }
    for command in Completable.all {
      let condition = "__nuthatch_is \(command.name)"
      let seen = "complete -c nuthatch -n '\(condition)'"
      for option in command.options {
        let letter = option.letter.map { " -s \($0)" } ?? ""
        lines.append(
          "\(seen)\(letter) -l \(option.name)\(value(option)) -d '\(option.help.escaping("\\'"))'")
      }
      switch command.operands {
      case .files: lines.append("\(seen) -F")
      case .these(let list):
        let words = list.joined(separator: " ")
        let again = "__fish_seen_subcommand_from \(words)"
        lines.append("complete -c nuthatch -n '\(condition); and not \(again)' -a '\(words)'")
        if case .files = command.laterOperands {
          lines.append("complete -c nuthatch -n '\(condition); and \(again)' -F")
        }
      case .folders, .unknown: break
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// Only the first word can be the command. Later ones that look like one are operands.
  private static let head = """
    function __nuthatch_is
        set -l words (commandline -opc)
        test "$words[2]" = "$argv[1]"
    end
    complete -c nuthatch -f
    """

  private static func value(_ option: Option) -> String {
    guard option.value != nil else { return "" }
    return switch option.values {
    case .files: " -r -F"
    case .folders: " -x -a '(__fish_complete_directories)'"
    case .these(let list): " -x -a '\(list.joined(separator: " "))'"
    case .unknown: " -x"
    }
  }
}
