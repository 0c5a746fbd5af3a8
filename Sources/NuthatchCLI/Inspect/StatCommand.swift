import NuthatchCore

/// `nuthatch stat`: how much a cache holds.
enum StatCommand: Command {
  static let name = "stat"
  static let summary = "show how much the cache holds"
  static let usage = "[OPTION…]"
  static let options = [InspectionOptions.format, FetchOptions.cache]
  static let details = """
    \(InspectionOptions.exits)

    Examples:
      nuthatch stat
      nuthatch stat --format json | jq .disk_bytes

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let statistics = try cache.storeStatistics()
      // Counted one by one, because not every record of the kind is an answer.
      var answers = (all: 0, fresh: 0)
      try cache.forEachAnswer { answer in
        answers.all += 1
        if answer.isFresh { answers.fresh += 1 }
        return true
      }
      Terminal.print(
        wantsJSON ? json(statistics, answers, cache.path) : text(statistics, answers, cache.path))
      return .success
    }
  }

  private static func text(_ statistics: StoreStatistics, _ answers: (all: Int, fresh: Int), _ path: String)
    -> String
  {
    let share = statistics.diskLimit > 0 ? statistics.diskBytes * 100 / statistics.diskLimit : 0
    var lines = [
      path,
      "  answers     \(Amounts.grouped(answers.all)), \(Amounts.grouped(answers.fresh)) of them fresh",
      "  originals   \(Amounts.grouped(statistics.bodies))",
      "  thumbnails  \(Amounts.grouped(statistics.thumbs))",
      "  on disk     \(Amounts.bytes(Int64(statistics.diskBytes))) of "
        + "\(Amounts.bytes(Int64(statistics.diskLimit))) (\(share) %), in \(Amounts.grouped(statistics.packs)) packs",
    ]
    if let warning = statistics.warning { lines.append("  \(warning)") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func json(_ statistics: StoreStatistics, _ answers: (all: Int, fresh: Int), _ path: String)
    -> String
  {
    var json = JSONText()
    json.object { json in
      json.put("path", path)
      json.put("answers", answers.all)
      json.put("fresh", answers.fresh)
      json.put("originals", statistics.bodies)
      json.put("thumbnails", statistics.thumbs)
      json.put("packs", statistics.packs)
      json.put("disk_bytes", statistics.diskBytes)
      json.put("disk_limit", statistics.diskLimit)
      json.put("warning", statistics.warning)
    }
    json.endLine()
    return json.text
  }
}
