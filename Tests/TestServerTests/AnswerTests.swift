import TestServer
import Testing

@Suite("Answers of the test server")
struct AnswerTests {
  let server: TestServer

  init() throws { server = try .start() }

  @Test("Content-Length is computed and the connection is kept")
  func keepAlive() throws {
    server.on("/a", .ok("hello", type: nil))
    let client = try RawClient(server)
    for _ in 1...3 {
      client.get("/a")
      #expect(client.answer() == ("HTTP/1.1 200 OK\nContent-Length: 5\n\n", "hello"))
    }
    #expect(server.connectionCount == 1)
    #expect(server.requests.map(\.connection) == [1, 1, 1])
  }

  @Test("Connection: close is honoured, asked by either side", arguments: [true, false])
  func close(byClient: Bool) throws {
    server.on("/a", byClient ? .ok("x", type: nil) : .ok("x", type: nil).with("Connection", "close"))
    let client = try RawClient(server)
    client.get("/a", headers: byClient ? "Connection: close\n" : "")
    let text = client.rest()
    #expect(text.hasPrefix("HTTP/1.1 200 OK\n") && text.hasSuffix("\n\nx"))
    #expect(text.contains("Connection: close\n"))
    #expect(!client.wasReset)
  }

  @Test("An HTTP/1.0 connection is closed after the answer unless the client asks to keep it")
  func oldVersions() throws {
    server.on("/a", .ok("x", type: nil))
    let closing = try RawClient(server)
    closing.send("GET /a HTTP/1.0\n\n")
    #expect(closing.rest() == "HTTP/1.1 200 OK\nContent-Length: 1\nConnection: close\n\nx")
    let keeping = try RawClient(server)
    keeping.send("GET /a HTTP/1.0\nConnection: keep-alive\n\n")
    #expect(keeping.answer().head.contains("Connection: keep-alive\n"))
    keeping.get("/a")
    #expect(keeping.answer().body == "x")
  }

  @Test("HEAD gets the Content-Length of the body, but no body")
  func headSendsNoBody() throws {
    server.on("/a", Script(steps: [.text("hello"), .fill(count: 5, byte: 65)]))
    let client = try RawClient(server)
    client.send("HEAD /a HTTP/1.1\nHost: test\n\n")
    #expect(client.answer(to: "HEAD").head.contains("Content-Length: 10\n"))
    client.get("/a")
    #expect(client.answer().body == "helloAAAAA")
  }

  @Test("Status, reason, version, order and repetition of fields are the script's")
  func head() throws {
    server.on(
      "/a",
      Script(
        status: 299, reason: "Odd", version: "HTTP/1.0",
        headers: ["b": "1", "A": "2", "b": "3", "Content-Length": "0"]))
    let client = try RawClient(server)
    client.get("/a")
    #expect(client.rest() == "HTTP/1.0 299 Odd\nb: 1\nA: 2\nb: 3\nContent-Length: 0\n\n")
  }

  @Test("A chunked answer has its chunks and trailers, and no Content-Length")
  func chunks() throws {
    server.on("/a", .chunked([Array("one".utf8), [UInt8](repeating: 65, count: 16)], trailers: ["T": "1"]))
    let client = try RawClient(server)
    client.get("/a", headers: "Connection: close\n")
    let text = client.rest()
    #expect(text.contains("Transfer-Encoding: chunked\n") && !text.contains("Content-Length"))
    #expect(text.hasSuffix("\n\n3\none\n10\nAAAAAAAAAAAAAAAA\n0\nT: 1\n\n"))
  }

  @Test("Interim answers 100 and 103 are sent before the final answer")
  func interimAnswers() throws {
    let hint = Script.Step.interim(103, ["Link": "</x>"])
    server.on("/a", Script.ok("x", type: nil).after(.interim(100, [:]), hint))
    let client = try RawClient(server)
    client.get("/a")
    #expect(client.answer().head == "HTTP/1.1 100 Continue\n\n")
    #expect(client.answer().head == "HTTP/1.1 103 Early Hints\nLink: </x>\n\n")
    #expect(client.answer().body == "x")
  }

  @Test("Raw bytes can stand instead of a head, within it, and behind the body")
  func raw() throws {
    server.on("/instead", .raw("HTTP/1.1 200 OK\r\nX: \u{1}\r\n\r\nbody"))
    server.on("/within", Script(steps: [.headPart(17), .raw(text: "Bad Line\r\n"), .head, .text("x")]))
    server.on("/behind", Script(steps: [.text("x"), .raw(text: "surplus")], framing: .keepOpen))
    let instead = try RawClient(server)
    instead.get("/instead")
    #expect(instead.rest() == "HTTP/1.1 200 OK\nX: \u{1}\n\nbody")
    let within = try RawClient(server)
    within.get("/within")
    #expect(within.answer().head == "HTTP/1.1 200 OK\nBad Line\nContent-Length: 1\n\n")
    let behind = try RawClient(server)
    behind.get("/behind")
    #expect(behind.answer().body == "x")
    #expect(behind.bytes(7) == "surplus")
    behind.get("/behind")
    #expect(behind.answer().body == "x")
  }

  @Test("A body without length ends with the connection")
  func untilClose() throws {
    server.on("/a", Script(steps: [.text("x")], framing: .untilClose))
    let client = try RawClient(server)
    client.get("/a")
    #expect(client.rest() == "HTTP/1.1 200 OK\nConnection: close\n\nx")
  }

  @Test("A sequence answers each request with its next script, and repeats the last one")
  func sequences() throws {
    server.on("/a", sequence: [.status(503), .redirect(to: "/b"), .ok("last", type: nil)])
    let client = try RawClient(server)
    let heads = (1...4).map { _ in
      client.get("/a")
      return client.answer().head.prefix(12)
    }
    #expect(heads == ["HTTP/1.1 503", "HTTP/1.1 302", "HTTP/1.1 200", "HTTP/1.1 200"])
  }

  @Test(
    "Of several scripts for a request, its query's answers, else its path's, else its longest prefix's")
  func routes() throws {
    server.on("/p/a?q=1", .ok("query"))
    server.on("/p/a", .ok("path"))
    server.on("POST /p/a", .ok("post"))
    server.on(prefix: "/p/") { .ok("short \($0.path)") }
    server.on(prefix: "/p/long/") { .ok("long \($0.path)") }
    let client = try RawClient(server)
    func body(_ line: String) -> String {
      client.send("\(line) HTTP/1.1\nHost: test\n\n")
      return client.answer().body
    }
    #expect(body("GET /p/a?q=1") == "query")
    #expect(body("GET /p/a?q=2") == "path")
    #expect(body("POST /p/a") == "post")
    #expect(body("GET /p/b") == "short /p/b")
    #expect(body("GET /p/long/b") == "long /p/long/b")
    #expect(body("GET http://elsewhere.test/p/a?q=1") == "query")
    #expect(body("GET /nowhere") == "nothing at /nowhere\n")
    server.off("/p/a")
    #expect(body("GET /p/a") == "short /p/a")
  }

  @Test("A body larger than the buffers arrives whole")
  func large() throws {
    server.on(
      "/a",
      Script(steps: [.fill(count: 5_000_000, byte: 97), .bytes([UInt8](repeating: 98, count: 300_000))]))
    let client = try RawClient(server)
    client.get("/a")
    let body = client.answer().body
    #expect(body.utf8.count == 5_300_000)
    #expect(body.utf8.count { $0 == 98 } == 300_000)
  }
}
