import CSystem
import NuthatchCore

/// `nuthatch outbox`: the requests that wait for the network, and their answers.
enum OutboxCommand: Command {
  static let name = "outbox"
  static let summary = "list, send, collect or drop requests that wait for the network"
  static let usage = "list|replay|collect|drop [ID…] [OPTION…]"
  static let options = [
    InspectionOptions.formats,
    Option(
      "wait", value: "TIME", "with replay: how long to wait for the answers (60s)",
      range: "1 ms or more, or none",
      old: ["deadline": nil]),
    CommonOptions.cache,
  ]
  static let details = """
    list      show all requests in the order of sending, with their state: waiting, sending, paused, done or dead
    replay    send the requests with these IDs, or all, and wait for the answers; also sends dead ones again
    collect   write the body of a request's answer to standard output, and remove the request
    drop      remove the requests with these IDs; they are never sent after this

    'nuthatch get --freezable' and programs put requests into the outbox. Of these commands, only replay sends them; a
    program that has the cache open sends them, too. An answer of 401 or 403 pauses a queue. Then replay tries the request
    again, with the current values of the environment variables, and drop removes it, so that the queue goes on.

    Exit status: 0 done; 4 some requests remain after replay, or there is no request with that ID; 1 the cache can't be
    opened, read or written; 2 wrong usage; 141 standard output was closed.

    Examples:
      nuthatch outbox list
      nuthatch outbox list --format json | python3 -m json.tool
      nuthatch outbox replay
      nuthatch outbox collect 7 > answer.json
      nuthatch outbox drop 7 8

    """

  static func run(_ arguments: ParsedArguments) throws(UsageError) -> ExitCode {
    guard let action = arguments.operands.first else {
      throw UsageError("outbox: list, replay, collect or drop? See 'nuthatch help outbox'.")
    }
    let ids = try arguments.operands.dropFirst().map { (text) throws(UsageError) -> UInt64 in
      guard let id = UInt64(text), id > 0 else {
        throw UsageError("outbox: '\(text)' is not the ID of a request, such as 7")
      }
      return id
    }
    let format = try arguments.format
    let limit = try arguments.last("wait")?.limit(1) ?? .milliseconds(60_000)
    switch (action, ids.isEmpty) {
    case ("list", true): return try arguments.withCache(name) { try list($0, format) }
    case ("replay", _):
      return try arguments.withCache(name, sends: true) { try replay($0, ids, limit, format) }
    case ("drop", false): return try arguments.withCache(name) { try drop($0, ids, format) }
    case ("collect", false) where ids.count == 1:
      return try arguments.withCache(name) { try collect($0, ids[0]) }
    case ("list", false): throw UsageError("outbox: list takes no IDs. See 'nuthatch help outbox'.")
    case ("drop", true), ("collect", _):
      throw UsageError("outbox: \(action) which request? See 'nuthatch outbox list'.")
    default: throw UsageError("outbox: there is no '\(action)'. See 'nuthatch help outbox'.")
    }
  }

  // MARK: list

  private static func list(_ cache: Cache, _ format: InspectionOptions.Format) throws -> ExitCode {
    let items = try cache.outbox.list()
    if format == .text { for item in items { Terminal.print(line(item)) } }
    write(items, format) { json, item in write(item, to: &json) }
    for file in cache.outbox.damage {
      Terminal.complain("nuthatch: outbox: damaged data was moved to \(file)\n")
    }
    return .success
  }

  /// Writes the items as JSON. Writes nothing for `text`.
  private static func write<Item>(
    _ items: [Item], _ format: InspectionOptions.Format, _ members: (inout JSONText, Item) -> Void
  ) {
    var json = JSONText()
    switch format {
    case .text: return
    case .json:
      json.objects(nil, items, members)
      json.endLine()
    case .jsonl:
      for item in items {
        json.object { members(&$0, item) }
        json.endLine()
      }
    }
    Terminal.print(json.text)
  }

  private static func line(_ item: Outbox.Item) -> String {
    var parts = ["\(item.id)", word(item.state), item.method, item.url, "\(item.bodyBytes) bytes"]
    if let wait = item.wait, wait > 0 { parts.append("again in \(wait) s") }
    if item.status > 0, item.state == .done { parts.append("HTTP \(item.status)") }
    if let reason = item.reason { parts.append("(\(reason))") }
    return parts.joined(separator: "  ") + "\n"
  }

