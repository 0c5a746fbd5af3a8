import CSystem
import FakeNames
import TestServer
import Testing

@testable import NuthatchTransport

/// Answers that libcurl lets pass or reports in its own way, and answers of hostile or broken servers.
@Suite("The HTTP protocol") struct ProtocolTests {
  private let ok = "HTTP/1.1 200 OK\r\n"

  @Test("an answer that breaks the rules of HTTP is a fault of the right kind")
  func faults() throws {
    let wire = try Wire()
    let cases: [(String, Set<TransportFault.Kind>)] = [
      ("\(ok)Content-Length: 100\r\n\r\nshort", [.truncated]),
      ("\(ok)Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", [.http]),
      ("\(ok)Content-Length: 5, 6\r\n\r\nabcdef", [.http]),
      ("\(ok)Content-Length: -5\r\n\r\nabcde", [.http]),
      ("\(ok)Content-Length: 0x5\r\n\r\nabcde", [.http]),
      ("\(ok)Content-Length: 99999999999999999999\r\n\r\nabcde", [.http]),
      ("\(ok)Transfer-Encoding: chunked\r\n\r\n5\r\nab", [.truncated]),
      ("\(ok)Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", [.truncated]),
      ("\(ok)Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n", [.http]),
      ("\(ok)Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nab\r\n", [.http]),
      ("\(ok)Transfer-Encoding: chunked\r\n\r\n2\r\nabXX0\r\n\r\n", [.http]),
      ("\(ok)Transfer-Encoding: gzip\r\n\r\nab", [.http]),
      ("\(ok)Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [.http]),
      ("\(ok)Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", [.http]),
      ("\(ok)Transfer-Encoding: rot13\r\n\r\nab", [.http]),
      ("\(ok)Transfer-Encoding: xchunked\r\n\r\nab", [.http]),
      ("HTTP/1.1 200 OK", [.http, .reset]),
      ("HTTP/1.1 200 OK\r\nContent-Le", [.http, .reset, .truncated]),
      ("HTTP/9.9 200 OK\r\n\r\n", [.http]),
      ("ICY 200 OK\r\n\r\nmusic", [.http]),
      ("SSH-2.0-OpenSSH_9.2\r\n", [.http]),
      ("<html>HTTP/0.9</html>", [.http]),
      ("\(ok)no colon here\r\n\r\n", [.http]),
      ("\(ok)\0\r\n\r\n", [.http]),
    ]
    for (answer, kinds) in cases {
      wire.server.on("/a", .raw(answer))
      let record = try wire.get("/a")
      #expect(record.fault.map { kinds.contains($0.kind) } == true, "\(answer.debugDescription): \(record)")
      #expect(record.endings == 1)
    }
  }

  @Test("odd but whole answers are accepted")
  func oddities() throws {
    let wire = try Wire()
    let cases = [
      "\(ok)Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
      "\(ok)Content-Length: 2, 2\r\n\r\nab",
      "\(ok)Transfer-Encoding: Chunked\r\n\r\n2;name=value\r\nab\r\n0\r\nX-Trailer: 1\r\n\r\n",
      "\(ok)Transfer-Encoding: chunked\r\nContent-Length: 77\r\n\r\n02\r\nab\r\n00\r\n\r\n",
      "\(ok)Transfer-Encoding: identity\r\n\r\nab",
      "HTTP/1.0 200\r\n\r\nab",
      "HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
    ]
    for answer in cases {
      wire.server.on("/a", .raw(answer))
      let record = try wire.get("/a")
      #expect(record.fault == nil, "\(answer.debugDescription)")
      #expect(record.text == "ab", "\(answer.debugDescription)")
    }
  }

  @Test("an answer that only the end of the connection delimits is reported as such")
  func closeDelimited() throws {
    let wire = try Wire()
    for (answer, isOpen) in [
      ("HTTP/1.0 200 OK\r\n\r\nab", true), ("\(ok)Connection: close\r\n\r\nab", true),
      ("\(ok)Transfer-Encoding: identity\r\n\r\nab", true), ("\(ok)Content-Length: 2\r\n\r\nab", false),
      ("\(ok)Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n", false),
      ("HTTP/1.1 204 No Content\r\n\r\n", false),
    ] {
      wire.server.on("/a", .raw(answer))
      let record = try wire.get("/a")
      #expect(record.fault == nil)
      #expect(record.timings.isCloseDelimited == isOpen, "\(answer)")
    }
    wire.server.on("/a", .raw("HTTP/1.0 200 OK\r\n\r\n"))
    #expect(try wire.get("/a").timings.connection.version == .http10)
    wire.server.on("/a", .ok("x"))
    #expect(try wire.get("/a").timings.connection.version == .http11)
  }

  @Test("a connection that breaks in any phase is a fault of the right kind")
  func resets() throws {
    let wire = try Wire()
    let cases: [(Script, Set<TransportFault.Kind>)] = [
      (Script(steps: [.reset], sendsHead: false), [.reset]),
      (Script(steps: [.close], sendsHead: false), [.reset]),
      (Script(steps: [.interim(103, [:]), .reset], sendsHead: false), [.reset]),
      (Script(headers: ["Content-Length": "9"], steps: [.headPart(12), .reset]), [.reset]),
      (Script(headers: ["Content-Length": "9"], steps: [.head, .reset]), [.reset]),
      (Script(headers: ["Content-Length": "9"], steps: [.text("abc"), .reset]), [.reset]),
      (Script(steps: [.chunk(text: "abc"), .reset]), [.reset]),
      (Script(steps: [.chunk(text: "abc"), .close]), [.truncated]),
      (Script(steps: [.text("abc"), .reset], framing: .untilClose), [.reset]),
    ]
    for (script, kinds) in cases {
      wire.server.on("/a", script)
      let record = try wire.get("/a")
      #expect(
        record.fault.map { kinds.contains($0.kind) } == true, "\(script): \(String(describing: record.fault))"
      )
    }
    wire.server.resetConnections(next: 1)
    // Whether it is cut while it is made or after is the kernel's choice.
    #expect([.reset, .refused].contains(try wire.fault("/b").kind))
  }

