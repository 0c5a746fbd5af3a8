enum BashCompletions {
  static var script: String {
    let names = Completable.commands.map(\.name).joined(separator: " ")
    var lines = ["  if ((COMP_CWORD == 1)); then", "    words=\"\(names) --version --help\"", "  else"]
    lines.append("    case \"$command $option\" in")
    for (words, patterns) in values {
      let rows = Completable.rows(patterns, between: " | ")
      lines.append("      \(rows.joined(separator: " | \\\n        ")))")
      lines.append("        words=\"\(words)\" ;;")
    }
    lines += ["      *)", "        if [[ $current == -* ]]; then", "          case $command in"]
    for command in Completable.all {
      let rows = Completable.rows(command.options.flatMap(\.flags), between: " ")
      lines.append("            \(command.name)) words=\"\(rows.joined(separator: "\n              "))\" ;;")
    }
    lines += ["          esac", "        else", "          case $command in"]
    for command in Completable.all where !word(command.operands).isEmpty {
      let later = word(command.laterOperands)
      var choice = "words=\"\(word(command.operands))\""
      if case .these(let list) = command.operands {
        choice += "; [[ $before =~ ' '(\(list.joined(separator: "|")))' ' ]] && words=\(later)"
      }
      lines.append("            \(command.name)) \(choice) ;;")
    }
    lines += ["          esac", "        fi ;;", "    esac", "  fi"]
    return head + lines.joined(separator: "\n") + "\n" + tail
  }

  /// What the values of options can be, and the options with such values.
  private static var values: [(words: String, patterns: [String])] {
    var found: [(words: String, patterns: [String])] = []
    for command in Completable.all {
      for option in command.options where option.value != nil {
        let patterns = option.flags.map { "\"\(command.name) \($0)\"" }
        let words = word(option.values)
        if let place = found.firstIndex(where: { $0.words == words }) {
          found[place].patterns += patterns
        } else {
          found.append((words, patterns))
        }
      }
    }
    return found
  }

  private static func word(_ words: Completable.Words) -> String {
    switch words {
    case .unknown: ""
    case .files: "files"
    case .folders: "folders"
    case .these(let list): list.joined(separator: " ")
    }
  }

  private static let head = #"""
    # bash completion of nuthatch. \#(Completable.banner)
    _nuthatch() {
      local current=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words=
      local before=" ${COMP_WORDS[*]:2:COMP_CWORD - 2} "
      COMPREPLY=()
      # Bash gives an equals sign as a separate word.
      if [[ $current == = ]]; then
        current=
      elif [[ $option == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
      fi

    """#

  private static let tail = #"""
      case $words in
        files) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        folders) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current") ;;
      esac
    }
    complete -F _nuthatch nuthatch

    """#
}
