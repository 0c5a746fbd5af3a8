import NuthatchCore
import TestServer
import Testing

/// A removed answer doesn't come back.
@Suite("Removed answers") struct RemovalTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
  }

  private static let fresh = ["Cache-Control": "max-age=3600"] as HeaderLines

  @Test("an answer that is removed during its fetch isn't stored by that fetch, and no request joins it")
  func duringFetch() throws {
    let old = Script(headers: Self.fresh, steps: [.text("o"), .wait("old"), .text("ld")])
    bench.server.on("/a", sequence: [old, .ok("new").with("Cache-Control", "max-age=3600")])
    let first = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("old").waitUntilReached(1))
    try bench.cache.remove(bench.server.url("/a"))
    let second = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(try second.result().text == "new")
    bench.server.gate("old").open()
    // The earlier request gets the answer that was on its way, later ones don't.
    #expect(try first.result().text == "old")
    let stored = try bench.get("/a")
    #expect(stored.text == "new" && stored.isInCache)
    #expect(bench.server.count("/a") == 2)
  }

  @Test("a POST during a fetch keeps that fetch's answer from being stored")
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

  @Test("removing a URL removes all its varying answers for good")
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
