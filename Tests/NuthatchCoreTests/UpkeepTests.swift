import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

@Suite("Upkeep") struct UpkeepTests {
  @Test("a shutdown gives every ticket its final event, and takes no more requests")
  func shutdown() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let tickets = try (0..<3).map { try bench.cache.submit(Request(bench.server.url("/a?\($0)"))) }
    bench.cache.shutdown()
    for ticket in tickets { #expect(try ticket.next(within: 0)?.kind == .cancelled) }
    let error = #expect(throws: NuthatchError.self) { try bench.cache.get(bench.server.url("/b")) }
    #expect(error?.code == .closed)
    #expect(try bench.cache.storeStatistics().meta == 0)
    bench.cache.close()
    #expect(throws: NuthatchError.self) { try bench.cache.storeStatistics() }
  }

  @Test("waitUntilIdle returns when nothing is under way")
  func idle() throws {
    let bench = try Bench()
    #expect(try bench.cache.waitUntilIdle(within: 0))
    let gate = bench.server.gate("gate")
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    _ = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(try bench.cache.waitUntilIdle(within: 20) == false)
    gate.open()
    #expect(try bench.cache.waitUntilIdle())
    #expect(bench.cache.activity == 0)
  }

  @Test("watchers are told when the activity turns from and to nothing")
  func activity() throws {
    let bench = try Bench()
    let cache = bench.cache
    func turn(within milliseconds: Int64) throws -> Bool? {
      guard let notice = try cache.nextNotice(within: milliseconds) else { return nil }
      guard case .activity(let isBusy) = notice else { return nil }
      return isBusy
    }
    for _ in 0..<2 { cache.watchActivity() }
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let tickets = try (0..<3).map { try cache.submit(Request(bench.server.url("/a?\($0)"))) }
    #expect(cache.activity == 3)
    #expect(try turn(within: 30_000) == true)
    tickets[0].cancel()
    #expect(try turn(within: 0) == nil)
    bench.server.gate("gate").open()
    for ticket in tickets.dropFirst() { _ = try ticket.result() }
    #expect(try turn(within: 30_000) == false)
    #expect(try turn(within: 0) == nil && cache.activity == 0)
    // Of notices that aren't taken the last two are kept.
    for _ in 0..<5 { _ = try cache.submit(Request(bench.server.url("/a"))).result() }
    #expect(try cache.waitUntilIdle())
    #expect(try turn(within: 30_000) == true && turn(within: 30_000) == false)
    #expect(try turn(within: 0) == nil)
  }

  @Test("clear and trim(to: 0) delete all answers, a relief of memory deletes none")
  func clearing() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    for round in 0..<3 {
      #expect(try bench.get("/a").isInCache == false, "round \(round)")
      #expect(try bench.get("/a").isInCache)
      if round == 0 { try bench.cache.clear() }
      if round == 1 { try bench.cache.trim(to: 0) }
    }
    // Not `Cache.relieveMemory`, which empties the caches of other tests, too.
    try bench.cache.upkeep { (store) throws(StoreFault) in store.relieve(.critical) }
    #expect(try bench.get("/a").isInCache)
    #expect(try bench.cache.storeStatistics().pressure.criticals > 0)
  }
}
