import TestServer
import Testing

@Suite("Requests that the test server reads")
struct RequestTests {
  let server: TestServer

  init() throws {
    server = try .start()
    server.on("/a", .ok("ok", type: nil))
  }

  @Test("A request is logged with its method, target, query, and header fields in order")
  func logsHeadersInOrder() throws {
    let client = try RawClient(server)
    client.send("PURGE /a?x=%41&y HTTP/1.1\nHost: h\nB:  1 \nA: 2\nb: 3\n\n")
    #expect(client.answer().body == "ok")
    let request = try #require(server.requests.first)
    #expect(request.method == "PURGE" && request.target == "/a?x=%41&y" && request.version == "HTTP/1.1")
    #expect(request.path == "/a" && request.query == "x=%41&y")
    #expect(request.queryValue("x") == "A" && request.queryValue("y") == "" && request.queryValue("z") == nil)
    #expect(request.headers == ["Host": "h", "B": "1", "A": "2", "b": "3"])
    #expect(request.headers.values(of: "b") == ["1", "3"])
    #expect(server.count("/a") == 1 && server.count("/a?x=%41&y") == 1 && server.count("/b") == 0)
  }

  @Test("Request bodies with a length and in chunks are read and logged")
  func bodies() throws {
    let client = try RawClient(server)
    client.send("POST /a HTTP/1.1\nHost: h\nContent-Length: 5\n\nhello")
    #expect(client.answer().body == "ok")
    client.send(
      "PUT /a HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n3;ext\nhel\n2\nlo\n0\nTrailer: 1\n\n")
    #expect(client.answer().body == "ok")
    #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["hello", "hello"])
  }

  @Test("Expect: 100-continue gets 100, or at once the final status if the script reads no body")
  func expectContinue() throws {
    let client = try RawClient(server)
    client.send("POST /a HTTP/1.1\nHost: h\nContent-Length: 5\nExpect: 100-continue\n\n")
    #expect(client.answer().head == "HTTP/1.1 100 Continue\n\n")
    client.send("hello")
    #expect(client.answer().body == "ok")
    var script = Script.status(417)
    script.readsBody = false
    server.on("/refused", script)
    client.send("POST /refused HTTP/1.1\nHost: h\nContent-Length: 5\nExpect: 100-continue\n\n")
    #expect(client.answer().head.hasPrefix("HTTP/1.1 417"))
  }

  @Test("Requests sent in one go are answered in order")
  func pipelining() throws {
    server.on("/b", .ok("second", type: nil))
    let client = try RawClient(server)
    client.send("GET /a HTTP/1.1\nHost: h\n\nGET /b HTTP/1.1\nHost: h\n\nGET /a HTTP/1.1\nHost: h\n\n")
    #expect((1...3).map { _ in client.answer().body } == ["ok", "second", "ok"])
  }

  @Test(
    "A malformed request is refused with 400 or 413, and counted, and the server goes on",
    arguments: [
      ("rubbish\n\n", "400"), ("GET /a\n\n", "400"), ("GET /a HTTP/1.1\nno colon\n\n", "400"),
      ("GET  HTTP/1.1\n\n", "400"), ("POST /a HTTP/1.1\nContent-Length: x\n\n", "400"),
      ("POST /a HTTP/1.1\nContent-Length: -1\n\n", "400"),
      ("POST /a HTTP/1.1\nContent-Length: 99999999999\n\n", "413"),
      ("POST /a HTTP/1.1\nTransfer-Encoding: chunked\n\nzz\n", "400"),
      ("\u{0}\u{1}\u{2}\n\n", "400"),
    ])
  func refusesRubbish(text: String, status: String) throws {
    let client = try RawClient(server)
    client.send(text)
    #expect(client.rest().dropFirst(9).prefix(3) == status)
    #expect(server.malformedCount == 1)
    let next = try RawClient(server)
    next.get("/a")
    #expect(next.answer().body == "ok")
  }

  @Test("A request head of 1.2 million bytes is refused with 431")
  func refusesHugeHeads() throws {
    let client = try RawClient(server)
    client.send("GET /a HTTP/1.1\nX: \(String(repeating: "x", count: 1_200_000))\n\n")
    #expect(client.rest().hasPrefix("HTTP/1.1 431"))
  }

  @Test("Bare line feeds and empty lines before a request are taken")
  func lenient() throws {
    let client = try RawClient(server)
    client.send("\n\nGET /a HTTP/1.1\nHost: h\n\n", exactly: true)
    #expect(client.answer().body == "ok")
  }

  @Test("An upload that its client gives up is seen once, as left")
  func abandonedUpload() throws {
    let client = try RawClient(server)
    client.send("POST /a HTTP/1.1\nHost: h\nContent-Length: 100\n\nhalf")
    client.close()
    #expect(server.waitForDisconnect(path: "/a"))
    #expect(server.requests.map(\.outcome) == [.clientLeft])
    #expect(server.requests[0].body == Array("half".utf8))
    #expect(server.waitUntilIdle())
  }

  @Test("An echo path answers with the request's method, target, fields and body as JSON")
  func echo() throws {
    server.echo("/e")
    let client = try RawClient(server)
    client.send("POST /e?q HTTP/1.1\nHost: h\nContent-Length: 2\n\nhi")
    let body = client.answer().body
    #expect(
      body.contains(#""body":"hi""#) && body.contains(#""headers":[["Host","h"],["Content-Length","2"]]"#))
    #expect(body.contains(#""method":"POST""#) && body.contains(#""target":"/e?q""#))
  }
}
