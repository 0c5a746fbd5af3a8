import NuthatchCore
import TestServer
import Testing

@Suite("Sites") struct SiteTests {
  @Test("give their requests headers, credentials and limits")
  func inheritance() throws {
    let bench = try Bench { $0.headers = [("X-Cache", "c"), ("X-Both", "cache")] }
    bench.server.on("/api/a", .ok("x"))
    var options = Site.Options()
    options.headers = [("Authorization", "Bearer 1"), ("X-Both", "site")]
    options.accept = "application/json"
    options.userAgent = "siter/1"
    let site = try bench.cache.site(bench.server.url("/api/"), options)
    #expect(try site.get("a").url == "a")
    _ = try site.get("/api/a?2")
    let seen = bench.server.requests("/api/a")
    #expect(seen.count == 2)
    #expect(seen[0].headers["Authorization"] == "Bearer 1")
    #expect(seen[0].headers["X-Cache"] == "c")
    #expect(seen[0].headers["X-Both"] == "site")
    #expect(seen[0].headers["Accept"] == "application/json")
    #expect(seen[0].headers["User-Agent"] == "siter/1")
  }

  @Test("cancel what is theirs, and nothing else, also of a site with the same URL")
  func cancels() throws {
    let bench = try Bench()
    bench.server.on(prefix: "/") { _ in Script.ok("x").after(.wait("g")) }
    let (one, other) = (
      try bench.cache.site(bench.server.url("/")), try bench.cache.site(bench.server.url("/"))
    )
    let requests = [one.request("a"), one.request("b"), other.request("c"), Request(bench.server.url("/d"))]
    let tickets = try requests.map { try bench.cache.submit($0) }
    one.cancelAll()
    #expect(tickets.map { $0.state == .cancelled } == [true, true, false, false])
    #expect(bench.cache.activity == 2)
    bench.server.gate("g").open()
    #expect(try bench.cache.waitUntilIdle(within: 20_000))
    #expect(try tickets[2].result().isSuccess && tickets[3].result().isSuccess)
  }

  @Test("let a request say otherwise")
  func ownHeaders() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    var options = Site.Options()
    options.headers = [("X-A", "site")]
    options.user = ("name", "word")
    let site = try bench.cache.site(bench.server.url("/"), options)
    var request = site.request("a")
    request.headers = [("x-a", "own")]
    _ = try bench.cache.submit(request).result()
    let seen = try #require(bench.server.requests("/a").first)
    #expect(seen.headers["X-A"] == "own")
    #expect(seen.headers["Authorization"] == "Basic bmFtZTp3b3Jk")
  }

  @Test("keep what is secret with their origin")
  func secrets() throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    other.on("/a", .ok("x"))
    var options = Site.Options()
    options.headers = [("X-Api-Key", "secret"), ("X-Plain", "1")]
    options.user = ("name", "word")
    let site = try bench.cache.site(bench.server.url("/"), options)
    _ = try site.get(other.url("/a"))
    let seen = try #require(other.requests("/a").first)
    #expect(seen.headers["X-Api-Key"] == nil)
    #expect(seen.headers["Authorization"] == nil)
    #expect(seen.headers["X-Plain"] == "1")
  }

  @Test("share no fetch with requests that send other headers")
  func partitions() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    var options = Site.Options()
    options.headers = [("Authorization", "Bearer 1")]
    let site = try bench.cache.site(bench.server.url("/"), options)
    _ = try site.get("a")
    #expect(try bench.cache.get(bench.server.url("/a")).isInCache == false)
    #expect(bench.server.requests("/a").count == 2)
  }

  @Test("refuse what no request could be sent with")
  func refusals() throws {
    let bench = try Bench()
    #expect(throws: NuthatchError.self) { try bench.cache.site("ftp://example.org/") }
    var options = Site.Options()
    options.headers = [("bad name", "x")]
    #expect(throws: NuthatchError.self) { try bench.cache.site(bench.server.url("/"), options) }
    options = Site.Options()
    options.proxy = "gopher://example.org"
    #expect(throws: NuthatchError.self) { try bench.cache.site(bench.server.url("/"), options) }
  }
}

@Suite("Options of the queue", .serialized) struct QueueOptionsTests {
  @Test("are refused where they make no sense")
  func refusals() throws {
    for change: (inout QueueOptions) -> Void in [
      { $0.concurrency = 0 }, { $0.concurrency = 513 }, { $0.perHost = 0 }, { $0.rate = 0 },
      { $0.rate = .nan },
    ] {
      var options = QueueOptions()
      change(&options)
      #expect(throws: NuthatchError.self) { try options.apply() }
    }
    #expect(QueueOptions.current == QueueOptions())
  }
}
