import NuthatchCore

/// `nuthatch ls`: lists all stored answers.
enum ListCommand: Command {
  static let name = "ls"
  static let summary = "list all stored answers"
  static let usage = "[OPTION…]"
  static let options = [InspectionOptions.formats, CommonOptions.cache] + .ofLibrary(for: name)
  static let details = """
    A line for each answer: fresh or stale, the status, the size of the body, the media type, and the URL. 'private' marks
    an answer that only requests with certain credentials or a partition get.

    \(InspectionOptions.exits)

    Examples:
      nuthatch ls | grep example.org
      nuthatch ls --format json | python3 -m json.tool
      nuthatch ls --format jsonl | grep -c '"fresh":true'

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    let format = try arguments.format
    return try arguments.withCache(name) { cache in
      var output = RecordStream()
      var isFirst = true
      try cache.forEachAnswer { answer in
        let text =
          switch format {
          case .text: line(answer)
          case .json: (isFirst ? "[" : ",\n") + json(answer)
          case .jsonl: json(answer) + "\n"
          }
        output.write(Array(text.utf8))
        isFirst = false
        return output.ended == nil
      }
      if format == .json { output.write(Array((isFirst ? "[]\n" : "]\n").utf8)) }
      output.flush()
      return output.ended ?? .success
    }
  }

  private static func line(_ answer: ListedAnswer) -> String {
    let size = Amounts.bytes(answer.info.bodyBytes)
    let type = answer.info.header("Content-Type")?.printable ?? "-"
    let state = answer.isFresh ? Terminal.styled("fresh", .good) : Terminal.styled("stale", .doubtful)
    return "\(state)  \(answer.info.status)  "
      + "\(String(repeating: " ", count: max(0, 7 - size.count)))\(size)  \(type)  "
      + "\(answer.isPrivate ? "private  " : "")\(answer.address.printable)\n"
  }

  private static func json(_ answer: ListedAnswer) -> String {
    var json = JSONText()
    json.object { json in
      json.put("url", answer.address)
      json.put("private", answer.isPrivate)
      json.put("fresh", answer.isFresh)
      ExplainCommand.write(answer.info, to: &json)
    }
    return json.text
  }
}
