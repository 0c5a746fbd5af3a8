import NuthatchCore
import TestServer
import Testing

/// Answers that stay in memory until it is short (`spill=pressure`).
@Suite("Answers in memory only") struct SpillTests {
  @Test("a flush while a request waits to revalidate an answer doesn't count as a new answer")
  func written() throws {
    let clock = TestClock()
    let bench = try Bench {
      $0.clock = clock.wall
      $0.spill = .pressure
    }
    bench.server.on(
      "/a",
      sequence: [
        Script.ok("old").with("Cache-Control", "max-age=60").withValidators(etag: "\"1\""),
        Script.ok("new").with("Cache-Control", "max-age=60").withValidators(etag: "\"2\""),
      ])
    #expect(try bench.get("/a").text == "old")
    clock.advance(seconds: 100)
    // Every place of the host is taken, so that the question waits.
    bench.server.on("/busy", Script.ok("x").after(.wait("busy")))
    let busy = try (0..<6).map { number in
      var request = Request(bench.server.url("/busy"))
      request.partition = "\(number)"
      return try bench.cache.submit(request)
    }
    #expect(bench.server.gate("busy").waitUntilReached(6))
    var request = Request(bench.server.url("/a"))
    request.delivery = .fresh
    let ticket = try bench.cache.submit(request)
    try bench.cache.flush()
    bench.server.gate("busy").open()
    #expect(try ticket.result().text == "new")
    for other in busy { _ = try other.result() }
  }

  @Test("with spill=pressure an answer is on disk after a flush, not before")
  func flushed() throws {
    let bench = try Bench { $0.spill = .pressure }
    bench.server.on("/a", .ok("kept for later").with("Cache-Control", "max-age=60"))
    _ = try bench.get("/a")
    #expect(try !contains("kept for later", in: bench.folder))
    try bench.cache.flush()
    #expect(try contains("kept for later", in: bench.folder))
    #expect(try bench.get("/a").isInCache)
  }
}
