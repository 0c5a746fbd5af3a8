import NuthatchCore
import TestServer
import Testing

/// A request that joins a fetch keeps its own limits to the end.
@Suite("Limits of joined requests") struct OwnLimitsTests {
  @Test("a joined request's maxBytes holds for an answer that a 304 confirms")
  func unchanged() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    bench.server.on(
      "/a",
      sequence: [
        Script.ok("0123456789").withValidators(etag: "\"1\""),
        Script.ok("0123456789").withValidators(etag: "\"1\"").after(.wait("gate")),
      ])
    _ = try bench.get("/a")
    clock.advance(seconds: 60)
    var request = Request(bench.server.url("/a"))
    request.delivery = .fresh
    let patient = try bench.cache.submit(request)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    request.maxBytes = 5
    let modest = try bench.cache.submit(request)
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    #expect(try patient.result().source == .revalidated)
    #expect(try modest.final()?.error?.code == .tooLarge)
  }

  @Test("a server is asked again for a stale answer that was beyond the request's limits")
  func smallerByNow() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    bench.server.on("/a", sequence: [.ok("0123456789"), .ok("01")])
    let large = Script.ok(Pictures.png(width: 40, height: 30), type: "image/png")
    let small = Script.ok(Pictures.png(width: 8, height: 6), type: "image/png")
    bench.server.on(
      "/a.png", sequence: [large, small].map { $0.with("Cache-Control", "max-age=60") })
    _ = try bench.get("/a")
    _ = try bench.thumbnail("/a.png", 8)
    var bytes = Request(bench.server.url("/a"))
    bytes.maxBytes = 5
    bytes.policy = .rfc9111
    var picture = Request(bench.server.url("/a.png"))
    picture.boxes = [ThumbnailBox(8)]
    picture.maxPixels = 100
    clock.advance(seconds: 61)
    #expect(try bench.cache.submit(bytes).result().bodySize == 2)
    #expect(try bench.cache.submit(picture).final()?.images.first?.originalWidth == 8)
  }

  @Test("a stored answer beyond the request's limit doesn't stand in for a failing server")
  func noStandIn() throws {
    let clock = TestClock()
    let bench = try Bench {
      $0.clock = clock.wall
      $0.retries = 0
    }
    bench.server.on("/a", sequence: [.ok("0123456789"), Script(steps: [.close])])
    bench.server.on("/b", sequence: [.ok("0123456789"), Script(status: 503, steps: [.text("?")])])
    _ = try (bench.get("/a"), bench.get("/b"))
    clock.advance(seconds: 1_000_000)
    var request = Request(bench.server.url("/a"))
    request.maxBytes = 5
    request.delivery = .fresh
    #expect(try bench.cache.submit(request).final()?.error?.code == .reset)
    // As where nothing is stored.
    request.url = bench.server.url("/b")
    #expect(try bench.cache.submit(request).result().status == 503)
  }

  @Test("a joined request's maxBytes holds for a body that came before it joined")
  func lateForBody() throws {
    let bench = try Bench()
    let body = String(repeating: "x", count: 1000)
    // The end of a chunked body comes later than all of its bytes.
    bench.server.on(
      "/a", Script(steps: [.chunk(text: body), .wait("gate"), .lastChunk]))
    var request = Request(bench.server.url("/a"))
    request.progressEvents = true
    let patient = try bench.cache.submit(request)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    while let event = try patient.next(), event.bytesDone < 1000 {}
    var small = Request(bench.server.url("/a"))
    small.maxBytes = 999
    let modest = try bench.cache.submit(small)
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    #expect(try modest.final()?.error?.code == .tooLarge)
    #expect(try patient.result().bodySize == 1000)
  }

  @Test("a picture beyond maxPixels or the side limit ends the transfer at its header")
  func ofSize() throws {
    let bench = try Bench()
    let cases = [
      (40, 39, "the picture is 40x1, more than max_pixels (39)"),
      (1_000_001, nil, "the picture is 1000001x1; the limit is 1000000 pixels a side"),
    ]
    for (width, most, message) in cases {
      let picture = Pictures.png(width: width, height: 1)
      let steps: [Script.Step] = [.bytes(Array(picture[..<40])), .wait("never")]
      bench.server.on("/\(width)", Script(headers: ["Content-Length": "\(picture.count)"], steps: steps))
      var request = Request(bench.server.url("/\(width)"))
      request.boxes = [ThumbnailBox(8)]
      request.maxPixels = most
      let error = try bench.cache.submit(request).final()?.error
      #expect(error?.code == .tooManyPixels && error?.message == "\(message): \(request.url)")
    }
  }

  @Test(
    "a joined request's silence limit holds, in either order, and the patient request goes on",
    arguments: [true, false])
  func ofSilence(isFirst: Bool) throws {
    let bench = try Bench()
    bench.server.on("/before", Script.ok("x").after(.wait("/before")))
    bench.server.on(
      "/in-body",
      Script(headers: ["Content-Length": "2"], steps: [.text("x"), .wait("/in-body"), .text("y")]))
    for path in ["/before", "/in-body"] {
      var request = Request(bench.server.url(path))
      request.timeout = Request.Limit.none
      let patient = request
      request.timeout = .milliseconds(1200)
      let impatient = request
      let tickets = try (isFirst ? [impatient, patient] : [patient, impatient]).map {
        let ticket = try bench.cache.submit($0)
        // Later the first one may have ended.
        if !isFirst { #expect(bench.server.waitForRequests(1, path: path)) }
        return ticket
      }
      #expect(bench.server.waitForRequests(1, path: path))
      let error = try tickets[isFirst ? 0 : 1].final()?.error
      #expect(error?.code == .timeout)
      #expect(error?.message.contains("1.2 s") == true, "\(String(describing: error))")
      try bench.cache.waitForLoop()
      #expect(try tickets[isFirst ? 1 : 0].next(within: 0) == nil)
      #expect(bench.server.count(path) == 1)
      bench.server.gate(path).open()
      #expect(try tickets[isFirst ? 1 : 0].result().status == 200)
    }
  }

  @Test("a joined request without retries gets the error status, the other request the retry's answer")
  func attempts() throws {
    let bench = try Bench()
    bench.server.on(
      "/a",
      sequence: [
        Script.status(500, body: "first").after(.wait("gate")), Script.ok("second").after(.wait("again")),
      ])
    var eager = Request(bench.server.url("/a"))
    eager.retries = 1
    let patient = try bench.cache.submit(eager)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    let hasty = try bench.cache.submit(Request(bench.server.url("/a")))
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    // It has its answer before the second attempt has its own.
    let answer = try hasty.result()
    #expect(answer.status == 500 && answer.text == "first")
    #expect(bench.server.gate("again").waitUntilReached(1))
    bench.server.gate("again").open()
    #expect(try patient.result().text == "second")
    #expect(bench.server.count("/a") == 2)
  }

  @Test("a joined picture request without retries fails, the other one gets the retry's picture")
  func attemptsForPictures() throws {
    let bench = try Bench()
    bench.server.on(
      "/a",
      sequence: [
        Script.status(500, body: "first").after(.wait("gate")),
        Script.ok(Pictures.png(width: 20, height: 10), type: "image/png").after(.wait("again")),
      ])
    var eager = Request(bench.server.url("/a"))
    eager.boxes = [ThumbnailBox(10)]
    eager.retries = 1
    let patient = try bench.cache.submit(eager)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    eager.retries = 0
    let hasty = try bench.cache.submit(eager)
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    #expect(try hasty.final()?.error?.code == .http)
    #expect(bench.server.gate("again").waitUntilReached(1))
    bench.server.gate("again").open()
    #expect(try patient.final()?.images.first?.width == 10)
  }
}
