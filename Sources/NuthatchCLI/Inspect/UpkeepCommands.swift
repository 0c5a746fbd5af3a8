import NuthatchCore

/// `nuthatch rm`: forgets URLs.
enum RemoveCommand: Command {
  static let name = "rm"
  static let summary = "forget what is stored of URLs"
  static let usage = "[OPTION…] URL…"
  static let options = [InspectionOptions.format, CommonOptions.cache] + .ofLibrary(for: name)
  static let details = """
    The next request for such a URL asks the server. All that is kept under it goes, whoever it is for and under whatever
    name; with options only the answer that is kept under what they say: --user, --header, --partition and so on. A
    picture that another URL has in common stays. It says how many answers it removed; --format json has a list of url,
    was_stored and removed, the number of answers.

    Exit status: 0 done; 4 of a URL nothing was stored, the others are removed; 1 the cache can't be opened, read or
    written; 2 wrong usage; 141 standard output was closed.

    Examples:
      nuthatch rm https://example.org/a.jpg

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else { throw UsageError("rm: at least one URL is needed") }
    let said = try arguments.said()
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let requests = try arguments.operands.map { try said.request(for: $0, in: cache) }
      // What is wrong with one of them is found before anything goes.
      for request in requests { _ = try cache.inspect(request) }
      var removed: [(url: String, count: Int)] = []
      for request in requests { removed.append((request.url, try cache.remove(request))) }
      let exit: ExitCode = removed.contains { $0.count == 0 } ? .notFetched : .success
      guard wantsJSON else {
        let count = removed.reduce(0) { $0 + $1.count }
        Terminal.print("removed \(Amounts.grouped(count)) \(count == 1 ? "answer" : "answers")\n")
        for entry in removed where entry.count == 0 {
          Terminal.complain("nuthatch: rm: nothing is stored of \(ShownURL.of(entry.url).printable)\n")
        }
        return exit
      }
      var json = JSONText()
      json.objects(nil, removed) { json, entry in
        json.put("url", entry.url)
        json.put("was_stored", entry.count > 0)
        json.put("removed", entry.count)
      }
      json.endLine()
      Terminal.print(json.text)
      return exit
    }
  }
}

/// `nuthatch verify`: reads everything.
enum VerifyCommand: Command {
  static let name = "verify"
  static let summary = "read everything that is stored and compare it with its checksums"
  static let usage = "[OPTION…]"
  static let options = [InspectionOptions.format, CommonOptions.cache]
  static let details = """
    What is damaged is taken out, so that it is fetched again; what the index had lost is found again. Where a pack holds
    something else than records, or can't be read at all, nothing is there to be taken out: that is said each time, with the
    file's name, until the pack goes with age, or by trim or clear. It harms nothing else.

    Other commands and programs check each record when they use it for the first time since one of them opened the cache.
    Bits that flip later are given as they are, until the next check.

    Exit status: 0 nothing is damaged; 4 damage was found; 1 the cache can't be opened or read; 2 wrong usage.

    Examples:
      nuthatch verify
      nuthatch verify --format json | jq .damaged

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let report = try cache.verify()
      Terminal.print(wantsJSON ? json(report) : text(report))
      return report.damaged + report.gaps + report.unreadable == 0 ? .success : .notFetched
    }
  }

  private static func text(_ report: VerifyReport) -> String {
    var parts = [
      "\(Amounts.grouped(report.intact)) records are whole (\(Amounts.bytes(Int64(report.bytes))))"
    ]
    for (count, what) in [
      (report.damaged, "damaged and taken out"), (report.gaps, "places in packs hold something else"),
      (report.unreadable, "packs can't be read"), (report.recovered, "found again"),
    ] where count > 0 {
      parts.append("\(Amounts.grouped(count)) \(what)")
    }
    return ([parts.joined(separator: "; ")] + report.troubled.map { "\($0.file): \($0.why)" })
      .map { $0 + "\n" }.joined()
  }

  private static func json(_ report: VerifyReport) -> String {
    JSONText.line { json in
      json.put("intact", report.intact)
      json.put("bytes", report.bytes)
      json.put("damaged", report.damaged)
      json.put("gaps", report.gaps)
      json.put("unreadable", report.unreadable)
      json.put("recovered", report.recovered)
      json.objects("troubled", report.troubled) { json, pack in
        json.put("file", pack.file)
        json.put("why", pack.why)
      }
    }
  }
}

/// `nuthatch trim`: makes room.
enum TrimCommand: Command {
  static let name = "trim"
  static let summary = "drop what was not used for longest"
  static let usage = "[OPTION…]"
  static let options = [
    InspectionOptions.format,
    Option(
      "to-bytes", value: "SIZE", "what may be left on disk (9/10 of the limit)", range: "1 or more",
      old: ["to": nil]),
    CommonOptions.cache,
  ]
  static let details = """
    Originals go before thumbnails, and of each the oldest first. No more goes than must: what is left is SIZE, or less by one
    record at most.

    \(InspectionOptions.exits)

    Examples:
      nuthatch trim --to-bytes 500M

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    let wanted = try arguments.last("to-bytes")?.bytes(1, nil, none: nil)
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let before = try cache.storeStatistics()
      try cache.trim(to: wanted.map { Int($0) } ?? before.diskLimit / 10 * 9)
      Terminal.print(try Room(before, cache).said(asJSON: wantsJSON))
      return .success
    }
  }
}

/// `nuthatch clear`: forgets everything.
enum ClearCommand: Command {
  static let name = "clear"
  static let summary = "forget everything that is stored"
  static let usage = "[OPTION…]"
  static let options = [InspectionOptions.format, CommonOptions.cache]
  static let details = """
    \(InspectionOptions.exits)

    Examples:
      nuthatch clear --cache thumbs.cache

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let before = try cache.storeStatistics()
      try cache.clear()
      Terminal.print(try Room(before, cache).said(asJSON: wantsJSON))
      return .success
    }
  }
}

/// What was made room for, and what is left.
private struct Room {
  let freed: Int
  let left: Int
  let limit: Int

  init(_ before: StoreStatistics, _ cache: Cache) throws(NuthatchError) {
    let now = try cache.storeStatistics()
    freed = max(0, before.diskBytes - now.diskBytes)
    left = now.diskBytes
    limit = now.diskLimit
  }

  func said(asJSON: Bool) -> String {
    guard asJSON else {
      return "\(Amounts.bytes(Int64(freed))) freed, \(Amounts.bytes(Int64(left))) left on disk\n"
    }
    return JSONText.line { json in
      json.put("freed_bytes", freed)
      json.put("disk_bytes", left)
      json.put("disk_limit", limit)
    }
  }
}
