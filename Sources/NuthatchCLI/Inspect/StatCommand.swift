import NuthatchCore

/// `nuthatch stat`: shows the size of a cache.
enum StatCommand: Command {
  static let name = "stat"
  static let summary = "show how much the cache holds"
  static let usage = "[OPTION…]"
  static let options =
    [
      InspectionOptions.format,
      Option("count", "read the record of every answer, to count them and those that are fresh"),
      CommonOptions.cache,
    ] + .ofLibrary(for: name)
  /// The most records that are read without `--count`. Reading them takes a few milliseconds.
  private static let fewEnough = 5000
  static let details = """
    The figures come from the index at once, however large the cache is. The index doesn't count answers. To count them,
    their records are read one by one: in a small cache always, in a large one only with --count.

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
      // The index's count of metadata records is not the number of answers: some of them only list thumbnails.
      let isCounted = arguments.has("count") || statistics.meta <= fewEnough
      let answers = isCounted ? try counted(cache) : nil
      let heldUp = cache.statistics.heldUp
      Terminal.print(
        wantsJSON
          ? json(statistics, answers, heldUp: heldUp, cache.path)
          : Terminal.fitted(text(statistics, answers, heldUp: heldUp, cache.path)))
      return .success
    }
  }

  private struct Answers {
    var all = 0
    var fresh = 0
  }

  private static func counted(_ cache: Cache) throws(NuthatchError) -> Answers {
    var answers = Answers()
    try cache.forEachAnswer { answer in
      answers.all += 1
      if answer.isFresh { answers.fresh += 1 }
      return true
    }
    return answers
  }

  private static func text(
    _ statistics: StoreStatistics, _ answers: Answers?, heldUp: Int, _ path: String
  ) -> String {
    let share = statistics.diskLimit > 0 ? statistics.diskBytes * 100 / statistics.diskLimit : 0
    var lines = [
      path,
      "  answers     "
        + (answers.map { "\(Amounts.grouped($0.all)), \(Amounts.grouped($0.fresh)) of them fresh" }
          ?? "not counted; --count counts them"),
      "  originals   \(Amounts.grouped(statistics.bodies))",
      "  thumbnails  \(Amounts.grouped(statistics.thumbs))",
      "  records     \(Amounts.grouped(statistics.meta + statistics.bodies + statistics.thumbs)) in all",
      "  on disk     \(Amounts.bytes(Int64(statistics.diskBytes))) of "
        + "\(Amounts.bytes(Int64(statistics.diskLimit))) (\(share) %), in \(Amounts.counted(statistics.packs, "pack"))",
    ]
    if heldUp > 0 {
      lines.append("  \(Amounts.grouped(heldUp)) records not kept while another process held the lock")
    }
    if let warning = statistics.warning { lines.append("  \(warning)") }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func json(
    _ statistics: StoreStatistics, _ answers: Answers?, heldUp: Int, _ path: String
  ) -> String {
    JSONText.line { json in
      json.put("path", path)
      json.put("answers", answers?.all)
      json.put("fresh", answers?.fresh)
      json.put("originals", statistics.bodies)
      json.put("thumbnails", statistics.thumbs)
      json.put("records", statistics.meta + statistics.bodies + statistics.thumbs)
      json.put("packs", statistics.packs)
      json.put("disk_bytes", statistics.diskBytes)
      json.put("disk_limit", statistics.diskLimit)
      json.put("held_up", heldUp)
      json.put("warning", statistics.warning)
    }
  }
}
