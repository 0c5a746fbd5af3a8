import NuthatchCore
import TestServer
import Testing

@Suite("Redirects") struct RedirectTests {
  @Test("redirects are followed, relative ones too", arguments: [301, 302, 303, 307, 308])
  func followed(status: Int) throws {
    let bench = try Bench()
    bench.server.on("/a/b", .redirect(to: "../c?d#e", status: status))
    bench.server.on("/c?d", .ok("there"))
    let response = try bench.get("/a/b")
    #expect(response.text == "there")
    #expect(response.url == bench.server.url("/a/b"))
    #expect(response.finalURL == bench.server.url("/c?d"))
    #expect(response.redirects == 1)
  }

  @Test("ten redirects are followed, eleven are `too_many_redirects`")
  func limit() throws {
    let bench = try Bench()
    #expect(try bench.get("/redirect/10").redirects == 10)
    let error = try bench.failure("/redirect/11")
    #expect(error.code == .tooManyRedirects)
    #expect(try bench.failure("/redirect-loop").code == .tooManyRedirects)
  }

  @Test("a request's `redirects` limit holds for servers' and stored redirects")
  func ownLimit() throws {
    let bench = try Bench()
    #expect(try bench.get("/redirect/3") { $0.redirects = 3 }.redirects == 3)
    for (count, words) in [(2, "more than 2 redirects"), (1, "more than 1 redirect,")] {
      let error = try bench.failure("/redirect/3") { $0.redirects = count }
      #expect(error.code == .tooManyRedirects && error.message.contains(words))
    }
    #expect(try bench.get("/redirect/12") { $0.redirects = 100 }.redirects == 12)
    // What is stored, fresh as it is, has come by two.
    bench.server.on("/a", .redirect(to: "/b"))
    bench.server.on("/b", .redirect(to: "/c"))
    bench.server.on("/c", .ok("x").with("Cache-Control", "max-age=600"))
    #expect(try bench.get("/a").redirects == 2)
    #expect(try bench.get("/a") { $0.redirects = 2 }.isInCache)
    #expect(try bench.failure("/a") { $0.redirects = 1 }.code == .tooManyRedirects)
    #expect(try bench.failure("/a") { ($0.redirects, $0.policy) = (1, .offline) }.code == .offline)
    bench.server.on("/a", .redirect(to: "/c"))
    #expect(try bench.get("/a") { $0.redirects = 1 }.redirects == 1)
    #expect(try bench.get("/a") { $0.redirects = 1 }.isInCache)
    for count in [-1, 101] { #expect(try bench.failure("/a") { $0.redirects = count }.code == .invalid) }
  }

  @Test(
    "with `redirects` 0 the redirect is the answer, stored apart from its target's",
    arguments: [Policy.kit, .rfc9111])
  func notFollowed(policy: Policy) throws {
    let bench = try Bench { $0.policy = policy }
    let fresh = ("Cache-Control", "max-age=600")
    bench.server.on("/a", Script.redirect(to: "/b").with(fresh.0, fresh.1))
    bench.server.on("/b", .ok("there").with(fresh.0, fresh.1))
    for round in 0..<2 {
      let hop = try bench.get("/a") { $0.redirects = 0 }
      #expect(hop.status == 302 && hop.header("Location") == "/b" && hop.redirects == 0)
      // By the kit's rules only successes are stored.
      #expect(hop.isInCache == (round == 1 && policy == .rfc9111))
      let whole = try bench.get("/a")
      #expect(whole.text == "there" && whole.isInCache == (round == 1))
    }
    #expect(try bench.get("/b") { $0.redirects = 0 }.text == "there")
    let error = #expect(throws: NuthatchError.self) {
      var request = Request(bench.server.url("/a"))
      request.redirects = 0
      _ = try bench.cache.thumbnail(request, ImageOptions(ThumbnailBox(16)))
    }
    #expect(error?.code == .http && error?.status == 302)
    var options = Options()
    options.redirects = 0
    let site = try bench.cache.site(bench.server.url("/"), options)
    #expect(try bench.cache.submit(site.request("a")).result().status == 302)
    var followed = site.request("a")
    followed.redirects = 1
    #expect(try bench.cache.submit(followed).result().text == "there")
  }

