import NuthatchHTTP
import TestServer
import Testing

@testable import NuthatchCore

@Suite("Sites") struct SiteTests {
  @Test("a site gives its requests headers, credentials and options")
  func inheritance() throws {
    let bench = try Bench { $0.headers = [("X-Cache", "c"), ("X-Both", "cache")] }
    bench.server.on("/api/a", .ok("x"))
    var options = Options()
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

  @Test("a site's cancelAll cancels only its own requests, even beside a site with the same URL")
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

  @Test("a request's own headers replace those of its site")
  func ownHeaders() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    var options = Options()
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

  @Test("a site's secrets stay at its origin")
  func secrets() throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    other.on("/a", .ok("x"))
    var options = Options()
    options.headers = [("X-Api-Key", "secret"), ("X-Plain", "1"), ("X-Sid", "2"), ("Accept-Language", "de")]
    options.keepHeadersAcrossOrigins = ["X-Plain"]
    options.user = ("name", "word")
    let site = try bench.cache.site(bench.server.url("/"), options)
    _ = try site.get(other.url("/a"))
    let seen = try #require(other.requests("/a").first)
    #expect(seen.headers["X-Api-Key"] == nil && seen.headers["X-Sid"] == nil)
    #expect(seen.headers["Accept-Language"] == "de")
    #expect(seen.headers["Authorization"] == nil)
    #expect(seen.headers["X-Plain"] == "1")
  }

  @Test("a site's requests don't share answers with requests that send other headers")
  func partitions() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    var options = Options()
    options.headers = [("Authorization", "Bearer 1")]
    let site = try bench.cache.site(bench.server.url("/"), options)
    _ = try site.get("a")
    #expect(try bench.cache.get(bench.server.url("/a")).isInCache == false)
    #expect(bench.server.requests("/a").count == 2)
  }

  @Test("sites with different proxies have answers of their own")
  func proxies() throws {
    let bench = try Bench { $0.proxy = "" }
    let proxies = [try TestServer.start(), try TestServer.start()]
    defer { for proxy in proxies { proxy.stop() } }
    for (proxy, name) in zip(proxies, ["one", "two"]) {
      proxy.on(
        "/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text(name)]).after(.wait("gate")))
    }
    let sites = try proxies.map { proxy in
      var options = Options()
      options.proxy = "http://127.0.0.1:\(proxy.port)"
      return try bench.cache.site(bench.server.url("/"), options)
    }
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("none")]))
    let tickets = try sites.map { try bench.cache.submit($0.request("a")) }
    for proxy in proxies {
      #expect(proxy.gate("gate").waitUntilReached(1))
      proxy.gate("gate").open()
    }
    #expect(try tickets.map { try $0.result().text } == ["one", "two"])
    #expect(try bench.cache.get(bench.server.url("/a")).text == "none")
    for (site, name) in zip(sites, ["one", "two"]) {
      let stored = try site.get("a")
      #expect(stored.isInCache && stored.text == name)
    }
    #expect(bench.server.count("/a") == 1)
    // A POST with credentials takes out the answer without credentials that came by the same proxy.
    for proxy in proxies { proxy.on("/a", .ok("x")) }
    var change = sites[0].request("a")
    (change.method, change.user) = ("POST", ("ann", "pw"))
    _ = try bench.cache.submit(change).result()
    #expect(try sites[0].get("a").isInCache == false)
  }

  @Test("requests without a proxy of their own have the same cache key as in earlier versions")
  func noProxy() throws {
    let plain = try RequestPlan(Request("http://host.example/a"), Options())
    #expect(plain.name == AnswerName(address: "http://host.example/a", partition: []))
    var options = Options()
    options.proxy = "http://127.0.0.1:1"
    let other = try RequestPlan(Request("http://host.example/a"), options)
    #expect(
      other.name.address == plain.name.address && other.name != plain.name
        && other.coalescingKey != plain.coalescingKey)
    // The target of a redirect has the same proxy.
    var redirect = ResponseHead(status: 302)
    redirect.fields.append("Location", "/b")
    #expect(try plain.following(redirect, sentByPublic: false).name.partition.isEmpty)
    #expect(try other.following(redirect, sentByPublic: false).name.partition == other.name.partition)
  }

  @Test("a site with a bad URL, header or proxy is refused")
  func refusals() throws {
    let bench = try Bench()
    #expect(throws: NuthatchError.self) { try bench.cache.site("ftp://example.org/") }
    var options = Options()
    options.headers = [("bad name", "x")]
    #expect(throws: NuthatchError.self) { try bench.cache.site(bench.server.url("/"), options) }
    options = Options()
    options.proxy = "gopher://example.org"
    #expect(throws: NuthatchError.self) { try bench.cache.site(bench.server.url("/"), options) }
  }
}

@Suite("Options of the queue", .serialized) struct ProcessQueueTests {
  @Test("options of the queue that make no sense are refused")
  func refusals() throws {
    Bench.fixedPlaces
    let before = ProcessQueue.options
    for change: (inout Options) -> Void in [
      { $0.concurrency = 0 }, { $0.concurrency = 513 }, { $0.perHost = 0 }, { $0.rate = 0 },
      { $0.rate = .nan }, { $0.inFlightBytes = -1 }, { $0.retries = 1 },
    ] {
      var options = Options()
      change(&options)
      #expect(throws: NuthatchError.self) { try ProcessQueue.set(options) }
    }
    #expect(ProcessQueue.options == before)
  }
}
