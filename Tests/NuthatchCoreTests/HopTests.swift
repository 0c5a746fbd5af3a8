import Glibc
import NuthatchHTTP
import TestServer
import Testing

@testable import NuthatchCore

/// Under RFC 9111 each redirect is stored and asked about by its own rules.
@Suite("Stored redirects under RFC 9111") struct HopTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench {
      $0.clock = clock.wall
      $0.policy = .rfc9111
    }
    bench.server.on(
      "/b",
      Script(
        headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""], steps: [.text("b")],
        answersConditions: true))
  }

  private func hop(_ path: String, to target: String, _ control: String?, status: Int = 302) {
    var script = Script.redirect(to: target, status: status)
    if let control { script = script.with("Cache-Control", control) }
    bench.server.on(path, script)
  }

  private func get(_ path: String) throws -> Response { try bench.get(path) { $0.delivery = .fresh } }

  @Test("a stored redirect and its target are each fresh for their own lifetimes")
  func lifetimes() throws {
    hop("/hop", to: "/b", "max-age=600")
    let first = try get("/hop")
    #expect(first.text == "b" && first.redirects == 1 && !first.isInCache)
    #expect(first.finalURL == bench.server.url("/b") && first.url == bench.server.url("/hop"))
    let second = try get("/hop")
    #expect(second.isInCache && second.redirects == 1 && second.finalURL == first.finalURL)
    #expect(try get("/b").isInCache)
    #expect(bench.server.count() == 2)
    clock.advance(seconds: 100)
    #expect(try get("/hop").source == .revalidated)
    #expect(bench.server.count("/hop") == 1)
    clock.advance(seconds: 600)
    #expect(try get("/hop").text == "b")
    #expect(bench.server.count("/hop") == 2)
  }

  @Test("a redirect without a lifetime is asked for again, its stored target isn't")
  func noLifetime() throws {
    for (path, control) in [("/plain", nil), ("/never", "no-store")] as [(String, String?)] {
      hop(path, to: "/b", control)
      #expect(try get(path).text == "b")
      let again = try get(path)
      #expect(again.isInCache && again.redirects == 1)
      #expect(bench.server.count(path) == 2)
    }
    #expect(bench.server.count("/b") == 1)
  }

  @Test("stored redirects lead to a stored picture, also offline")
  func pictures() throws {
    bench.server.on(
      "/c.png",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 40, height: 20))]))
    hop("/one", to: "/two", "max-age=600", status: 301)
    hop("/two", to: "/c.png", "max-age=600", status: 308)
    for round in 0..<2 {
      let image = try bench.thumbnail("/one", 16)
      #expect(image.width == 16 && image.isInCache == (round == 1))
    }
    #expect(bench.server.count() == 3)
    var request = Request(bench.server.url("/one"))
    request.policy = .offline
    #expect(try bench.cache.thumbnail(request, ImageOptions(ThumbnailBox(16))).width == 16)
  }

  @Test("a peek follows stored redirects while all of them are fresh")
  func peeked() throws {
    bench.server.on(
      "/c.png",
      Script(headers: ["Cache-Control": "max-age=600"], steps: [.bytes(Pictures.png(width: 40, height: 20))]))
    hop("/one", to: "/two", "max-age=600", status: 301)
    hop("/two", to: "/c.png", "max-age=60", status: 308)
    #expect(try bench.cache.peek(bench.server.url("/one"), size: 16) == nil)
    _ = try bench.thumbnail("/one", 16)
    for _ in 0..<2 {
      let image = try #require(try bench.cache.peek(bench.server.url("/one"), size: 16))
      #expect(image.width == 16 && image.isInCache)
      #expect(image.url == bench.server.url("/one") && image.finalURL == bench.server.url("/c.png"))
    }
    // A redirect on the way that is stale may lead elsewhere by now.
    clock.advance(seconds: 61)
    #expect(try bench.cache.peek(bench.server.url("/one"), size: 16) == nil)
    #expect(try bench.cache.peek(bench.server.url("/c.png"), size: 16) != nil)
    try bench.cache.remove(bench.server.url("/c.png"))
    #expect(try bench.cache.peek(bench.server.url("/c.png"), size: 16) == nil)
    hop("/x", to: "/y", "max-age=600")
    hop("/y", to: "/x", "max-age=600")
    _ = try? bench.thumbnail("/x", 16)
    #expect(try bench.cache.peek(bench.server.url("/x"), size: 16) == nil)
    #expect(bench.server.count() == 5)
  }

  @Test("stored redirects that loop are `too_many_redirects`")
  func loops() throws {
    hop("/x", to: "/y", "max-age=600")
    hop("/y", to: "/x", "max-age=600")
    for _ in 0..<2 { #expect(try bench.failure("/x").code == .tooManyRedirects) }
    #expect(bench.server.count() == 2)
    for count in 0..<11 { hop("/n\(count)", to: count == 0 ? "/b" : "/n\(count - 1)", nil) }
    #expect(try get("/n9").text == "b")
    #expect(try bench.failure("/n10").code == .tooManyRedirects)
    hop("/bad", to: "http://", nil)
    #expect(try bench.failure("/bad").code == .badURL)
  }

  @Test("a redirect to another origin drops secrets, and its target is stored for all users")
  func secrets() throws {
    let other = try TestServer.start()
    defer { other.stop() }
    other.on("/c", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("c")]))
    hop("/hop", to: other.url("/c"), "max-age=600")
    let mine = try bench.get("/hop") {
      $0.user = ("anna", "1")
      $0.headers = [("X-Api-Key", "2")]
    }
    #expect(mine.text == "c")
    #expect(other.requests("/c")[0].headers["Authorization"] == nil)
    #expect(other.requests("/c")[0].headers["X-Api-Key"] == nil)
    #expect(try bench.cache.get(other.url("/c")).isInCache)
    // The redirect itself is stored for the user who asked.
    #expect(try get("/hop").isInCache)
    #expect(bench.server.count("/hop") == 2)
  }

  @Test("a stale redirect stands in for itself when its server fails")
  func unreachable() throws {
    hop("/hop", to: "/b", "max-age=10")
    _ = try get("/hop")
    clock.advance(seconds: 100)
    bench.server.on(prefix: "/", { _ in .raw([.close]) })
    for path in ["/hop", "/b"] { bench.server.on(path, Script.raw([.close])) }
    let answer = try get("/hop")
    #expect(answer.text == "b" && answer.isStale && answer.redirects == 1)
  }

  @Test(
    "a stale redirect makes its target stale, and both are revalidated behind the answer",
    arguments: [true, false])
  func stale(isFirst: Bool) throws {
    hop("/hop", to: "/b", "max-age=10")
    _ = try get("/hop")
    clock.advance(seconds: 30)
    hop("/hop", to: "/c", "max-age=10")
    bench.server.on("/c", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("c")]))
    var request = Request(bench.server.url("/hop"))
    request.delivery = isFirst ? .first : .twice
    let events = try #require(try bench.cache.submit(request).final())
    #expect(events.response?.text == (isFirst ? "b" : "c"))
    #expect(events.isStale == isFirst && events.isInCache == isFirst)
    #expect(bench.server.waitForAnswers(1, path: "/c"))
    while try get("/hop").text != "c" {}
  }

  /// Where the second hop's answer is stale, and what the server says about it then; and what the program gets last.
  @Test(
    "a redirect in place of a stale answer is delivered with a revalidated target",
    arguments: [(30, .cached, .disk), (100, .cached, .revalidated), (100, .fresh, .network)]
      as [(Int64, Event.Kind, Response.Source)]
  )
  func instead(after seconds: Int64, kind: Event.Kind, source: Response.Source) throws {
    bench.server.on(
      "/a",
      Script(headers: ["Cache-Control": "max-age=10"], steps: [.text("a")]).withValidators(etag: "\"a\""))
    _ = try get("/a")
    _ = try get("/b")
    clock.advance(seconds: seconds)
    hop("/a", to: "/b", "max-age=10")
    if kind == .fresh { bench.server.on("/b", .ok("new")) }
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    let shown = try #require(try ticket.next(within: 30_000))
    #expect(shown.kind == .cached && !shown.isFinal && shown.isStale && shown.response?.text == "a")
    let last = try #require(try ticket.next(within: 30_000))
    // Not `unchanged`: it isn't what was shown.
    #expect(last.isFinal && last.kind == kind && last.source == source && !last.isStale)
    #expect(last.response?.text == (kind == .fresh ? "new" : "b"))
  }

  @Test("a request joins a fetch whose redirect head has already come")
  func joinedLate() throws {
    bench.server.on(
      "/hop",
      Script(status: 302, headers: ["Location": "/b"], steps: [.head, .wait("gate"), .text("moved")]))
    let first = try bench.cache.submit(Request(bench.server.url("/hop")))
    #expect(bench.server.gate("gate").waitUntilReached(1))
    try bench.cache.waitForLoop()
    let second = try bench.cache.submit(Request(bench.server.url("/hop")))
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    #expect(try first.result().text == "b")
    #expect(try second.result().text == "b")
    #expect(bench.server.count("/hop") == 1)
  }

  @Test("20 requests at once share one fetch of a redirect and its target")
  func joined() throws {
    bench.server.on("/hop", Script.redirect(to: "/b").after(.wait("gate")))
    let tickets = try (0..<20).map { _ in try bench.cache.submit(Request(bench.server.url("/hop"))) }
    #expect(bench.server.gate("gate").waitUntilReached(1))
    while bench.cache.statistics.joined < 19 {}
    bench.server.gate("gate").open()
    for ticket in tickets { #expect(try ticket.result().text == "b") }
    #expect(bench.server.count("/hop") == 1)
    #expect(bench.server.count("/b") == 1)
  }
}

