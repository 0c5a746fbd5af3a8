import Glibc
import NuthatchCore
import TestServer
import Testing

/// Calls `body` on so many threads at once and waits for all of them.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) {
  final class Work: Sendable {
    let number: Int
    let body: @Sendable (Int) -> Void
    init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
      self.number = number
      self.body = body
    }
  }
  let threads: [pthread_t] = (0..<count).map { number in
    var thread = pthread_t()
    let context = Unmanaged.passRetained(Work(number, body)).toOpaque()
    pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
        work.body(work.number)
        return nil
      }, context)
    return thread
  }
  for thread in threads { pthread_join(thread, nil) }
}

@Suite("Joined requests for one URL") struct JoiningTests {
  @Test("a joined request has its own number of retries, beside one that is more patient")
  func ownRetries() throws {
    let bench = try Bench()
    bench.server.on("/a", sequence: [.status(503).after(.wait("gate")), .ok("there")])
    var patient = Request(bench.server.url("/a"))
    patient.isBatched = true
    let first = try bench.cache.submit(patient)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    var other = Request(bench.server.url("/a"))
    other.retries = 1
    let second = try bench.cache.submit(other)
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    #expect(try second.result().text == "there")
    #expect(try first.result().text == "there")
  }

  @Test("1024 requests of four threads and four sizes cost one transfer and one decode")
  func thousand() throws {
    let bench = try Bench()
    bench.server.on(
      "/a.png", Script.ok(Pictures.png(width: 320, height: 200), type: "image/png").after(.wait("gate")))
    let cache = bench.cache
    let url = bench.server.url("/a.png")
    let sizes = [16, 32, 64, 128]
    let tickets = Collected<Ticket>()
    onThreads(4) { _ in
      for number in 0..<256 {
        var request = Request(url)
        request.boxes = [ThumbnailBox(sizes[number % 4])]
        if let ticket = try? cache.submit(request) { tickets.add(ticket) }
      }
    }
    let all = tickets.values
    #expect(all.count == 1024)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    bench.waitUntilJoined(1023)
    bench.server.gate("gate").open()
    var widths: [Int: Int] = [:]
    for ticket in all {
      let event = try #require(try ticket.final(within: 60_000))
      let image = try #require(event.images.first)
      #expect(event.kind == .fresh)
      #expect(!event.isInCache)
      #expect(image.source == .network)
      widths[image.width, default: 0] += 1
    }
    #expect(widths == [16: 256, 32: 256, 64: 256, 128: 256])
    #expect(bench.server.count("/a.png") == 1)
    #expect(cache.statistics.transfers == 1)
    #expect(cache.statistics.decodes == 1)
  }

