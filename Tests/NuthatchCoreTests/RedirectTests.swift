import NuthatchCore
import TestServer
import Testing

@Suite("Redirects") struct RedirectTests {
  @Test("are followed, relative ones too", arguments: [301, 302, 303, 307, 308])
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

  @Test("ten are followed, eleven are too many")
  func limit() throws {
    let bench = try Bench()
    #expect(try bench.get("/redirect/10").redirects == 10)
    let error = try bench.failure("/redirect/11")
    #expect(error.code == .tooManyRedirects)
    #expect(try bench.failure("/redirect-loop").code == .tooManyRedirects)
  }

  @Test(
    "keep or drop method and body as HTTP says",
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

  @Test("to another origin leave secrets behind")
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

  @Test("to another origin take what the site lets travel, and nothing that was asked for there only")
  func travelling() throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    bench.server.on("/a", .redirect(to: other.url("/b")))
    other.on("/b", .ok("x"))
    var options = Options()
    options.headers = [("X-Tenant", "1"), ("X-Sid", "2")]
    options.crossOriginHeaders = ["x-tenant", "X-Trace", "Host"]
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
    "take what a server knows a repetition by along with the body, and only with it",
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

  @Test("within the origin keep them")
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
    "to what isn't http are refused",
    arguments: ["ftp://127.0.0.1/", "file:///etc/passwd", "javascript:1", "http://a b/"])
  func refused(location: String) throws {
    let bench = try Bench()
    bench.server.on("/a", .redirect(to: location))
    let error = try bench.failure("/a")
    #expect(error.code == .badURL)
    #expect(error.message.contains(bench.server.url("/a")))
  }

  @Test("without a Location, or with an empty one, are answers")
  func noLocation() throws {
    let bench = try Bench()
    bench.server.on("/a", .status(302, body: "stay"))
    bench.server.on("/b", .status(302, body: "stay").with("Location", ""))
    #expect(try bench.get("/a").text == "stay")
    #expect(try bench.get("/b").text == "stay")
  }

  @Test("with a large or broken body are followed all the same")
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
