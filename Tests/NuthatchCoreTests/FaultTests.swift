import NuthatchCore
import TestServer
import Testing

@Suite("Faults") struct FaultTests {
  @Test("each fault of a server has its error code")
  func words() throws {
    let bench = try Bench()
    let server = bench.server
    let head = "HTTP/1.1 200 OK\r\n"
    server.on("/truncated", .truncated(announced: 100, sent: Array("short".utf8)))
    server.on("/cut-chunk", .raw("\(head)Transfer-Encoding: chunked\r\n\r\n5\r\nab"))
    server.on("/no-last-chunk", .raw("\(head)Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n"))
    server.on("/bad-chunk", .raw("\(head)Transfer-Encoding: chunked\r\n\r\nzz\r\n"))
    server.on("/two-lengths", .raw("\(head)Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"))
    server.on("/bad-length", .raw("\(head)Content-Length: five\r\n\r\nabcde"))
    server.on("/not-http", .raw("SSH-2.0-OpenSSH_9.2\r\n"))
    server.on("/nothing", Script(steps: [.close], sendsHead: false))
    server.on("/reset-before", Script(steps: [.reset], sendsHead: false))
    server.on("/reset-within", Script(headers: ["Content-Length": "100"], steps: [.text("ab"), .reset]))
    server.on("/endless-line", .raw("\(head)X: \(String(repeating: "x", count: 300_000))\r\n\r\n"))
    server.on(
      "/odd-trailer", .raw("\(head)Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nno colon\r\n\r\n"))
    server.on("/half-head", .raw("HTTP/1.1 200 OK\r\nContent-Le"))
    let expected: [(String, Set<ErrorCode>)] = [
      ("/truncated", [.truncated]), ("/cut-chunk", [.truncated]), ("/no-last-chunk", [.truncated]),
      ("/bad-chunk", [.http]), ("/two-lengths", [.http]), ("/bad-length", [.http]), ("/not-http", [.http]),
      ("/nothing", [.reset]), ("/reset-before", [.reset]), ("/reset-within", [.reset]),
      ("/endless-line", [.http]), ("/odd-trailer", [.http]),
      ("/half-head", [.reset, .http, .truncated]),
    ]
    for (path, codes) in expected {
      let error = try bench.failure(path)
      #expect(codes.contains(error.code), "\(path): \(error)")
      #expect(error.message.contains(server.url(path)), "\(error)")
    }
  }

  @Test("requests with retries left outlast a server's restart")
  func restart() throws {
    let (bench, other) = (try Bench { $0.retries = 12 }, try TestServer.start())
    defer { other.stop() }
    for index in 0..<60 { bench.server.on("/\(index)", Script.ok("x").after(.wait("g"))) }
    func request(_ url: String) -> Request {
      var request = Request(url)
      request.policy = .reload
      return request
    }
    let tickets = try (0..<60).map { try bench.cache.submit(request(bench.server.url("/\($0)"))) }
    // What came after them has been through the queue, so that they are in it.
    other.on("/after", .ok("x"))
    _ = try bench.cache.submit(request(other.url("/after"))).result()
    bench.server.goDown()
    bench.server.gate("g").open()
    var last = Request(bench.server.url("/last"))
    last.retries = 0
    // Most of them wait when the first have failed so often that the host is left alone.
    for _ in 0..<2000 {
      let error = try #require(throws: NuthatchError.self) { try bench.cache.submit(last).result() }
      if error.code == .circuitOpen { break }
    }
    #expect(tickets.allSatisfy { $0.state != .done })
    try bench.server.goUp()
    for ticket in tickets { #expect(try ticket.result().text == "x") }
  }

  @Test("requests to a host that stays away fail, and later ones fail at once with a time")
  func away() throws {
    let bench = try Bench()
    bench.server.goDown()
    let tickets = try (0..<40).map { index in
      var request = Request(bench.server.url("/\(index)"))
      request.retries = 1
      return try bench.cache.submit(request)
    }
    for ticket in tickets {
      let error = try #require(throws: NuthatchError.self) { try ticket.result() }
      #expect([.refused, .circuitOpen].contains(error.code))
    }
    let error = try bench.failure("/late") { $0.retries = 3 }
    #expect(error.code == .circuitOpen && (error.retryAfter ?? 0) >= 1)
  }

  @Test("a refused connection and an unknown name have their error codes")
  func unreachable() throws {
    let bench = try Bench()
    let port = bench.server.port
    bench.server.stop()
    let refused = try #require(throws: NuthatchError.self) {
      try bench.cache.get("http://127.0.0.1:\(port)/")
    }
    #expect(refused.code == .refused)
    let dns = try #require(throws: NuthatchError.self) { try bench.cache.get("http://nothing.invalid/") }
    #expect(dns.code == .dns)
  }

