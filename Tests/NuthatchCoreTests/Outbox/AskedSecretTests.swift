import Foundation
import TestServer
import Testing

@testable import NuthatchCore

/// Questions to a program about a freezable request, and what the outbox keeps of the answers.
@Suite("Answered questions of frozen requests", .serialized) struct AskedSecretTests {
  let bench: OutboxBench
  private static let basic = "Basic YW5uOmh1c2g="
  private static let unauthorized = Script.status(401).with("WWW-Authenticate", "Basic realm=\"x\"")

  init() throws { bench = try OutboxBench() }

  /// A request that is written first, and asks; its second attempt is under way when the cache is closed.
  private func interrupt(
    _ asks: Question.Kind, _ reply: Reply, _ change: @escaping (inout Request) -> Void = { _ in }
  ) throws {
    try bench.server.goUp()
    bench.server.on("/a") { request in
      request.headers["Authorization"] == nil && request.headers["X-Step"] == nil
        ? Self.unauthorized : Script(steps: [.wait("g")])
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
      request.headers["Authorization"] == nil && request.headers["X-Step"] == nil
        ? Self.unauthorized : .ok("in")
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
    "a freezable request that asks for credentials must name a password provider", arguments: [false, true])
  func needsProvider(_ isDurable: Bool) throws {
    let request = bench.request("/a") {
      $0.asks = [.credentials]
      $0.freezing?.isDurable = isDurable
    }
    let cache = try #require(bench.cache)
    let error = #expect(throws: NuthatchError.self) { try cache.submit(request).final(within: 20_000) }
    #expect(error?.code == .invalid && error?.message.contains("needs a password provider") == true)
    #expect(try bench.list().isEmpty)
  }

  @Test("a frozen request's name and password are asked of its provider again before it is sent")
  func killedAfterAnswer() throws {
    try interrupt(.credentials, .credentials(name: "ann", password: "hush")) {
      $0.freezing?.passwordProvider = "shop"
    }
    try expectWanted("shop")
    try bench.settle()
    let item = try #require(try bench.list().first)
    #expect(item.state == .waiting && item.code == .secretNeedsProvider)
    #expect(item.reason == "this process has no secret of the provider: shop")
    // The request isn't sent without them.
    #expect(bench.server.count("/a") == 2)
    try bench.cache?.outbox.provide("shop", "ann:hush")
    #expect(try bench.waitUntilEnded(item.id).body == Array("in".utf8))
    let sent = bench.server.requests("/a")
    #expect(sent.map { $0.headers["Authorization"] } == [nil, Self.basic, nil, Self.basic])
    #expect(Set(sent.map { $0.headers["Idempotency-Key"] }).count == 1)
    #expect(Set(sent.map(\.body)) == [Array("seeds".utf8)])
    #expect(try !contains("hush", in: bench.folder))
  }

  @Test("header fields that answered a challenge are not sent again by the outbox")
  func challenged() throws {
    try interrupt(.challenge, .headers([("X-Step", "2")]))
    try bench.wait { $0.first?.state == .paused }
    #expect(try bench.list().first?.status == 401)
    #expect(bench.server.requests("/a").map { $0.headers["X-Step"] } == [nil, "2", nil])
  }

  @Test("a provider's wrong answer pauses the queue, and the provider is asked again")
  func wrong() throws {
    try interrupt(.credentials, .credentials(name: "ann", password: "hush")) {
      $0.freezing?.passwordProvider = "shop"
    }
    bench.server.on("/a") { $0.headers["Authorization"] == Self.basic ? .ok("") : Self.unauthorized }
    try expectWanted("shop")
    try bench.cache?.outbox.provide("shop", "ann:old")
    try bench.wait { $0.first?.state == .paused }
    try expectWanted("shop")
    try bench.cache?.outbox.provide("shop", "ann:hush")
    try bench.wait { $0.first?.state == .done }
  }

  @Test(
    "a request that was frozen before its server could ask waits for its provider", arguments: [false, true])
  func neverAsked(_ restarts: Bool) throws {
    let id = try freezeAsking()
    bench.server.on("/a") { $0.headers["Authorization"] == Self.basic ? .ok("") : Self.unauthorized }
    try bench.server.goUp()
    if restarts {
      bench.close()
      try bench.open()
    }
    try expectWanted("shop")
    // A replay doesn't send it without them.
    try bench.cache?.outbox.replay(id)
    try bench.settle()
    #expect(try bench.list().first?.code == .secretNeedsProvider)
    #expect(bench.server.count("/a") == 0)
    try bench.cache?.outbox.provide("shop", "ann:hush")
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(try !contains("hush", in: bench.folder))
  }

  private func freezeAsking() throws -> UInt64 {
    try bench.freeze("/a") {
      $0.asks = [.credentials]
      $0.freezing?.passwordProvider = "shop"
    }
  }

  @Test("a frozen request is sent without a password if its server doesn't ask for one")
  func notNeeded() throws {
    let id = try freezeAsking()
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    try bench.cache?.outbox.provide("shop", "ann:hush")
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").map { $0.headers["Authorization"] } == [nil])
  }

  @Test(
    "an answered request doesn't need its provider until its server goes away",
    arguments: [false, true], [false, true])
  func live(_ isDurable: Bool, _ breaks: Bool) throws {
    try bench.server.goUp()
    bench.server.on("/a") { request in
      if request.headers["Authorization"] == nil { return Self.unauthorized }
      return breaks ? Script(steps: [.reset], sendsHead: false) : .ok("welcome")
    }
    let ticket = try #require(bench.cache).submit(
      bench.request("/a") {
        $0.asks = [.credentials]
        $0.freezing?.isDurable = isDurable
        $0.freezing?.passwordProvider = "shop"
      })
    let event = try ticket.final(within: 20_000) { _ in .credentials(name: "ann", password: "hush") }
    #expect(event?.kind == (breaks ? .frozen : .fresh))
    guard breaks else { return try bench.wait { $0.isEmpty } }
    let count = bench.server.count("/a")
    try bench.settle()
    #expect(bench.server.count("/a") == count)
    let item = try #require(try bench.list().first)
    #expect(item.id == event?.error?.outboxID && item.code == .secretNeedsProvider)
    bench.server.on("/a") { $0.headers["Authorization"] == Self.basic ? .ok("") : Self.unauthorized }
    try bench.cache?.outbox.provide("shop", "ann:hush")
    #expect(try bench.waitUntilEnded(item.id).isDone)
    #expect(bench.server.requests("/a").last?.headers["Authorization"] == Self.basic)
  }
}
