import CSystem
import NuthatchCore

/// `nuthatch outbox`: the requests that wait for the network, and what came of them.
enum OutboxCommand: Command {
  static let name = "outbox"
  static let summary = "list, send, collect or drop requests that wait for the network"
  static let usage = "list|replay|collect|drop [ID…] [OPTION…]"
  static let options = [
    InspectionOptions.format,
    Option("deadline", value: "SECONDS", "with replay: how long to wait for the answers (60)"),
    FetchOptions.cache,
  ]
  static let details = """
    list      what there is, in the order in which it will be sent
    replay    send the requests named, or all, and wait for their answers: those put aside, too
    collect   write the body of a request's answer to standard output, and forget the request
    drop      forget the requests named: they are never sent after this

    Requests come into the outbox by 'nuthatch get --freezable' or from programs. Only replay sends any.

    Exit status: 0 done; 4 something remains after replay, or there is nothing of that number; 1 the cache can't be
    opened, read or written; 2 wrong usage; 141 standard output was closed.

    Examples:
      nuthatch outbox list
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
        throw UsageError("outbox: '\(text)' is not the number of a request")
      }
      return id
    }
    let isJSON = try arguments.wantsJSON
    let limit = try arguments.limit("deadline") ?? .milliseconds(60_000)
    switch (action, ids.isEmpty) {
    case ("list", true): return try arguments.withCache(name) { try list($0, isJSON) }
    case ("replay", _): return try arguments.withCache(name, sends: true) { try replay($0, ids, limit) }
    case ("drop", false): return try arguments.withCache(name) { try drop($0, ids) }
    case ("collect", false) where ids.count == 1:
      return try arguments.withCache(name) { try collect($0, ids[0]) }
    case ("list", false): throw UsageError("outbox: list takes no numbers. See 'nuthatch help outbox'.")
    case ("drop", true), ("collect", _):
      throw UsageError("outbox: \(action) which request? See 'nuthatch outbox list'.")
    default: throw UsageError("outbox: there is no '\(action)'. See 'nuthatch help outbox'.")
    }
  }

  // MARK: list

  private static func list(_ cache: Cache, _ isJSON: Bool) throws -> ExitCode {
    for item in try cache.outbox.list() { Terminal.print(isJSON ? json(item) : line(item)) }
    for file in cache.outbox.damage {
      Terminal.complain("nuthatch: outbox: damage was set aside in \(file)\n")
    }
    return .success
  }

  private static func line(_ item: Outbox.Item) -> String {
    var parts = ["\(item.id)", word(item.state), item.method, item.url, "\(item.bodyBytes) bytes"]
    if let wait = item.wait, wait > 0 { parts.append("again in \(wait) s") }
    if item.status > 0, item.state == .done { parts.append("HTTP \(item.status)") }
    if let reason = item.reason { parts.append("(\(reason))") }
    return parts.joined(separator: "  ") + "\n"
  }

  private static func json(_ item: Outbox.Item) -> String {
    var json = JSONText()
    json.object { json in
      json.put("id", Int(clamping: item.id))
      json.put("state", word(item.state))
      json.put("method", item.method)
      json.put("url", item.url)
      json.put("queue", item.queue)
      if let handler = item.handler { json.put("handler", handler) }
      if let key = item.key { json.put("key", key) }
      json.put("bytes", Int(clamping: item.bodyBytes))
      json.put("frozen_at", Int(clamping: item.frozenAt))
      json.put("attempts", item.attempts)
      if item.status > 0 { json.put("status", item.status) }
      if let wait = item.wait { json.put("wait", Int(clamping: wait)) }
      if let reason = item.reason { json.put("reason", reason) }
    }
    json.endLine()
    return json.text
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

  private static func replay(_ cache: Cache, _ ids: [UInt64], _ limit: Request.Limit) throws -> ExitCode {
    let outbox = cache.outbox
    for id in ids where !(try outbox.replay(id)) { return complain(id) }
    if ids.isEmpty { try outbox.replayAll() }
    Interruption.watch()
    let end: Int64 =
      if case .milliseconds(let count) = limit { nhs_monotonic_ns() + count * 1_000_000 } else { .max }
    while true {
      let left = try outbox.list().filter { ids.isEmpty || ids.contains($0.id) }
      // One that was put aside again, or needs somebody, is through; those behind it may not be.
      let isOver = left.allSatisfy { $0.state == .done || $0.state == .dead || $0.state == .paused }
      if isOver || nhs_monotonic_ns() >= end || Interruption.signal != nil {
        for item in left where item.state != .done { Terminal.complain("nuthatch: outbox: \(line(item))") }
        if let code = Interruption.exitCode { return code }
        return left.contains { $0.state != .done } ? .notFetched : .success
      }
      // Its notices are for handlers, of whom there are none; a look costs next to nothing.
      _ = try cache.nextNotice(within: 50)
    }
  }

  private static func collect(_ cache: Cache, _ id: UInt64) throws -> ExitCode {
    guard let outcome = try cache.outbox.outcome(id) else { return complain(id) }
    if let code = outcome.body.withUnsafeBytes({ Terminal.write($0) }) { return code }
    guard outcome.isDone else {
      Terminal.complain("nuthatch: outbox: \(id) was put aside: \(outcome.reason ?? "")\n")
      return .notFetched
    }
    // Only now: whoever was killed while writing finds it again.
    try cache.outbox.drop(id)
    return .success
  }

  private static func drop(_ cache: Cache, _ ids: [UInt64]) throws -> ExitCode {
    for id in ids where !(try cache.outbox.drop(id)) { return complain(id) }
    return .success
  }

  private static func complain(_ id: UInt64) -> ExitCode {
    Terminal.complain("nuthatch: outbox: there is nothing of number \(id), or it hasn't ended\n")
    return .notFetched
  }
}