  private static func write(_ item: Outbox.Item, to json: inout JSONText) {
    json.put("id", Int(clamping: item.id))
    json.put("state", word(item.state))
    json.put("method", item.method)
    json.put("url", item.url)
    json.put("queue", item.queue)
    if let handler = item.handler { json.put("handler", handler) }
    if let tag = item.tag { json.put("tag", tag) }
    if let key = item.key { json.put("key", key) }
    json.put("bytes", Int(clamping: item.bodyBytes))
    json.put("frozen_at", Int(clamping: item.frozenAt))
    json.put("attempts", item.attempts)
    if item.status > 0 { json.put("status", item.status) }
    if let wait = item.wait { json.put("wait", Int(clamping: wait)) }
    if let reason = item.reason { json.put("reason", reason) }
    if let code = item.code { json.put("error", code.word) }
    json.objects("history", item.history) { json, attempt in
      json.put("time", Int(clamping: attempt.time))
      if attempt.status > 0 { json.put("status", attempt.status) }
      if let code = attempt.code { json.put("error", code.word) }
      json.put("reason", attempt.reason)
    }
  }

  private static func word(_ state: Outbox.State) -> String {
    switch state {
    case .waiting: "waiting"
    case .sending: "sending"
    case .paused: "paused"
    case .done: "done"
    case .dead: "dead"
    }
  }

  // MARK: replay, collect, drop

  private static func replay(
    _ cache: Cache, _ ids: [UInt64], _ limit: Request.Limit, _ format: InspectionOptions.Format
  ) throws -> ExitCode {
    let outbox = cache.outbox
    // `replay` returns false for a request that is done. Such a request isn't missing.
    let missing = try ids.filter { id in
      try !outbox.replay(id) && outbox.item(id) == nil
    }
    for id in missing { complain(id) }
    if ids.isEmpty { try outbox.replayAll() }
    Interruption.watch()
    let end = limit.nanoseconds.map { nhs_monotonic_ns() + $0 } ?? .max
    while true {
      let all = try outbox.list()
      let left = all.filter { ids.isEmpty || ids.contains($0.id) }
      // Don't wait for a dead request. If the first request of a queue needs new credentials, the whole queue is stuck: don't
      // wait for it either.
      let next = all.filter { $0.state != .done && $0.state != .dead }
      let heads = Dictionary(next.map { ($0.queue, $0) }) { first, _ in first }
      let stuck = heads.filter { _, head in
        head.state == .paused || (head.state == .waiting && head.code == .secretNeedsProvider)
      }
      let isOver = left.allSatisfy { $0.state == .done || $0.state == .dead || stuck[$0.queue] != nil }
      if isOver || nhs_monotonic_ns() >= end || Interruption.signal != nil {
        write(left, format) { json, item in write(item, to: &json) }
        for item in left where item.state != .done { Terminal.complain("nuthatch: outbox: \(line(item))") }
        if let code = Interruption.exitCode { return code }
        return !missing.isEmpty || left.contains { $0.state != .done } ? .notFetched : .success
      }
      // Used as a pause of 50 ms: the notices are for handlers, and this program has none.
      _ = try cache.nextNotice(within: 50)
    }
  }

  private static func collect(_ cache: Cache, _ id: UInt64) throws -> ExitCode {
    guard let outcome = try cache.outbox.outcome(id) else {
      let isThere = try cache.outbox.item(id) != nil
      if isThere {
        Terminal.complain("nuthatch: outbox: request \(id) has no answer yet\n")
      } else {
        complain(id)
      }
      return .notFetched
    }
    if let code = outcome.body.withUnsafeBytes({ Terminal.write($0) }) { return code }
    guard outcome.isDone else {
      Terminal.complain("nuthatch: outbox: request \(id) is dead: \(outcome.reason ?? "")\n")
      return .notFetched
    }
    if outcome.isCut {
      Terminal.complain("nuthatch: outbox: request \(id): the answer was cut off after 1 MiB\n")
    }
    // Drop it only after writing: if the program is killed before, the answer is still there.
    try cache.outbox.drop(id)
    return .success
  }

  private static func drop(
    _ cache: Cache, _ ids: [UInt64], _ format: InspectionOptions.Format
  ) throws -> ExitCode {
    var dropped: [(id: UInt64, wasThere: Bool)] = []
    for id in ids { dropped.append((id, try cache.outbox.drop(id))) }
    write(dropped, format) { json, one in
      json.put("id", Int(clamping: one.id))
      json.put("was_there", one.wasThere)
    }
    let missing = dropped.filter { !$0.wasThere }
    for one in missing { complain(one.id) }
    return missing.isEmpty ? .success : .notFetched
  }

  private static func complain(_ id: UInt64) {
    Terminal.complain("nuthatch: outbox: there is no request \(id)\n")
  }
}