  @Test("a failed TLS handshake has its error code")
  func tls() throws {
    let bench = try Bench()
    let error = try #require(throws: NuthatchError.self) {
      try bench.cache.get("https://127.0.0.1:\(bench.server.port)/")
    }
    #expect(error.code == .tls, "\(error)")
  }

  @Test("a faulty answer does no harm to the requests after it")
  func after() throws {
    let bench = try Bench()
    bench.server.on("/bad", .raw("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"))
    bench.server.on("/good", .ok("x"))
    for _ in 0..<5 {
      #expect(try bench.failure("/bad").code == .http)
      #expect(try bench.get("/good").text == "x")
    }
  }

  @Test("a body above maxBytes stops the transfer, whether announced or not")
  func tooLarge() throws {
    let bench = try Bench { $0.maxBytes = 1000 }
    bench.server.on("/fits", Script(steps: [.fill(count: 1000, byte: 1)]))
    bench.server.on(
      "/announced", Script(headers: ["Content-Length": "1001"], steps: [.head, .wait("never")]))
    bench.server.on("/chunked", Script(steps: [.chunk([UInt8](repeating: 1, count: 1001)), .wait("never")]))
    #expect(try bench.get("/fits").bodySize == 1000)
    #expect(try bench.failure("/announced").code == .tooLarge)
    #expect(try bench.failure("/chunked").code == .tooLarge)
    #expect(try bench.failure("/fits") { $0.maxBytes = 999 }.code == .tooLarge)
    #expect(bench.server.waitForDisconnect(2))
    let head = try bench.get("/announced") { $0.method = "HEAD" }
    #expect(head.header("Content-Length") == "1001")
  }

  @Test("headers above the size limit are refused")
  func hugeHeaders() throws {
    let bench = try Bench()
    let line = String(repeating: "x", count: 50_000)
    bench.server.on(
      "/a",
      Script(
        headers: ["A": line, "B": line, "C": line, "D": line, "E": line, "F": line], steps: [.text("x")]))
    #expect(try bench.failure("/a").code == .http)
  }
}

@Suite("Time limits") struct TimeLimitTests {
  @Test("the silence limit ends a transfer in every phase, and the error names the phase")
  func silence() throws {
    let bench = try Bench()
    bench.server.on("/before", Script.ok("x").after(.wait("never")))
    bench.server.on("/in-head", Script(steps: [.headPart(10), .wait("never"), .text("x")]))
    bench.server.on(
      "/in-body", Script(headers: ["Content-Length": "9"], steps: [.text("x"), .wait("never")]))
    for (path, phase) in [("/before", "waiting"), ("/in-head", "waiting"), ("/in-body", "middle")] {
      var error: NuthatchError?
      // A server that comes to its turn late is silent in an earlier phase. Then allow more.
      for limit in [200, 2000, 10_000] as [Int64] where error?.message.contains(phase) != true {
        error = try bench.failure(path) { $0.timeout = .milliseconds(limit) }
      }
      let end = try #require(error)
      #expect(end.code == .timeout && end.message.contains(phase), "\(end)")
      #expect(bench.server.waitForDisconnect(1, path: path))
    }
  }

