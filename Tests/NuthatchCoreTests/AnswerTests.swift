import NuthatchCore
import TestServer
import Testing

@Suite("Answers") struct AnswerTests {
  @Test("an answer has status, headers in order, body, final URL and source")
  func whole() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("hello").with("X-One", "1").with("X-Two", "2").with("x-one", "3"))
    let response = try bench.get("/a")
    #expect(response.status == 200)
    #expect(response.reason == "OK")
    #expect(response.text == "hello")
    #expect(response.url == bench.server.url("/a"))
    #expect(response.finalURL == bench.server.url("/a"))
    #expect(response.header("content-TYPE") == "text/plain; charset=utf-8")
    #expect(response.headers.filter { $0.name.lowercased().hasPrefix("x-") }.map(\.value) == ["1", "2", "3"])
    #expect(!response.isInCache)
    #expect(response.source == .network)
    #expect(response.timings.total > 0)
  }

  @Test("an answer of any status is an answer, not an error", arguments: [201, 204, 304, 400, 404, 500, 503])
  func anyStatus(status: Int) throws {
    let bench = try Bench()
    bench.server.on("/a", .status(status))
    let response = try bench.get("/a")
    #expect(response.status == status)
    #expect(response.isSuccess == (status < 300))
    #expect(response.bodySize == 0)
  }

  @Test("a 204 or 304 may announce any Content-Length", arguments: [204, 304])
  func lengthWithoutBody(status: Int) throws {
    let bench = try Bench()
    bench.server.on("/a", .raw("HTTP/1.1 \(status) X\r\nContent-Length: 999999999999\r\n\r\n"))
    #expect(try bench.get("/a").status == status)
  }

  @Test("a body may be chunked, empty, or end with the connection")
  func framings() throws {
    let bench = try Bench()
    bench.server.on("/chunked", .chunked([Array("ab".utf8), Array("cd".utf8)], trailers: ["T": "x"]))
    bench.server.on("/empty", .ok([]))
    bench.server.on(
      "/closed", Script(version: "HTTP/1.0", steps: [.text("to the end")], framing: .untilClose))
    #expect(try bench.get("/chunked").text == "abcd")
    #expect(try bench.get("/empty").text == "")
    #expect(try bench.get("/closed").text == "to the end")
  }

  @Test("an answer that follows an interim answer has only its own headers")
  func interim() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(steps: [.interim(103, ["Link": "</x>"]), .text("x")]))
    let response = try bench.get("/a")
    #expect(response.status == 200)
    #expect(response.header("Link") == nil)
  }

  @Test("a body of 20 MiB arrives whole")
  func large() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(steps: [.fill(count: 20 << 20, byte: 7), .text("end")]))
    let response = try bench.get("/a")
    #expect(response.bodySize == (20 << 20) + 3)
    response.withBody { body in
      #expect(body[0] == 7 && body[(20 << 20) - 1] == 7)
      #expect(Array(body.suffix(3)) == Array("end".utf8))
    }
  }

  @Test("20 requests to one host reuse one connection")
  func reuse() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    for _ in 0..<20 { _ = try bench.get("/a") }
    #expect(bench.server.count("/a") == 20)
    #expect(bench.server.connectionCount == 1)
  }

  @Test("300 requests at once get their own answers")
  func concurrent() throws {
    let bench = try Bench()
    bench.server.on(prefix: "/n/") { .ok($0.path) }
    let tickets = try (0..<300).map { try bench.cache.submit(Request(bench.server.url("/n/\($0)"))) }
    for (number, ticket) in tickets.enumerated() { #expect(try ticket.result().text == "/n/\(number)") }
    #expect(bench.server.count() == 300)
  }
}