  @Test("requests with different `redirects` limits don't join each other")
  func together() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.redirect(to: "/b").after(.wait("gate")))
    bench.server.on("/b", .ok("there"))
    let tickets = try [10, 0, 1].map { count in
      var request = Request(bench.server.url("/a"))
      request.redirects = count
      return try bench.cache.submit(request)
    }
    #expect(bench.server.gate("gate").waitUntilReached(3))
    bench.server.gate("gate").open()
    #expect(try tickets.map { try $0.result().status } == [200, 302, 200])
  }

  @Test(
    "a redirect keeps or drops method and body as HTTP says",
    arguments: [
      (301, "POST", "GET"), (302, "POST", "GET"), (303, "POST", "GET"), (303, "PUT", "GET"),
      (303, "HEAD", "HEAD"),
      (307, "POST", "POST"), (308, "PUT", "PUT"), (301, "PUT", "PUT"), (302, "DELETE", "DELETE"),
    ])
  func methods(status: Int, method: String, then: String) throws {
    let bench = try Bench()
    bench.server.on("/a", .redirect(to: "/b", status: status))
    bench.server.on("/b", .ok("x"))
    _ = try bench.get("/a") {
      $0.method = method
      if method != "HEAD" { $0.body = Array("payload".utf8) }
      $0.headers = [("Content-Type", "text/plain")]
    }
    let seen = try #require(bench.server.requests("/b").first)
    #expect(seen.method == then)
    #expect(seen.body == (then == method && method != "HEAD" ? Array("payload".utf8) : []))
    if then == "GET" { #expect(seen.headers["Content-Type"] == nil) }
  }

  @Test("a redirect to another origin drops secret headers")
  func secrets() throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    bench.server.on("/a", .redirect(to: other.url("/b")))
    other.on("/b", .redirect(to: bench.server.url("/c")))
    bench.server.on("/c", .ok("x"))
    _ = try bench.get("/a") {
      $0.user = ("user", "sesame")
      $0.headers = Self.secret.map { ($0, "s") } + Self.harmless.map { ($0, "h") }
    }
    for seen in [other.requests("/b")[0], bench.server.requests("/c")[0]] {
      for name in Self.secret { #expect(seen.headers[name] == nil, "\(name)") }
      for name in Self.harmless { #expect(seen.headers[name] == "h", "\(name)") }
    }
  }

  private static let secret = [
    "Authorization", "Cookie", "X-Api-Key", "X-Signature", "X-CSRF-Token", "X-XSRF", "DPoP", "X-Sid",
    "X-Plain",
    "Referer", "From", "Origin", "X-Amz-Date", "Signature", "Signature-Input",
  ]
  private static let harmless = ["Accept", "Accept-Language", "Range", "User-Agent", "Prefer", "DNT"]

  @Test("a redirect to another origin keeps the headers that its site names, except Host")
  func travelling() throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    bench.server.on("/a", .redirect(to: other.url("/b")))
    other.on("/b", .ok("x"))
    var options = Options()
    options.headers = [("X-Tenant", "1"), ("X-Sid", "2")]
    options.keepHeadersAcrossOrigins = ["x-tenant", "X-Trace", "Host"]
    let site = try bench.cache.site(bench.server.url("/"), options)
    var request = site.request("a")
    request.headers = [("X-Trace", "3"), ("Host", "elsewhere.test"), ("X-Other", "4")]
    _ = try bench.cache.submit(request).final(within: 60_000)
    let seen = try #require(other.requests("/b").first)
    #expect(seen.headers["X-Tenant"] == "1" && seen.headers["X-Trace"] == "3")
    #expect(seen.headers["X-Sid"] == nil && seen.headers["X-Other"] == nil)
    #expect(seen.headers["Host"]?.hasPrefix("127.0.0.1") == true)
  }

  @Test(
    "headers that cache, site and request name go to another origin, and answers are kept apart"
  )
  func kept() throws {
    let bench = try Bench { $0.keepHeadersAcrossOrigins = ["X-One"] }
    let other = try TestServer.start()
    defer { other.stop() }
    bench.server.on("/a", .redirect(to: other.url("/b")))
    other.on("/b", .ok("x").with("Cache-Control", "max-age=600"))
    var options = Options()
    options.keepHeadersAcrossOrigins = ["x-two"]
    let site = try bench.cache.site(bench.server.url("/"), options)
    func sent(_ request: Request, _ more: [String] = []) throws -> (names: String, isInCache: Bool) {
      var request = request
      request.headers = ["X-One", "X-Two", "Authorization", "X-Four"].map { ($0, "1") }
      request.keepHeadersAcrossOrigins = more
      let isInCache = try bench.cache.submit(request).result().isInCache
      let seen = try #require(other.requests("/b").last).headers
      return (
        ["X-One", "X-Two", "Authorization", "X-Four"].filter { seen[$0] != nil }.joined(separator: " "),
        isInCache
      )
    }
    let plain = Request(bench.server.url("/a"))
    #expect(try sent(plain) == ("X-One", false))
    #expect(try sent(site.request("a")) == ("X-One X-Two", false))
    #expect(try sent(site.request("a"), ["authorization", "x-one"]) == ("X-One X-Two Authorization", false))
    #expect(try sent(plain) == ("X-One X-Two Authorization", true))
    #expect(try sent(plain, ["X-Five"]).isInCache)
    #expect(other.count("/b") == 3)
  }

  @Test(
    "a redirect to another origin keeps Idempotency-Key with the body, and only with it",
    arguments: [(307, true), (308, true), (302, false), (303, false)])
  func repetition(status: Int, isKept: Bool) throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    bench.server.on("/a", .redirect(to: other.url("/b"), status: status))
    other.on("/b", .ok("x"))
    _ = try bench.get("/a") {
      $0.method = "POST"
      $0.body = Array("payload".utf8)
      $0.headers = [("Idempotency-Key", "\"1\""), ("X-Api-Key", "k")]
    }
    let seen = try #require(other.requests("/b").first)
    #expect(seen.headers["Idempotency-Key"] == (isKept ? "\"1\"" : nil))
    #expect(seen.headers["X-Api-Key"] == nil)
  }

  @Test("a redirect within the origin keeps credentials and cookies")
  func sameOrigin() throws {
    let bench = try Bench()
    bench.server.on("/a", .redirect(to: "/b"))
    bench.server.on("/b", .ok("x"))
    _ = try bench.get("/a") {
      $0.user = ("user", "sesame")
      $0.headers = [("Cookie", "c=1")]
    }
    let seen = bench.server.requests("/b")[0]
    #expect(seen.headers["Authorization"]?.hasPrefix("Basic ") == true)
    #expect(seen.headers["Cookie"] == "c=1")
  }

  @Test(
    "a redirect to a URL that isn't valid http is `bad_url`",
    arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "javascript:1", "http://a b/"])
  func refused(location: String) throws {
    let bench = try Bench()
    bench.server.on("/a", .redirect(to: location))
    let error = try bench.failure("/a")
    #expect(error.code == .badURL)
    #expect(error.message.contains(bench.server.url("/a")))
  }

  @Test("a redirect without a Location, or with an empty one, is an answer")
  func noLocation() throws {
    let bench = try Bench()
    bench.server.on("/a", .status(302, body: "stay"))
    bench.server.on("/b", .status(302, body: "stay").with("Location", ""))
    #expect(try bench.get("/a").text == "stay")
    #expect(try bench.get("/b").text == "stay")
  }

  @Test("a redirect with a large or broken body is followed all the same")
  func bodies() throws {
    let bench = try Bench()
    bench.server.on(
      "/large", Script(status: 302, headers: ["Location": "/b"], steps: [.fill(count: 1 << 20, byte: 1)]))
    bench.server.on(
      "/cut",
      Script(status: 302, headers: ["Location": "/b", "Content-Length": "9"], steps: [.head, .close]))
    bench.server.on("/b", .ok("there"))
    #expect(try bench.get("/large") { $0.maxBytes = 100 }.text == "there")
    #expect(try bench.get("/cut").text == "there")
  }
}
