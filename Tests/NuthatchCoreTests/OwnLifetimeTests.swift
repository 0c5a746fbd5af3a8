import TestServer
import Testing

@testable import NuthatchCore

@Suite("expireAfter, a lifetime that the caller sets") struct OwnLifetimeTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
  }

  private func serve(_ path: String, _ fields: [(String, String)]) {
    var script = Script(headers: ["ETag": "\"1\""], steps: [.text("x")], answersConditions: true)
    for (name, value) in fields { script = script.with(name, value) }
    bench.server.on(path, script)
  }

  private func source(_ path: String, _ lifetime: Duration?, _ policy: Policy = .kit) throws
    -> Response.Source
  {
    try bench.get(path) { ($0.expireAfter, $0.policy, $0.delivery) = (lifetime, policy, .fresh) }.source
  }

  @Test(
    "expireAfter replaces the lifetime of the headers for the request that sets it",
    arguments: [Policy.kit, .rfc9111],
    [
      [], [("Cache-Control", "max-age=60")], [("Cache-Control", "no-cache")],
      [("Cache-Control", "max-age=60, must-revalidate")], [("Expires", "0")],
      [("Cache-Control", "max-age=60"), ("Age", "50")],
    ] as [[(String, String)]])
  func replaces(policy: Policy, fields: [(String, String)]) throws {
    serve("/a", fields)
    #expect(try source("/a", .seconds(600), policy) == .network)
    #expect(try source("/a", .seconds(600), policy) != .network)
    clock.advance(seconds: 599)
    #expect(
      try source("/a", .seconds(600), policy) != .network
        && source("/a", .seconds(600), policy) != .revalidated)
    #expect(bench.server.count("/a") == 1)
    #expect(try source("/a", .seconds(599), policy) == .revalidated)
    // From the server's word on it is counted anew, and zero is expired at once.
    #expect(try source("/a", .seconds(599), policy) != .revalidated)
    #expect(try source("/a", .zero, policy) == .revalidated)
    clock.advance(seconds: 100_000_000)
    #expect(try source("/a", .seconds(Int64.max / 2), policy) != .revalidated)
    #expect(bench.server.count("/a") == 3)
    // Nothing of it was kept.
    #expect(try source("/a", nil, policy) == .revalidated)
  }

  @Test("expireAfter stores no answer that isn't storable without it")
  func stored() throws {
    serve("/never", [("Cache-Control", "no-store")])
    bench.server.on("/missing", .status(404, body: "gone"))
    for path in ["/never", "/missing"] {
      for _ in 0..<2 { #expect(try source(path, .seconds(600)) == .network) }
    }
  }

  @Test("expireAfter leaves stale-while-revalidate, must-revalidate and the request's no-cache in force")
  func stale() throws {
    serve("/a", [("Cache-Control", "max-age=600, stale-while-revalidate=100")])
    serve("/b", [("Cache-Control", "max-age=600, must-revalidate")])
    for path in ["/a", "/b"] { _ = try source(path, nil) }
    clock.advance(seconds: 20)
    #expect(try bench.get("/a") { ($0.expireAfter, $0.delivery) = (.seconds(10), .first) }.isStale)
    #expect(
      try bench.get("/b") { ($0.expireAfter, $0.delivery) = (.seconds(10), .first) }.source == .revalidated)
    #expect(try source("/b", .seconds(0), .offline) != .revalidated)
    let asked = try bench.get("/b") {
      ($0.expireAfter, $0.headers) = (.seconds(600), [("Cache-Control", "no-cache")])
    }
    #expect(asked.source == .revalidated)
  }

  @Test("expireAfter counts for peeks and inspections, and that of a cache for all its requests")
  func everywhere() throws {
    serve("/a", [("Cache-Control", "max-age=600")])
    _ = try source("/a", nil)
    clock.advance(seconds: 20)
    var request = Request(bench.server.url("/a"))
    request.expireAfter = .seconds(10)
    #expect(try bench.cache.peekResponse(bench.server.url("/a")) != nil)
    let info = try #require(try bench.cache.inspect(request))
    #expect(info.rule == "expire-after" && info.lifetime == 10 && info.prospect == .revalidate)
    var options = TestOptions()
    options.clock = clock.wall
    options.expireAfter = .seconds(10)
    let other = try Cache(path: bench.folder, options: options)
    defer { other.close() }
    #expect(try other.peekResponse(bench.server.url("/a")) == nil)
    #expect(try bench.cache.peekResponse(bench.server.url("/a")) != nil)
  }
}
