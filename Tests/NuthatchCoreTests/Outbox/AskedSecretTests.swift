import Foundation
import TestServer
import Testing

@testable import NuthatchCore

/// What a program is asked for while a request that may be frozen is under way, and what of that is left when it is sent later.
@Suite("Answered questions of frozen requests", .serialized) struct AskedSecretTests {
  let bench: OutboxBench
  private static let basic = "Basic YW5uOmh1c2g="

  init() throws { bench = try OutboxBench() }

  /// A request that is written first, and asks; its second attempt is under way when the cache is closed.
  private func interrupt(
    _ asks: Question.Kind, _ reply: Reply, _ change: @escaping (inout Request) -> Void = { _ in }
  ) throws {
    try bench.server.goUp()
    bench.server.on("/a") { request in
      request.headers["Authorization"] == nil && request.headers["X-Step"] == nil
        ? .status(401) : Script(steps: [.wait("g")])
    }
    let ticket = try #require(bench.cache).submit(
      bench.request("/a") {
        $0.asks = [asks]
        $0.freezing?.isDurable = true
        change(&$0)
      })
    let ended = Collected<Event.Kind?>()
    let waiter = Thread { ended.add((try? ticket.final(within: 60_000) { _ in reply })?.kind) }
    waiter.start()
    #expect(bench.server.waitForRequests(2, path: "/a"))
    bench.close()
    while ended.values.isEmpty { usleep(1000) }
    #expect(ended.values == [.failed])
    #expect(try !contains("hush", in: bench.folder))
    bench.server.gate("g").open()
    bench.server.on("/a") { request in
      request.headers["Authorization"] == nil && request.headers["X-Step"] == nil ? .status(401) : .ok("in")
    }
    try bench.open()
  }

  private func expectWanted(_ provider: String) throws {
    guard case .secretWanted(let wanted) = try bench.cache?.nextNotice(within: 20_000) else {
      Issue.record("nobody was asked")
      return
    }
    #expect(wanted == provider)
  }

  @Test(
    "name and password are asked for again, by the provider's name, before it is sent",
    arguments: [nil, "shop"])
  func killedAfterAnswer(_ provider: String?) throws {
    try interrupt(.credentials, .credentials(name: "ann", password: "hush")) {
      $0.freezing?.passwordProvider = provider
    }
    let wanted = provider ?? String(bench.url("").prefix { $0 != " " })
    try expectWanted(wanted)
    usleep(100_000)
    let item = try #require(try bench.list().first)
    #expect(item.state == .waiting && item.code == .secretNeedsProvider)
    #expect(item.reason == "nobody here has provided: \(wanted)")
    // Not without them.
    #expect(bench.server.count("/a") == 2)
    try bench.cache?.outbox.provide(wanted, "ann:hush")
    #expect(try bench.waitUntilEnded(item.id).body == Array("in".utf8))
    let sent = bench.server.requests("/a")
    #expect(sent.map { $0.headers["Authorization"] } == [nil, Self.basic, Self.basic])
    #expect(Set(sent.map { $0.headers["Idempotency-Key"] }).count == 1)
    #expect(Set(sent.map(\.body)) == [Array("seeds".utf8)])
    #expect(try !contains("hush", in: bench.folder))
  }

  @Test("header fields that a challenge was answered with are sent again")
  func challenged() throws {
    try interrupt(.challenge, .headers([("X-Step", "2")]))
    let id = try #require(try bench.list().first?.id)
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").map { $0.headers["X-Step"] } == [nil, "2", "2"])
  }

  @Test("a wrong answer of the provider pauses the queue, and another one is asked for")
  func wrong() throws {
    try interrupt(.credentials, .credentials(name: "ann", password: "hush"))
    let wanted = bench.url("")
    bench.server.on("/a") { $0.headers["Authorization"] == Self.basic ? .ok("") : .status(401) }
    try expectWanted(wanted)
    try bench.cache?.outbox.provide(wanted, "ann:old")
    try bench.wait { $0.first?.state == .paused }
    try expectWanted(wanted)
    try bench.cache?.outbox.provide(wanted, "ann:hush")
    try bench.wait { $0.first?.state == .done }
  }

  @Test(
    "what was kept before anybody asked is sent without; when the server asks then, the program is",
    arguments: [false, true])
  func neverAsked(_ restarts: Bool) throws {
    let id = try bench.freeze("/a") { $0.asks = [.credentials] }
    #expect(try bench.list().first?.code != .secretNeedsProvider)
    bench.server.on("/a") {
      $0.headers["Authorization"] == Self.basic
        ? .ok("") : .status(401).with("WWW-Authenticate", "Basic realm=\"x\"")
    }
    try bench.server.goUp()
    try bench.wait { $0.first?.state == .paused }
    #expect(try bench.list().first?.status == 401)
    if restarts {
      bench.close()
      try bench.open()
    }
    try expectWanted(bench.url(""))
    // Said without having it: it isn't sent in vain once more.
    try bench.cache?.outbox.replay(id)
    usleep(100_000)
    #expect(try bench.list().first?.code == .secretNeedsProvider)
    #expect(bench.server.count("/a") == 1)
    try bench.cache?.outbox.provide(bench.url(""), "ann:hush")
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(try !contains("hush", in: bench.folder))
  }

  @Test("a server that doesn't ask gets none")
  func notNeeded() throws {
    let id = try bench.freeze("/a") { $0.asks = [.credentials] }
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").map { $0.headers["Authorization"] } == [nil])
  }

  @Test(
    "an answered one needs no provider while its server is there, and goes to the outbox when that goes away",
    arguments: [false, true], [false, true])
  func live(_ isDurable: Bool, _ breaks: Bool) throws {
    try bench.server.goUp()
    bench.server.on("/a") { request in
      if request.headers["Authorization"] == nil { return .status(401) }
      return breaks ? Script(steps: [.reset], sendsHead: false) : .ok("welcome")
    }
    let ticket = try #require(bench.cache).submit(
      bench.request("/a") {
        $0.asks = [.credentials]
        $0.freezing?.isDurable = isDurable
      })
    let event = try ticket.final(within: 20_000) { _ in .credentials(name: "ann", password: "hush") }
    #expect(event?.kind == (breaks ? .frozen : .fresh))
    guard breaks else { return try bench.wait { $0.isEmpty } }
    let count = bench.server.count("/a")
    usleep(200_000)
    #expect(bench.server.count("/a") == count)
    let item = try #require(try bench.list().first)
    #expect(item.id == event?.error?.outboxID && item.code == .secretNeedsProvider)
    bench.server.on("/a") { $0.headers["Authorization"] == Self.basic ? .ok("") : .status(401) }
    try bench.cache?.outbox.provide(bench.url(""), "ann:hush")
    #expect(try bench.waitUntilEnded(item.id).isDone)
    #expect(bench.server.requests("/a").last?.headers["Authorization"] == Self.basic)
  }
}
