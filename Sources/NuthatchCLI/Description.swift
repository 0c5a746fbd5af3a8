import NuthatchCore

/// All commands with their options, in JSON. Man pages and completions are made from it. Help doesn't list this command.
enum Description {
  static let name = "__describe"

  static var text: String {
    JSONText.line { json in
      json.put("remarks", HelpCommand.remarks)
      json.objects("commands", Program.commands) { json, command in
        json.put("name", command.name)
        json.put("summary", command.summary)
        json.put("usage", command.usage)
        json.put("notation", HelpCommand.notation(of: command.options))
        json.put("details", command.details)
        json.objects("options", command.allOptions) { json, option in
          json.put("name", option.name)
          json.put("letter", option.letter.map { String($0) })
          json.put("value", option.value)
          json.put("help", option.help)
          json.put("group", option.group)
          json.list("words", option.words) { json, word in json.put(nil, word) }
          json.put("row", option.library?.row)
        }
      }
    }
  }
}