  /// When hundreds of connections are reset at once, one may be gone before libcurl asks for the peer's address.
  @Test("a connection that is reset before its peer is known is a `reset` fault")
  func noPeer() throws {
    let wire = try Wire()
    fake_peer_lost(Int32(wire.server.port))
    defer { fake_peer_lost(0) }
    for method in ["GET", "POST"] {
      let fault = try wire.fault("/a") { $0.method = method }
      #expect(fault.kind == .reset, "\(fault)")
    }
    #expect(wire.server.count() == 0)
  }

  @Test("a request that isn't idempotent is sent once, even if a kept connection breaks")
  func once() throws {
    let wire = try Wire()
    wire.server.on("/good", .ok("x"))
    let upload = TransferExtras(upload: BodySource([.bytes([UInt8](repeating: 7, count: 100_000))]))
    for (path, ending) in [("/closed", Script.raw([.close])), ("/reset", .raw([.reset]))] {
      wire.server.on(path, ending)
      for (method, most) in [("POST", 1), ("PATCH", 1), ("FROB", 1), ("GET", 2), ("PUT", 2), ("DELETE", 2)] {
        for isStreamed in [false, true] {
          var fault: TransportFault?
          // A connection that was idle for 2 s isn't used again, and over a new one nothing is sent twice.
          for _ in 0..<5 {
            let begin = nhs_monotonic_ns()
            _ = try wire.get("/good")
            wire.server.clearLog()
            fault = try wire.fault(path) {
              $0.method = method
              if isStreamed { $0.extras = upload } else if method != "GET" { $0.body = [1, 2, 3] }
            }
            if nhs_monotonic_ns() - begin < 2_000_000_000 { break }
          }
          #expect(fault?.kind == .reset)
          #expect(fault?.message.contains("isn't sent twice") == (most == 1), "\(String(describing: fault))")
          #expect(wire.server.count(path) == most, "\(method) \(path)")
        }
      }
    }
  }

