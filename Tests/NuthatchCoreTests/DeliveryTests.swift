import Glibc
import TestServer
import Testing

@testable import NuthatchCore

/// The time of day, which stands until it is moved.
final class TestClock: Sendable {
  private let time = Collected<Int64>()

  init() { time.add(1_700_000_000_000_000_000) }

  var wall: WallClock { WallClock { self.time.values.reduce(0, +) } }

  func advance(seconds: Int64) { time.add(seconds * 1_000_000_000) }
}

/// Every cell of the table of deliveries: what is stored, down; how it is delivered, across.
@Suite("Deliveries") struct DeliveryTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
  }

  /// Stores an answer that is fresh for a minute, and lets it become stale.
  private func store(stale: Bool, control: String = "max-age=60") throws {
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": control, "ETag": "\"1\""], steps: [.text("old")]))
    #expect(try bench.get("/a") { $0.delivery = .fresh }.text == "old")
    bench.server.clearLog()
    if stale { clock.advance(seconds: 100) }
  }

  private func events(
    _ delivery: Delivery, of path: String = "/a", _ boxes: [ThumbnailBox] = []
  ) throws -> [Event] {
    var request = Request(bench.server.url(path))
    (request.delivery, request.boxes) = (delivery, boxes)
    let ticket = try bench.cache.submit(request)
    var events: [Event] = []
    repeat {
      guard let event = try ticket.next(within: 30_000) else { break }
      events.append(event)
    } while events.last?.isFinal == false
    return events
  }

  @Test(
    "a fresh answer is delivered without the network", arguments: [.twice, .first, .fresh] as [Delivery])
  func fresh(delivery: Delivery) throws {
    try store(stale: false)
    let events = try events(delivery)
    #expect(events.map(\.kind) == [.cached])
    #expect(events[0].isFinal && events[0].isInCache && !events[0].isStale)
    #expect(events[0].source == .disk || events[0].source == .memory)
    #expect(events[0].response?.text == "old")
    #expect(bench.server.count() == 0)
  }

  @Test(
    "a stale answer that a 304 confirms is delivered, and fresh afterwards",
    arguments: [.twice, .first, .fresh] as [Delivery])
  func unchanged(delivery: Delivery) throws {
    try store(stale: true)
    bench.server.on("/a", Script(status: 304, headers: ["Cache-Control": "max-age=60", "ETag": "\"1\""]))
    let events = try events(delivery)
    switch delivery {
    case .twice:
      #expect(events.map(\.kind) == [.cached, .unchanged])
      #expect(events[0].isStale)
    case .first: #expect(events.map(\.kind) == [.cached])
    case .fresh: #expect(events.map(\.kind) == [.unchanged])
    }
    for event in events { #expect(event.isInCache && event.response?.text == "old") }
    if delivery != .first { #expect(events.last?.source == .revalidated) }
    #expect(bench.server.waitForAnswers(1))
    #expect(bench.server.requests("/a")[0].headers["If-None-Match"] == "\"1\"")
    // The server's word renewed it.
    try waitUntilFresh()
    #expect(try self.events(.fresh).map(\.kind) == [.cached])
    #expect(bench.server.count() == 1)
  }

  @Test(
    "a stale answer that the server replaces is delivered first, or not, as the delivery says",
    arguments: [.twice, .first, .fresh] as [Delivery])
  func replaced(delivery: Delivery) throws {
    try store(stale: true)
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""], steps: [.text("new")]))
    let events = try events(delivery)
    switch delivery {
    case .twice:
      #expect(events.map(\.kind) == [.cached, .fresh])
      #expect(events[0].response?.text == "old")
    case .first:
      #expect(events.map(\.kind) == [.cached])
      #expect(events[0].response?.text == "old")
    case .fresh: #expect(events.map(\.kind) == [.fresh])
    }
    if let last = events.last, last.kind == .fresh {
      #expect(!last.isInCache && last.source == .network && last.response?.text == "new")
    }
    try waitUntilFresh()
    #expect(try self.events(.fresh)[0].response?.text == "new")
    #expect(bench.server.count() == 1)
  }

  @Test(
    "a stale answer is delivered if the server can't be reached or answers 503",
    arguments: [.twice, .first, .fresh] as [Delivery], [true, false])
  func unreachable(delivery: Delivery, isDown: Bool) throws {
    try store(stale: true)
    bench.server.on("/a", isDown ? Script(steps: [.reset], sendsHead: false) : Script(status: 503))
    let events = try events(delivery)
    switch delivery {
    case .twice:
      #expect(events.map(\.kind) == [.cached, .failed])
      #expect(events[1].error?.code == (isDown ? .reset : .http))
    case .first, .fresh:
      #expect(events.map(\.kind) == [.cached])
    }
    #expect(events[0].isStale && events[0].isInCache && events[0].response?.text == "old")
  }

  @Test("after stale-if-error=0 a server's failure follows the stale answer that was shown")
  func noExcuse() throws {
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60, stale-if-error=0"], steps: [.text("old")]))
    func get(_ delivery: Delivery) throws -> [Event.Kind] {
      var request = Request(bench.server.url("/a"))
      request.delivery = delivery
      request.policy = .rfc9111
      request.retries = 0
      let ticket = try bench.cache.submit(request)
      var kinds: [Event.Kind] = []
      while let event = try ticket.next(within: 30_000) {
        kinds.append(event.kind)
        if event.isFinal { break }
      }
      return kinds
    }
    #expect(try get(.fresh) == [.fresh])
    clock.advance(seconds: 100)
    bench.server.on("/a", Script(status: 503))
    #expect(try get(.twice) == [.cached, .failed])
    #expect(try get(.fresh) == [.fresh])
  }

  @Test(
    "an answer with must-revalidate is never delivered stale",
    arguments: [.twice, .first, .fresh] as [Delivery])
  func mustRevalidate(delivery: Delivery) throws {
    try store(stale: true, control: "max-age=60, must-revalidate")
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    let events = try events(delivery)
    #expect(events.map(\.kind) == [.failed])
  }

  @Test(
    "without a stored answer the server's answer or the error is delivered",
    arguments: [.twice, .first, .fresh] as [Delivery])
  func missing(delivery: Delivery) throws {
    bench.server.on("/a", .ok("x"))
    #expect(try events(delivery).map(\.kind) == [.fresh])
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    clock.advance(seconds: 1000)
    var request = Request(bench.server.url("/b"))
    request.delivery = delivery
    bench.server.on("/b", Script(steps: [.reset], sendsHead: false))
    let event = try #require(try bench.cache.submit(request).next(within: 30_000))
    #expect(event.kind == .failed && event.isFinal && event.error?.code == .reset)
  }

  @Test("a 304 for another ETag than the stored one leads to a whole fetch")
  func otherStillHolds() throws {
    try store(stale: true)
    bench.server.on(
      "/a",
      sequence: [
        Script(status: 304, headers: ["ETag": "\"7\""]),
        Script(headers: ["Cache-Control": "max-age=60", "ETag": "\"7\""], steps: [.text("new")]),
      ])
    let events = try events(.fresh)
    #expect(events.map(\.kind) == [.fresh])
    #expect(events[0].response?.text == "new")
    #expect(bench.server.requests("/a").map { $0.headers["If-None-Match"] } == ["\"1\"", nil])
  }

  @Test(
    "a stale picture that is 404 at its server fails after it was shown, or at once",
    arguments: [.twice, .first, .fresh] as [Delivery])
  func pictureGone(delivery: Delivery) throws {
    let control: HeaderLines = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    bench.server.on(
      "/p.png", Script(headers: control, steps: [.bytes(Pictures.png(width: 40, height: 20))]))
    func kinds(_ delivery: Delivery) throws -> [Event.Kind] {
      try events(delivery, of: "/p.png", [ThumbnailBox(16)]).map(\.kind)
    }
    #expect(try kinds(.fresh) == [.fresh])
    clock.advance(seconds: 100)
    bench.server.on("/p.png", Script(status: 404))
    #expect(
      try kinds(delivery)
        == (delivery == .twice ? [.cached, .failed] : [delivery == .first ? .cached : .failed]))
    // Also behind an answer it is gone then.
    #expect(try kinds(.fresh) == [.failed])
  }

  @Test("one joined request gets a size that is gone, while another's thumbnail is confirmed by a 304")
  func goneForOne() throws {
    let png = Pictures.png(width: 40, height: 20)
    let control: HeaderLines = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
    var noSource = TestOptions()
    noSource.clock = clock.wall
    noSource.keepSource = false
    let cache = try Cache(path: bench.folder + "/other", options: noSource)
    defer { cache.close() }
    bench.server.on(
      "/p.png", Script(headers: control, steps: [.bytes(png)], answersConditions: true).after(.wait("gate")))
    func submit(_ size: Int) throws -> Ticket {
      var request = Request(bench.server.url("/p.png"))
      request.boxes = [ThumbnailBox(size)]
      request.delivery = .fresh
      return try cache.submit(request)
    }
    let first = try submit(16)
    bench.server.gate("gate").open()
    #expect(try first.final()?.images.first?.width == 16)
    bench.server.gate("gate").close()
    clock.advance(seconds: 100)
    let holds = try submit(16)
    #expect(bench.server.gate("gate").waitUntilReached(2))
    let gone = try submit(8)
    bench.server.gate("gate").open()
    #expect(try holds.final()?.kind == .unchanged)
    let event = try #require(try gone.final())
    #expect(event.kind == .fresh && event.images.first?.width == 8)
  }

  @Test(
    "an answer that the program rejects isn't stored, and the stale one stays",
    arguments: [.twice, .first, .fresh] as [Delivery],
    ["max-age=60", "max-age=60, stale-while-revalidate=600"])
  func judged(delivery: Delivery, control: String) throws {
    try store(stale: true, control: control)
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""], steps: [.text("bad")]))
    let events = try judgedEvents(delivery)
    #expect(
      events.map(\.kind) == (delivery == .twice ? [.cached, .question, .failed] : [.question, .failed]))
    #expect(events.first { $0.kind == .question }?.question?.response?.text == "bad")
    #expect(events.last?.error?.message.contains("no good") == true)
    #expect(bench.server.count() == 1)
    let stored = try bench.get("/a") { $0.policy = .offline }
    #expect(stored.text == "old")
    // Where its server can't be asked, the stored one does.
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    let standIn = try judgedEvents(delivery)
    #expect(standIn.map(\.kind) == (delivery == .twice ? [.cached, .failed] : [.cached]))
    #expect(standIn[0].response?.text == "old" && standIn[0].isStale)
  }

  @Test("a program judges the answer that a stale redirect leads to now")
  func judgedRedirect() throws {
    func lead(to path: String) {
      bench.server.on(
        "/a", Script(status: 302, headers: ["Cache-Control": "max-age=60", "Location": path], steps: []))
    }
    for path in ["/old", "/new"] {
      bench.server.on(path, Script(headers: ["Cache-Control": "max-age=6000"], steps: [.text(path)]))
    }
    lead(to: "/old")
    #expect(try bench.get("/a") { $0.policy = .rfc9111 }.text == "/old")
    clock.advance(seconds: 100)
    lead(to: "/new")
    let events = try judgedEvents(.first) { $0.policy = .rfc9111 }
    #expect(events.first?.question?.response?.text == "/new")
    #expect(bench.server.count("/a") == 2)
  }

  @Test("a stale answer that a program judges is inspected as `revalidate`")
  func judgedProspect() throws {
    try store(stale: true, control: "max-age=60, stale-while-revalidate=600")
    var request = Request(bench.server.url("/a"))
    request.delivery = .first
    #expect(try bench.cache.inspect(request)?.prospect == .hit)
    request.asks = [.verdict]
    #expect(try bench.cache.inspect(request)?.prospect == .revalidate)
  }

  /// The events of a request that rejects what comes.
  private func judgedEvents(
    _ delivery: Delivery, _ change: (inout Request) -> Void = { _ in }
  ) throws -> [Event] {
    var request = Request(bench.server.url("/a"))
    request.delivery = delivery
    request.asks = [.verdict]
    change(&request)
    let ticket = try bench.cache.submit(request)
    var events: [Event] = []
    repeat {
      let event = try #require(try ticket.next(within: 30_000))
      events.append(event)
      if let question = event.question { try ticket.answer(question, .reject("no good")) }
    } while events.last?.isFinal == false
    return events
  }

  @Test("a revalidation behind an answer ends at the request's deadline")
  func endlessBehind() throws {
    try store(stale: true)
    bench.server.on("/a", Script.ok("new").after(.wait("never")))
    var request = Request(bench.server.url("/a"))
    request.delivery = .first
    request.timeout = Request.Limit.none
    request.deadline = .milliseconds(5000)
    #expect(try bench.cache.submit(request).final()?.kind == .cached)
    #expect(bench.server.gate("never").waitUntilReached(1))
    #expect(bench.server.waitForDisconnect(1))
  }

  @Test("a stale answer is saved to a file only if its server can't be asked")
  func saved() throws {
    try store(stale: true, control: "max-age=60, stale-while-revalidate=600")
    let path = "\(bench.folder)/saved"
    var request = Request(bench.server.url("/a"))
    request.saveTo = [.file(path)]
    bench.server.on(
      "/a", Script(headers: ["Cache-Control": "max-age=60", "ETag": "\"2\""], steps: [.text("newer")]))
    #expect(try bench.cache.submit(request).final()?.kind == .fresh)
    #expect(FileBytes(path)?.contains("newer") == true)
    // Where it can't be asked, the stored one is saved.
    clock.advance(seconds: 100)
    bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
    request.saveTo = [.file(path + "2")]
    let event = try #require(try bench.cache.submit(request).final())
    #expect(event.kind == .cached && event.isStale)
    #expect(FileBytes(path + "2")?.contains("newer") == true)
  }

  @Test("a revalidation behind an answer asks the program nothing")
  func silentBehind() throws {
    try store(stale: true)
    bench.server.on("/a", Script(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"a\""], steps: []))
    var request = Request(bench.server.url("/a"))
    request.delivery = .first
    request.asks = [.credentials, .challenge]
    #expect(try bench.cache.submit(request).final()?.kind == .cached)
    #expect(bench.server.waitForRequests(1))
    // A question would be open for 30 seconds.
    #expect(bench.cache.shared.revalidations.wait(within: 20_000))
    #expect(bench.server.count() == 1)
  }

  /// A revalidation that goes on behind the answer ends some time.
  private func waitUntilFresh() throws {
    for _ in 0..<3000 {
      var request = Request(bench.server.url("/a"))
      request.policy = .offline
      if try bench.cache.submit(request).next(within: 30_000)?.response?.age ?? 100 < 60 { return }
      usleep(10_000)
    }
    Issue.record("it never became fresh")
  }
}