@Suite("Plans behind a redirect") struct HopPlanTests {
  private func plans() throws -> (asked: RequestPlan, behind: RequestPlan, direct: RequestPlan) {
    var options = Options()
    options.policy = .rfc9111
    var head = ResponseHead(status: 302)
    head.fields.append("Location", "http://b.example/y")
    var request = Request("http://a.example/x")
    request.headers = [("X-Token", "1"), ("Accept-Language", "2")]
    let asked = try RequestPlan(request, options)
    return (
      asked, try asked.following(head, sentByPublic: true),
      try RequestPlan(Request("http://b.example/y"), options)
    )
  }

  @Test("a request behind a public server's redirect gets no private answer from the cache")
  func guarded() throws {
    let (asked, behind, direct) = try plans()
    #expect(behind.first.isRedirectedByPublic && !asked.first.isRedirectedByPublic)
    #expect(direct.admits(.inner) && !behind.admits(.inner) && behind.admits(.open))
    // The two plans may not share a fetch, because only one may fetch private addresses.
    #expect(behind.coalescingKey != direct.coalescingKey)
  }

  @Test("a request behind a redirect has the target's cache key, without secrets of the origin")
  func renamed() throws {
    let (asked, behind, direct) = try plans()
    #expect(behind.name == direct.name && behind.name != asked.name)
    #expect(
      behind.coalescingKey != nil && behind.terms.coalescingFields == ["accept-language: 2"]
        && behind.hops == 1)
    #expect(behind.first.headers["X-Token"] == nil && behind.first.headers["Accept-Language"] == "2")
  }
}
