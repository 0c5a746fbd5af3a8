import NuthatchCore
import TestServer
import Testing

@Suite("Requests") struct RequestTests {
  @Test("a request has User-Agent and Accept unless it sets them")
  func standardHeaders() throws {
    let bench = try Bench { $0.userAgent = "tester/1" }
    bench.server.on("/a", .ok("x"))
    _ = try bench.get("/a")
    _ = try bench.get("/a") {
      $0.headers = [("user-agent", "own/2"), ("Accept", "text/plain"), ("X-Empty", "")]
    }
    let seen = bench.server.requests("/a")
    #expect(seen[0].headers["User-Agent"] == "tester/1")
    #expect(seen[0].headers["Accept"] == "*/*")
    #expect(seen[1].headers["User-Agent"] == "own/2")
    #expect(seen[1].headers["Accept"] == "text/plain")
    #expect(seen[1].headers["X-Empty"] == "")
  }

  @Test("a request carries any method and body", arguments: ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
  func methods(method: String) throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    _ = try bench.get("/a") {
      $0.method = method
      $0.body = Array("payload".utf8)
    }
    let seen = try #require(bench.server.requests("/a").first)
    #expect(seen.method == method)
    #expect(seen.body == Array("payload".utf8))
    #expect(seen.headers["Content-Type"] == nil)
    #expect(seen.headers["Expect"] == nil)
  }

  @Test(
    "methods of HTTP are sent in capitals, other methods as they are",
    arguments: [
      ("get", "GET"), ("Head", "HEAD"), ("post", "POST"), ("pUT", "PUT"), ("delete", "DELETE"),
      ("patch", "PATCH"), ("options", "OPTIONS"), ("trace", "TRACE"), ("propfind", "propfind"),
      ("Report", "Report"),
    ])
  func spelling(_ spelled: String, _ sent: String) throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    #expect(try bench.get("/a") { $0.method = spelled }.bodySize == (sent == "HEAD" ? 0 : 1))
    #expect(bench.server.requests("/a").map(\.method) == [sent])
  }

  @Test("a request's method is spelled as it will be sent from the start")
  func spellingOfRequests() {
    var request = Request("http://example.org/")
    for (spelled, sent) in [("connect", "CONNECT"), ("po\u{17f}t", "po\u{17f}t"), ("", ""), ("getx", "getx")]
    {
      request.method = spelled
      #expect(request.method == sent)
    }
  }

  @Test("a request sends a header as often as it is given, in place of the cache's")
  func repeatedHeaders() throws {
    let bench = try Bench { $0.headers = [("X-B", "3"), ("X-B", "4"), ("x-a", "0")] }
    bench.server.on("/a", .ok("x"))
    _ = try bench.get("/a") { $0.headers = [("X-A", "1"), ("X-A", "2")] }
    let sent = try #require(bench.server.requests("/a").first)
    #expect(sent.headers.values(of: "X-A") == ["1", "2"] && sent.headers.values(of: "X-B") == ["3", "4"])
  }

  @Test("a POST or DELETE may have no body")
  func emptyBodies() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    _ = try bench.get("/a") { $0.method = "POST" }
    _ = try bench.get("/a") { $0.method = "DELETE" }
    #expect(bench.server.requests("/a").map(\.method) == ["POST", "DELETE"])
    #expect(bench.server.requests("/a")[0].headers["Content-Length"] == "0")
  }

  @Test("a HEAD request gets no body")
  func head() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("five!"))
    let response = try bench.get("/a") { $0.method = "HEAD" }
    #expect(response.bodySize == 0)
    #expect(response.header("Content-Length") == "5")
  }

  @Test("a request signs in by option or by URL")
  func credentials() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    _ = try bench.get("/a") { $0.user = ("Aladdin", "open sesame") }
    _ = try bench.cache.get(bench.server.url("/a", host: "Aladdin:open%20sesame@127.0.0.1"))
    for seen in bench.server.requests("/a") {
      #expect(seen.headers["Authorization"] == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }
    #expect(bench.server.count("/a") == 2)
  }

  @Test("a request that can't be sent is refused before a connection is opened")
  func refused() throws {
    let bench = try Bench()
    let wrong: [(ErrorCode, (inout Request) -> Void)] = [
      (.badURL, { $0.url = "ftp://127.0.0.1/" }),
      (.badURL, { $0.url += "\r\nX: 1" }),
      (.badURL, { $0.url = "" }),
      (.badHeader, { $0.method = "GET /evil HTTP/1.1\r\nX:" }),
      (.badHeader, { $0.method = "" }),
      (.badHeader, { $0.headers = [("X", "1\r\nY: 2")] }),
      (.badHeader, { $0.headers = [("X\r\nY", "1")] }),
      (.badHeader, { $0.headers = [("X", "a\0b")] }),
      (.badHeader, { $0.headers = [("Content-Length", "1000")] }),
      (.badURL, { $0.url = $0.url.replacing("//", with: "//user:a%00b@") }),
      (.badURL, { $0.user = ("a", "b\0c") }),
      (.invalid, { $0.maxBytes = -1 }),
    ]
    for (code, change) in wrong {
      let error = try bench.failure("/a", change)
      #expect(error.code == code, "\(error)")
      #expect(!error.message.contains("\r") && !error.message.contains("\n"))
    }
    #expect(bench.server.acceptedCount == 0)
  }

  @Test("a request signs in with the bytes of a URL's escapes")
  func credentialBytes() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    _ = try bench.get("/a") { $0.url = $0.url.replacing("//", with: "//u%FF:%E9@") }
    #expect(bench.server.requests("/a").first?.headers["Authorization"] == "Basic df866Q==")
  }

  @Test("errors of requests show no password")
  func redacted() throws {
    let bench = try Bench()
    let port = bench.server.port
    bench.server.stop()
    for url in [
      "http://user:sesame@127.0.0.1:\(port)/", "http://user:sesame@exa mple/", "ftp://user:sesame@x/",
    ] {
      let error = try #require(throws: NuthatchError.self) { try bench.cache.get(url) }
      #expect(!error.message.contains("sesame"), "\(error)")
    }
  }
}
