import NuthatchCore

/// `nuthatch rm`: forgets URLs.
enum RemoveCommand: Command {
  static let name = "rm"
  static let summary = "forget what is stored of URLs"
  static let usage = "[OPTION…] URL…"
  static let options = [FetchOptions.cache] + InspectionOptions.names
  static let details = """
    The next request for such a URL asks the server. A picture that another URL has in common stays.

    \(InspectionOptions.exits)

    Examples:
      nuthatch rm https://example.org/a.jpg

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard !arguments.operands.isEmpty else { throw UsageError("rm: at least one URL is needed") }
    var requests: [Request] = []
    for url in arguments.operands { requests.append(try arguments.namedRequest(url)) }
    return try arguments.withCache(name) { cache in
      for request in requests { try cache.remove(request) }
      return .success
    }
  }
}

/// `nuthatch verify`: reads everything.
enum VerifyCommand: Command {
  static let name = "verify"
  static let summary = "read everything that is stored and compare it with its checksums"
  static let usage = "[OPTION…]"
  static let options = [InspectionOptions.format, FetchOptions.cache]
  static let details = """
    What is damaged is taken out; what the index had lost is found again.

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
    return parts.joined(separator: "; ") + "\n"
  }

  private static func json(_ report: VerifyReport) -> String {
    var json = JSONText()
    json.object { json in
      json.put("intact", report.intact)
      json.put("bytes", report.bytes)
      json.put("damaged", report.damaged)
      json.put("gaps", report.gaps)
      json.put("unreadable", report.unreadable)
      json.put("recovered", report.recovered)
    }
    json.endLine()
    return json.text
  }
}

/// `nuthatch trim`: makes room.
enum TrimCommand: Command {
  static let name = "trim"
  static let summary = "drop what was not used for longest"
  static let usage = "[OPTION…]"
  static let options = [
    Option("to", value: "N", "bytes that may be left on disk; N may end in K, M or G (9/10 of the limit)"),
    FetchOptions.cache,
  ]
  static let details = """
    \(InspectionOptions.exits)

    Examples:
      nuthatch trim --to 500M

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    let wanted = try arguments.bytes("to")
    return try arguments.withCache(name) { cache in
      let limit = try cache.storeStatistics().diskLimit
      try cache.trim(to: wanted.map { Int($0) } ?? limit / 10 * 9)
      Terminal.print("\(Amounts.bytes(Int64(try cache.storeStatistics().diskBytes))) are left on disk\n")
      return .success
    }
  }
}

/// `nuthatch clear`: forgets everything.
enum ClearCommand: Command {
  static let name = "clear"
  static let summary = "forget everything that is stored"
  static let usage = "[OPTION…]"
  static let options = [FetchOptions.cache]
  static let details = """
    \(InspectionOptions.exits)

    Examples:
      nuthatch clear --cache thumbs.cache

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    try arguments.noOperands(name)
    return try arguments.withCache(name) { cache in
      try cache.clear()
      return .success
    }
  }
}
