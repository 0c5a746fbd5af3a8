import NuthatchCore
import TestServer
import Testing

/// What has been taken out stays out.
@Suite("What was removed") struct RemovalTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
  }

  private static let fresh = ["Cache-Control": "max-age=3600"] as HeaderLines

  @Test("while it was being fetched is not stored by that fetch, nor joined to it")
  func duringFetch() throws {
    let old = Script(headers: Self.fresh, steps: [.text("o"), .wait("old"), .text("ld")])
    bench.server.on("/a", sequence: [old, .ok("new").with("Cache-Control", "max-age=3600")])
    let first = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("old").waitUntilReached(1))
    try bench.cache.remove(bench.server.url("/a"))
    let second = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(try second.result().text == "new")
    bench.server.gate("old").open()
    // Whoever asked before gets what was on its way; nobody after.
    #expect(try first.result().text == "old")
    let stored = try bench.get("/a")
    #expect(stored.text == "new" && stored.isInCache)
    #expect(bench.server.count("/a") == 2)
  }

  @Test("by a request that changes things, too")
  func duringFetchByPost() throws {
    let old = Script(headers: Self.fresh, steps: [.text("o"), .wait("old"), .text("ld")])
    bench.server.on("/a", sequence: [old, .ok("done"), .ok("new").with("Cache-Control", "max-age=3600")])
    let first = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("old").waitUntilReached(1))
    #expect(try bench.get("/a") { $0.method = "POST" }.text == "done")
    bench.server.gate("old").open()
    #expect(try first.result().text == "old")
    #expect(try bench.get("/a").text == "new")
  }

  @Test("doesn't come back with another answer that varies")
  func variants() throws {
    func answer(_ text: String) -> Script {
      Script(headers: ["Cache-Control": "max-age=3600", "Vary": "X"], steps: [.text(text)])
    }
    bench.server.on("/a", sequence: [answer("one"), answer("two"), answer("one again"), answer("two again")])
    func get(_ value: String) throws -> Response {
      try bench.get("/a") { $0.headers = [("X", value)] }
    }
    #expect(try get("1").text == "one")
    #expect(try get("2").text == "two")
    #expect(try get("1").isInCache && get("2").isInCache)
    try bench.cache.remove(bench.server.url("/a"))
    #expect(try get("1").text == "one again")
    #expect(try get("2").text == "two again")
    #expect(bench.server.count("/a") == 4)
  }
}