  @Test("an early answer counts, even if the connection breaks while the body is being sent")
  func early() throws {
    let wire = try Wire()
    let upload = TransferExtras(upload: BodySource([.bytes([UInt8](repeating: 7, count: 20_000_000))]))
    for status in [200, 201, 204, 303, 413, 500] {
      for ending in [Script.Step.reset, .close] {
        for isStreamed in [false, true] {
          var script = Script.status(
            status, headers: ["Connection": "close"], body: status == 204 ? "" : "early")
          script.readsBody = false
          script.answersExpect = false
          for method in ["POST", "PUT"] {
            // Not at once: a reset that comes while something is being written may outrun the answer.
            let gate = "\(status) \(ending) \(isStreamed) \(method)"
            var gated = script
            gated.steps += [.head, .wait(gate), ending]
            wire.server.on("/a", gated)
            let recorder = try wire.start("/a") {
              $0.method = method
              if isStreamed { $0.extras = upload } else { $0.body = [UInt8](repeating: 7, count: 20_000_000) }
              $0.headers.append("Expect", "")
            }
            #expect(recorder.waitForHead())
            wire.server.gate(gate).open()
            let record = try recorder.result()
            #expect(record.head?.status == status, "\(script) \(record)")
            #expect(record.fault == nil && record.text == (status == 204 ? "" : "early"), "\(ending)")
          }
        }
      }
    }
    // An answer that isn't whole doesn't count.
    for (length, kinds) in [("6", [TransportFault.Kind.reset, .truncated]), (nil, [.reset])] {
      var script = Script(steps: [.text("early"), .reset], framing: length == nil ? .untilClose : .automatic)
      script.headers = length.map { ["Content-Length": $0] } ?? [:]
      script.readsBody = false
      wire.server.on("/a", script)
      let fault = try wire.fault("/a") {
        $0.method = "POST"
        $0.body = [UInt8](repeating: 7, count: 20_000_000)
      }
      #expect(kinds.contains(fault.kind), "\(fault)")
    }
  }

