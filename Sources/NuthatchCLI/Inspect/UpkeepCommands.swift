import NuthatchCore

/// `nuthatch rm`: removes the stored answers of URLs.
enum RemoveCommand: Command {
  static let name = "rm"
  static let summary = "remove the stored answers of URLs"
  static let usage = "[OPTION…] URL…"
  static let options = [InspectionOptions.format, CommonOptions.cache] + .ofLibrary(for: name)
  static let details = """
    The next request for such a URL asks the server. Without options, all answers of the URL are removed, for all
    credentials, partitions and cache keys. With --user, --header, --partition and so on, only the answer for these is
    removed. A picture that another URL also has stays. The output is the number of removed answers. With --format json it
    is an array of objects with url, was_stored and removed, the number of answers.

    Exit status: 0 done; 4 nothing was stored for one of the URLs, the others are removed; 1 the cache can't be opened,
    read or written; 2 wrong usage; 141 standard output was closed.

    Examples:
      nuthatch rm https://example.org/a.jpg

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else { throw UsageError("rm: at least one URL is needed") }
    // Without options all answers of a URL are removed, so the options of config files don't count, either.
    var arguments = arguments
    if !arguments.namesAnswers { arguments.forgetFileOptions() }
    let said = try arguments.said()
    let wantsJSON = try arguments.wantsJSON
    return try arguments.withCache(name) { cache in
      let requests = try arguments.operands.map { try said.request(for: $0, in: cache) }
      // Check all requests before anything is removed.
      for request in requests { _ = try cache.inspect(request) }
      var removed: [(url: String, count: Int)] = []
      for request in requests { removed.append((request.url, try cache.remove(request))) }
      let exit: ExitCode = removed.contains { $0.count == 0 } ? .notFetched : .success
      guard wantsJSON else {
        let count = removed.reduce(0) { $0 + $1.count }
        Terminal.print("removed \(Amounts.grouped(count)) \(count == 1 ? "answer" : "answers")\n")
        for entry in removed where entry.count == 0 {
          Terminal.complain("nuthatch: rm: nothing is stored for \(ShownURL.of(entry.url).printable)\n")
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

/// `nuthatch verify`: checks every record.
enum VerifyCommand: Command {
  static let name = "verify"
  static let summary = "read every record and compare it with its checksum"
  static let usage = "[OPTION…]"
  static let options = [InspectionOptions.format, CommonOptions.cache]
  static let details = """
    A damaged record is removed, so that the next request fetches it again. A record that the index had lost is indexed
    again. Bytes in a pack that are no record, and packs that can't be read, are reported with the name of the file. They do
    no harm, but each verify reports them until the pack is removed: by age, or by trim or clear.

    Other commands and programs check a record only when they first use it after the cache was opened. Bits that change
    later are not noticed until the next check.

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
      "\(Amounts.grouped(report.intact)) records are intact (\(Amounts.bytes(Int64(report.bytes))))"
    ]
    for (count, what) in [
      (report.damaged, "damaged and removed"), (report.gaps, "places in packs are no records"),
      (report.unreadable, "packs can't be read"), (report.recovered, "indexed again"),
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

/// `nuthatch trim`: removes the oldest records until the cache has a given size.
enum TrimCommand: Command {
  static let name = "trim"
  static let summary = "remove the records that were not used for the longest time"
  static let usage = "[OPTION…]"
  static let options = [
    InspectionOptions.format,
    Option(
      "to-bytes", value: "SIZE", "the size on disk to reach (9/10 of the limit)", range: "1 or more",
      old: ["to": nil]),
    CommonOptions.cache,
  ]
  static let details = """
    Originals are removed before thumbnails, and the oldest of each kind first. No more is removed than needed: the cache is
    then as large as SIZE, or smaller by less than one record.

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

/// `nuthatch clear`: removes everything.
enum ClearCommand: Command {
  static let name = "clear"
  static let summary = "remove everything that is stored"
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

/// The bytes that were freed, and the bytes that are left.
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