  @Test("requests with another User-Agent or sign-in method have fetches of their own")
  func others() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(steps: [.wait("gate"), .text("one")]))
    var site = Options()
    var requests: [Request] = []
    for name in [nil, "own"] {
      site.userAgent = name
      requests.append(try bench.cache.site(bench.server.url("/"), site).request("a"))
    }
    for how in [SignIn.basic, .digest] {
      var request = Request(bench.server.url("/a"))
      (request.user, request.signIn) = (("ann", "pw"), how)
      requests.append(request)
    }
    let tickets = try requests.map { try bench.cache.submit($0) }
    #expect(bench.server.gate("gate").waitUntilReached(4))
    bench.server.gate("gate").open()
    for ticket in tickets { #expect(try ticket.result().text == "one") }
    #expect(bench.server.count("/a") == 4 && bench.cache.statistics.joined == 0)
  }

  @Test("cancelling 999 of 1000 joined requests leaves the last one undisturbed")
  func cancelAllButOne() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(steps: [.text("one"), .wait("gate"), .text("two")]))
    let tickets = try (0..<1000).map { _ in try bench.cache.submit(Request(bench.server.url("/a"))) }
    #expect(bench.server.gate("gate").waitUntilReached(1))
    for ticket in tickets.dropLast() { ticket.cancel() }
    for ticket in tickets.dropLast() { #expect(try ticket.next()?.kind == .cancelled) }
    bench.server.gate("gate").open()
    #expect(try tickets[999].result().text == "onetwo")
    #expect(bench.server.count("/a") == 1)
  }

  @Test("cancelling all joined requests ends the transfer")
  func cancelAll() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(steps: [.text("one"), .wait("never"), .text("two")]))
    let tickets = try (0..<100).map { _ in try bench.cache.submit(Request(bench.server.url("/a"))) }
    #expect(bench.server.gate("never").waitUntilReached(1))
    for ticket in tickets { ticket.cancel() }
    #expect(bench.server.waitForDisconnect(1))
    #expect(bench.server.count("/a") == 1)
  }

  @Test("requests for bytes and for pictures of one URL share the fetch")
  func bytesAndPictures() throws {
    let bench = try Bench()
    let png = Pictures.png(width: 40, height: 30)
    bench.server.on("/a.png", Script.ok(png, type: "image/png").after(.wait("gate")))
    let bytes = try bench.cache.submit(Request(bench.server.url("/a.png")))
    #expect(bench.server.gate("gate").waitUntilReached(1))
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [ThumbnailBox(20), ThumbnailBox(10)]
    let pictures = try bench.cache.submit(request)
    bench.waitUntilJoined(1)
    bench.server.gate("gate").open()
    #expect(try bytes.result().withBody { Array($0) } == png)
    let event = try #require(try pictures.final())
    #expect(event.images.map(\.width) == [20, 10])
    #expect(bench.server.count("/a.png") == 1)
  }

  @Test("a joined request that reaches its own limit leaves without the others")
  func ownLimits() throws {
    let bench = try Bench()
    bench.server.on(
      "/a", Script(steps: [.chunk(text: "12345"), .wait("gate"), .chunk(text: "6789"), .lastChunk]))
    let patient = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("gate").waitUntilReached(1))
    var small = Request(bench.server.url("/a"))
    small.maxBytes = 7
    let modest = try bench.cache.submit(small)
    var short = Request(bench.server.url("/a"))
    short.deadline = .milliseconds(1)
    let hasty = try bench.cache.submit(short)
    #expect(try hasty.final()?.error?.code == .timeout)
    bench.server.gate("gate").open()
    #expect(try modest.final()?.error?.code == .tooLarge)
    #expect(try patient.result().text == "123456789")
    #expect(bench.server.count("/a") == 1)
  }

  @Test("a joined request for bytes gets the error page, the one for a picture an error")
  func errorPage() throws {
    let bench = try Bench()
    bench.server.on(
      "/a",
      Script(status: 404, headers: ["Content-Length": "4"], steps: [.head, .wait("gate"), .text("gone")]))
    var request = Request(bench.server.url("/a"))
    request.boxes = [ThumbnailBox(16)]
    let picture = try bench.cache.submit(request)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    // The head is out; it has come when another exchange with the server has ended after it.
    bench.server.on("/b", .ok("x"))
    _ = try bench.get("/b")
    let page = try bench.cache.submit(Request(bench.server.url("/a")))
    bench.server.gate("gate").open()
    #expect(try page.result().text == "gone")
    #expect(try picture.final()?.error?.code == .http)
  }

  @Test("an older request that ends later doesn't replace the newer stored answer")
  func overtaken() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    let fresh: HeaderLines = ["Cache-Control": "max-age=600", "Content-Length": "3"]
    bench.server.on(
      "/a",
      sequence: [
        Script(headers: fresh, steps: [.text("o"), .wait("gate"), .text("ld")]),
        Script(headers: fresh, steps: [.text("new")]),
      ])
    let slow = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("gate").waitUntilReached(1))
    clock.advance(seconds: 5)
    #expect(try bench.get("/a") { $0.policy = .reload }.text == "new")
    bench.server.gate("gate").open()
    #expect(try slow.result().text == "old")
    let stored = try bench.get("/a")
    #expect(stored.text == "new")
    #expect(stored.isInCache)
    #expect(bench.server.count("/a") == 2)
  }

  @Test("an answer is stored though the clock was set back since the one before")
  func clockSetBack() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    let fresh: HeaderLines = ["Cache-Control": "max-age=600"]
    bench.server.on(
      "/a",
      sequence: [
        Script(headers: fresh, steps: [.text("old")]), Script(headers: fresh, steps: [.text("new")]),
      ])
    #expect(try bench.get("/a").text == "old")
    clock.advance(seconds: -100_000)
    #expect(try bench.get("/a") { $0.policy = .reload }.text == "new")
    #expect(try bench.get("/a").text == "new")
  }

  @Test("requests with other headers or credentials don't share a fetch")
  func apart() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    var tickets = [try bench.cache.submit(Request(bench.server.url("/a")))]
    var other = Request(bench.server.url("/a"))
    other.headers = [("X-Kind", "other")]
    tickets.append(try bench.cache.submit(other))
    var user = Request(bench.server.url("/a"))
    user.user = ("a", "b")
    tickets.append(try bench.cache.submit(user))
    #expect(bench.server.gate("gate").waitUntilReached(3))
    bench.server.gate("gate").open()
    for ticket in tickets { #expect(try ticket.result().text == "x") }
    #expect(bench.server.count("/a") == 3)
  }
}

/// Values that several threads collect.
final class Collected<Value: Sendable>: @unchecked Sendable {
  private var lock = pthread_mutex_t()
  private var collected: [Value] = []

  init() { pthread_mutex_init(&lock, nil) }

  func add(_ value: Value) {
    pthread_mutex_lock(&lock)
    collected.append(value)
    pthread_mutex_unlock(&lock)
  }

  var values: [Value] {
    pthread_mutex_lock(&lock)
    defer { pthread_mutex_unlock(&lock) }
    return collected
  }
}