  @Test("a refused Expect is followed by one request without it, over another connection")
  func refusedExpect() throws {
    let wire = try Wire()
    let body = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 &* 5 >> 2) }
    var refusal = Script.status(417)
    refusal.readsBody = false
    refusal.answersExpect = false
    // Late, when some of the body is on its way already; kept open, so that only we can know that it can't be used.
    let late = Script(
      status: 417, headers: ["Content-Length": "0"], steps: [.pause(milliseconds: 1300)], framing: .keepOpen,
      readsBody: false, answersExpect: false)
    for (number, script) in [refusal, late].enumerated() {
      wire.server.on("/\(number)", sequence: [script, .ok("thanks")])
      for method in ["POST", "PUT"] {
        wire.server.on("/\(number)", sequence: [script, .ok("thanks")])
        wire.server.clearLog()
        let record = try wire.get("/\(number)") {
          $0.method = method
          $0.extras = TransferExtras(upload: BodySource([.bytes(body)]))
        }
        #expect(record.text == "thanks" && record.endings == 1)
        let requests = wire.server.requests("/\(number)")
        #expect(requests.map { $0.headers["Expect"] } == ["100-continue", nil])
        #expect(requests.last?.body == body)
      }
    }
    // Asked for by the caller, with a body in memory.
    wire.server.on("/own", sequence: [refusal, .ok("thanks"), .status(417)])
    let record = try wire.get("/own") {
      $0.method = "POST"
      $0.body = [1, 2, 3]
      $0.headers.append("Expect", "100-continue")
    }
    #expect(record.text == "thanks")
    #expect(wire.server.requests("/own").map { $0.headers["Expect"] } == ["100-continue", nil])
    // A request that didn't ask for it gets the 417.
    #expect(try wire.get("/own") { $0.method = "POST" }.head?.status == 417)
  }

  @Test("interim answers are shown")
  func interims() throws {
    let wire = try Wire()
    wire.server.on(
      "/a", Script.ok("x").after(.interim(103, ["Link": "</a.css>"]), .interim(102, [:]), .interim(103, [:])))
    let record = try wire.get("/a")
    #expect(record.interims.map(\.status) == [103, 102, 103])
    #expect(record.interims[0].fields["Link"] == "</a.css>")
    #expect(record.head?.status == 200)
    #expect(record.text == "x")
  }

  @Test("heads have limits for one line, all lines and interim answers")
  func hugeHeads() throws {
    let wire = try Wire()
    let line = String(repeating: "x", count: 60_000)
    let lines = (0..<5).map { "X-\($0): \(line)\r\n" }.joined()
    let many = (0..<40_000).map { "A\($0): b\r\n" }.joined()
    for answer in [
      "\(ok)X: \(String(repeating: "x", count: 300_000))\r\n\r\n", "\(ok)\(lines)\r\n", "\(ok)\(many)\r\n",
      String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\n", count: 10_000),
    ] {
      wire.server.on("/a", .raw([.raw(text: answer), .wait("never")]))
      #expect(try wire.fault("/a").kind == .http)
    }
    let fits = "\(ok)Content-Length: 1\r\nX: \(line)\r\nY: \(line)\r\n\r\nx"
    wire.server.on("/a", .raw(fits))
    #expect(try wire.get("/a").text == "x")
  }

  @Test("a redirect to an ftp: URL is an answer, and nothing is asked over FTP")
  func redirects() throws {
    let wire = try Wire()
    wire.server.on("/a", .redirect(to: "ftp://127.0.0.1:\(wire.server.port)/b"))
    let record = try wire.get("/a")
    #expect(record.fault == nil)
    #expect(record.head?.status == 302)
    #expect(wire.server.acceptedCount == 1)
  }

  @Test("requests after a faulty answer get their own answers")
  func after() throws {
    let wire = try Wire()
    wire.server.on("/good", .ok("x"))
    wire.server.on("/two", .raw("\(ok)Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"))
    wire.server.on(
      "/more", Script(headers: ["Content-Length": "1"], steps: [.text("ab")], framing: .keepOpen))
    for _ in 0..<3 {
      for path in ["/good", "/two", "/good", "/more", "/good"] {
        let record = try wire.get(path)
        if path == "/good" { #expect(record.text == "x") }
      }
    }
  }

  @Test("bytes that a server sent unasked over a kept connection are never the next request's answer")
  func unasked() throws {
    let evil = "\(ok)Content-Length: 4\r\n\r\nevil"
    let length: HeaderLines = ["Content-Length": "42"]
    let late: [Script.Step] = [.wait("whole"), .text(evil), .wait("sent")]
    let cases: [(method: String, Script)] = [
      ("GET", Script(status: 204, steps: [.head] + late, framing: .keepOpen)),
      ("GET", Script(status: 304, headers: length, steps: [.head] + late, framing: .keepOpen)),
      ("GET", Script(headers: ["Content-Length": "1"], steps: [.text("a")] + late, framing: .keepOpen)),
      ("GET", Script(steps: [.chunk(text: "a"), .lastChunk] + late)),
      ("POST", Script(status: 204, steps: [.head] + late, framing: .keepOpen)),
    ]
    for (method, script) in cases {
      let wire = try Wire()
      wire.server.on("/good", .ok("good"))
      wire.server.on("/odd", script)
      #expect(try wire.get("/odd") { $0.method = method }.fault == nil)
      wire.server.gate("whole").open()
      // What was sent before is there, on loopback.
      #expect(wire.server.gate("sent").waitUntilReached(1))
      let record = try wire.get("/good") { $0.method = method }
      #expect(record.fault == nil)
      #expect(record.text == "good", "\(method) \(script)")
      wire.server.gate("sent").open()
      #expect(try wire.get("/good").text == "good")
      #expect(wire.server.acceptedCount == 2)
    }
  }

  @Test("a transfer ends when its body is larger than maxBytes")
  func limits() throws {
    let wire = try Wire()
    wire.server.on("/a", Script(steps: [.chunk([UInt8](repeating: 1, count: 1001)), .wait("never")]))
    #expect(try wire.fault("/a") { $0.maxBytes = 1000 }.kind == .tooLarge)
    wire.server.on("/b", Script(steps: [.fill(count: 1000, byte: 1)]))
    #expect(try wire.get("/b") { $0.maxBytes = 1000 }.body.count == 1000)
    #expect(wire.server.waitForDisconnect(1))
  }
}