  @Test("the silence limit lets a slow server that keeps sending go on")
  func drip() throws {
    let bench = try Bench()
    // 40 pieces of 50 ms: 2 s in all, longer than the silence that is allowed.
    bench.server.on(
      "/a",
      Script(
        headers: ["Content-Length": "40"],
        steps: [.drip([UInt8](repeating: 1, count: 40), piece: 1, milliseconds: 50)]))
    var size: Int64?
    // A machine that stops is silent, too, but hardly three times.
    for _ in 0..<3 where size == nil {
      size = try? Int64(bench.get("/a") { $0.timeout = .milliseconds(1500) }.bodySize)
    }
    #expect(size == 40)
  }

  @Test("the deadline ends a dripping server and a chain of redirects")
  func deadline() throws {
    let bench = try Bench()
    bench.server.on(
      "/drip",
      Script(
        headers: ["Content-Length": "1000"],
        steps: [.drip([UInt8](repeating: 1, count: 1000), piece: 1, milliseconds: 20)]))
    bench.server.on("/hop", Script.redirect(to: "/hop2").after(.pause(milliseconds: 50)))
    bench.server.on("/hop2", Script.ok("x").after(.wait("never")))
    for path in ["/drip", "/hop"] {
      // Long enough for the request to be at the server, however busy the machine is.
      let error = try bench.failure(path) { $0.deadline = .milliseconds(3000) }
      #expect(error.code == .timeout)
      #expect(error.message.contains("deadline"))
    }
    for path in ["/drip", "/hop2"] where bench.server.count(path) > 0 {
      #expect(bench.server.waitForDisconnect(1, path: path))
    }
  }

  @Test("a deadline counts the wait in the queue; that of a batched request begins with its first attempt")
  func queued() throws {
    let bench = try Bench()
    let held = try (0..<6).map { number in
      bench.server.on("/held\(number)", Script.ok("x").after(.wait("gate")))
      return try bench.cache.submit(Request(bench.server.url("/held\(number)")))
    }
    #expect(bench.server.gate("gate").waitUntilReached(6))
    bench.server.on("/a", .redirect(to: "/b"))
    bench.server.on("/b", .ok("there"))
    bench.server.on("/never", Script.ok("x").after(.wait("never")))
    let tickets = try ["/a", "/never"].map { path in
      var request = Request(bench.server.url(path))
      request.deadline = .milliseconds(5000)
      request.isBatched = true
      return try bench.cache.submit(request)
    }
    // The program has waited for longer than the deadline of those of the batch when this one fails.
    let error = try bench.failure("/a") { $0.deadline = .milliseconds(6000) }
    #expect(error.code == .timeout)
    #expect(error.message.contains("still waited for its turn"))
    for ticket in tickets { #expect(try ticket.next(within: 0) == nil) }
    #expect(bench.server.count("/a") == 0)
    bench.server.gate("gate").open()
    #expect(try tickets[0].result().text == "there")
    #expect(try tickets[1].final()?.error?.message.contains("deadline") == true)
    for ticket in held { #expect(try ticket.result().text == "x") }
  }

  @Test("a deadline runs on while the server has asked for a pause")
  func paused() throws {
    let bench = try Bench()
    bench.server.on("/busy", .status(503, headers: ["Retry-After": "60"]))
    bench.server.on("/a", .ok("x"))
    #expect(try bench.get("/busy").status == 503)
    let patient = try bench.cache.submit(Request(bench.server.url("/a")))
    let error = try bench.failure("/a") { $0.deadline = .milliseconds(1200) }
    #expect(error.code == .http && error.status == 503)
    #expect(error.message.contains("the deadline has passed"))
    #expect(error.retryAfter ?? 0 > 10)
    try bench.cache.waitForLoop()
    #expect(try patient.next(within: 0) == nil)
    #expect(bench.server.count("/a") == 0)
    patient.cancel()
  }

  @Test("a request may have no silence limit")
  func none() throws {
    let bench = try Bench { $0.timeout = .milliseconds(1) }
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let ticket = try bench.cache.submit(
      {
        var request = Request(bench.server.url("/a"))
        request.timeout = Request.Limit.none
        return request
      }())
    #expect(bench.server.gate("gate").waitUntilReached(1))
    try bench.cache.waitForLoop()
    #expect(try ticket.next(within: 0) == nil)
    bench.server.gate("gate").open()
    #expect(try ticket.result().text == "x")
  }
}