@Suite("Pace of transfers") struct PaceTests {
  private let second: Int64 = 1_000_000_000

  @Test("the stall detector tells silence and slowness from progress")
  func judged() {
    var slowness = TransferRequest.Slowness()
    slowness.bytesPerSecond = 10
    slowness.window = 4 * second
    var pace = StallDetector(startedAt: 0)
    func judge(_ now: Int64) -> StallDetector.Stall? {
      pace.check(at: now * second, silence: 2 * second, slowness: slowness).stall
    }
    #expect(judge(1) == nil)
    // The server thinks for 1.9 s, then sends 10 bytes a second for 4, then one a second.
    for now in 2...6 { pace.note(10, at: Int64(now) * second) }
    #expect(judge(6) == nil)
    for now in 7...9 {
      pace.note(1, at: Int64(now) * second)
      #expect(judge(Int64(now)) == nil)
    }
    pace.note(1, at: 10 * second)
    #expect(judge(10) == .slowness(bytes: 4, window: 4 * second))
    var silent = StallDetector(startedAt: 0)
    #expect(
      silent.check(at: 2 * second, silence: 2 * second, slowness: slowness).stall == .silence(2 * second))
  }

  @Test("the stall detector looks again when silence or slowness may next be due")
  func next() {
    var slowness = TransferRequest.Slowness()
    var pace = StallDetector(startedAt: 5)
    #expect(pace.check(at: 6, silence: 100, slowness: slowness).next == 105)
    pace.note(1, at: 50)
    #expect(pace.check(at: 60, silence: 100, slowness: slowness).next == 150)
    slowness.window = .max
    #expect(pace.check(at: 60, silence: .max, slowness: slowness).next == .max)
  }

  @Test("a server that drips is ended by the slowness limit, in head and body")
  func drips() throws {
    let wire = try Wire()
    let drip = [UInt8](repeating: 120, count: 1000)
    wire.server.on("/body", Script(steps: [.drip(drip, piece: 1, milliseconds: 50)]))
    wire.server.on(
      "/head",
      Script(
        headers: ["X": String(repeating: "x", count: 900)], steps: [.dripHead(piece: 1, milliseconds: 50)]))
    let paths = ["/body", "/head"]
    let recorders = try paths.map {
      try wire.start($0) {
        $0.silence = 6_000_000_000
        $0.slowness.window = 1
        $0.slowness.bytesPerSecond = 1000
      }
    }
    for (recorder, path) in zip(recorders, paths) {
      let fault = try #require(try recorder.result().fault)
      #expect(fault.kind == .timeout)
      // Of a head, libcurl shows whole lines only.
      #expect(fault.message.contains(path == "/body" ? "only" : "waiting"))
    }
    #expect(wire.server.waitForDisconnect(2))
  }

  @Test("says in which phase a server was silent")
  func phases() throws {
    let wire = try Wire()
    var script = Script.raw([.wait("never")])
    script.readsBody = false
    wire.server.on("/a", script)
    let cases = [(3, "waiting for the answer"), (20_000_000, "sending the request")]
    let recorders = try cases.map { count, _ in
      try wire.start("/a") {
        $0.method = "POST"
        $0.body = [UInt8](repeating: 7, count: count)
        $0.silence = 6_000_000_000
      }
    }
    for (recorder, (_, phase)) in zip(recorders, cases) {
      let fault = try #require(try recorder.result().fault)
      #expect(fault.kind == .timeout && fault.message.contains(phase), "\(fault)")
    }
  }
}
