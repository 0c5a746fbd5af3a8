import TestServer
import Testing

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Freezing", .serialized) struct FreezingTests {
  let bench: OutboxBench

  init() throws { bench = try OutboxBench() }

  @Test(
    "a request whose server can't be reached is frozen, and sent when it can",
    arguments: ["POST", "PUT", "PATCH", "DELETE", "post"])
  func sends(_ spelled: String) throws {
    let method = spelled.uppercased()
    let id = try bench.freeze("/a") {
      $0.method = spelled
      $0.headers = [("Content-Type", "text/plain"), ("X-Row", "7")]
      $0.freezing?.handler = "rows"
      $0.tag = "t"
    }
    let item = try #require(try bench.list().first)
    #expect(item.id == id && item.method == method && item.handler == "rows" && item.tag == "t")
    #expect(item.bodyBytes == 5)
    bench.server.on("/a", .ok("thanks"))
    try bench.server.goUp()
    let outcome = try bench.waitUntilEnded(id)
    #expect(outcome.isDone && outcome.status == 200 && outcome.body == Array("thanks".utf8))
    #expect(outcome.handler == "rows" && outcome.reason == nil && outcome.url == bench.url("/a"))
    let sent = bench.server.requests("/a")
    #expect(sent.count == 1 && sent.first?.method == method && sent.first?.body == Array("seeds".utf8))
    #expect(sent.first?.headers["X-Row"] == "7" && sent.first?.headers["Content-Type"] == "text/plain")
    let key = try #require(sent.first?.headers["Idempotency-Key"])
    #expect(key == outcome.key && key.hasPrefix("\"") && key.hasSuffix("\"") && key.utf8.count == 38)
    #expect(try bench.cache?.outbox.collect(id)?.status == 200)
    #expect(try bench.list().isEmpty)
    #expect(try bench.cache?.outbox.collect(id) == nil)
  }

  @Test(
    "a freezable request with another method than POST, PUT, PATCH or DELETE is `invalid`",
    arguments: ["GET", "get", "HEAD", "OPTIONS", "TRACE", "PROPFIND"])
  func otherMethods(_ method: String) throws {
    let cache = try #require(bench.cache)
    for url in [bench.url("/a"), "data:,a"] {
      let caught = #expect(throws: NuthatchError.self) {
        try cache.submit(
          bench.request("/a", "") {
            $0.url = url
            $0.method = method
          })
      }
      #expect(caught?.code == .invalid && caught?.message.contains("freezable") == true)
    }
    #expect(!names(in: bench.folder).contains("outbox"))
  }

  @Test("a freezable request for a picture is `invalid`, even if the picture is in memory")
  func pictures() throws {
    let cache = try #require(bench.cache)
    bench.server.on("/a.png", Script(steps: [.bytes(Pictures.png(width: 40, height: 30))]))
    try bench.server.goUp()
    for delivery in [Delivery.fresh, .twice] {
      var request = Request(bench.url("/a.png"))
      request.boxes = [ThumbnailBox(16)]
      request.delivery = delivery
      #expect(try cache.submit(request).final()?.images.count == 1)
      request.freezable = true
      let caught = #expect(throws: NuthatchError.self) { try cache.submit(request) }
      #expect(caught?.code == .invalid)
    }
  }

  @Test("a request that isn't freezable fails and makes no outbox")
  func notAskedFor() throws {
    let ticket = try #require(bench.cache).submit(
      bench.request("/a", "") {
        $0.retries = 0
        $0.freezable = false
      })
    #expect(try ticket.final(within: 20_000)?.error?.code == .refused)
    #expect(try bench.list().isEmpty)
    #expect(!names(in: bench.folder).contains("outbox"))
  }

  @Test(
    "a request that is resubmitted keeps its Idempotency-Key until it has succeeded",
    arguments: [nil, "\"7\""])
  func submittedAgain(_ own: String?) throws {
    let cache = try #require(bench.cache)
    bench.server.on("/a", sequence: [.status(409), .status(500), .ok("thanks"), .status(409), .ok("thanks")])
    try bench.server.goUp()
    var ticket = try cache.submit(
      bench.request("/a") { if let own { $0.headers = [("idempotency-key", own)] } })
    for isSuccess in [false, false, true, false, true] {
      #expect(try ticket.result().isSuccess == isSuccess)
      ticket = try cache.resubmit(ticket)
    }
    _ = try ticket.result()
    let keys = bench.server.requests("/a").map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 6 && keys[0] == keys[1] && keys[1] == keys[2] && keys[3] == keys[4])
    #expect(keys[3] == own || own == nil && keys[3] != nil && Set(keys).count == 3)
  }

  @Test("a freezable request with an answer of any status isn't frozen", arguments: [200, 404, 503])
  func answers(_ status: Int) throws {
    bench.server.on("/a", .status(status))
    try bench.server.goUp()
    for isDurable in [false, true] {
      let ticket = try #require(bench.cache).submit(
        bench.request("/a") { $0.freezing?.isDurable = isDurable })
      #expect(try ticket.result().status == status)
    }
    try bench.wait { $0.isEmpty }
    #expect(bench.server.count("/a") == 2)
    let keys = bench.server.requests("/a").compactMap { $0.headers["Idempotency-Key"] }
    #expect(Set(keys).count == 2)
  }

  @Test("a request is frozen at the first fault, before any retry, and keeps its key")
  func firstFault() throws {
    bench.server.on("/a", sequence: [Script(steps: [.reset], sendsHead: false), .ok("done")])
    try bench.server.goUp()
    let id = try bench.freeze("/a") { $0.method = "PUT" }
    #expect(try bench.waitUntilEnded(id).isDone)
    let keys = bench.server.requests("/a").map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 2 && keys[0] == keys[1] && keys[0] != nil)
  }

  @Test("a frozen request keeps the caller's own Idempotency-Key")
  func ownKey() throws {
    let id = try bench.freeze("/a") { $0.headers = [("idempotency-key", "mine 1")] }
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(bench.server.requests("/a").first?.headers["Idempotency-Key"] == "mine 1")
  }

  @Test("a request is frozen at its deadline if nothing has come")
  func deadline() throws {
    bench.server.on("/a", sequence: [Script(steps: [.wait("never")]), .ok("")])
    try bench.server.goUp()
    let id = try bench.freeze("/a") { $0.deadline = .milliseconds(300) }
    #expect(try bench.waitUntilEnded(id).isDone)
    bench.server.gate("never").open()
  }

  @Test("frozen requests outlive the process, and are sent in order by the next one with an outbox")
  func restart() throws {
    let ids = try (0..<3).map { try bench.freeze("/\($0)", "body \($0)") }
    bench.close()
    for number in 0..<3 { bench.server.on("/\(number)", .ok("")) }
    try bench.server.goUp()
    try bench.open { $0.outbox = .off }
    try bench.settle()
    #expect(bench.server.count() == 0)
    #expect(try bench.list().map(\.id) == ids)
    bench.close()
    try bench.open()
    try bench.wait { $0.allSatisfy { $0.state == .done } }
    #expect(bench.server.requests.map(\.path) == ["/0", "/1", "/2"])
  }

  @Test("a request joins the end of its queue if others wait there, so that none overtakes")
  func behind() throws {
    bench.close()
    try bench.open { $0.outbox = .off }
    let first = try bench.freeze("/a", "1")
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    let second = try bench.freeze("/a", "2")
    #expect(bench.server.count() == 0)
    // Another queue has nothing to wait for.
    let ticket = try #require(bench.cache).submit(bench.request("/a", "3") { $0.freezing?.queue = "other" })
    #expect(try ticket.result().status == 200)
    bench.close()
    try bench.open()
    #expect(try bench.waitUntilEnded(second).isDone && bench.waitUntilEnded(first).isDone)
    #expect(bench.server.requests("/a").map { String(decoding: $0.body, as: UTF8.self) } == ["3", "1", "2"])
  }

  @Test("60 requests submitted at once are frozen in their order", arguments: [false, true])
  func together(_ isDurable: Bool) throws {
    bench.close()
    try bench.open { $0.outbox = .off }
    let tickets = try (0..<60).map { number in
      try #require(bench.cache).submit(
        bench.request("/a", "\(number)") {
          $0.tag = "\(number)"
          $0.freezing?.isDurable = isDurable
        })
    }
    for ticket in tickets { #expect(try ticket.final(within: 20_000)?.kind == .frozen) }
    #expect(try bench.list().map(\.tag) == (0..<60).map { "\($0)" })
  }

  @Test("a failed request waits to be frozen for those submitted before, but not beyond its deadline")
  func turns() throws {
    bench.server.on("/slow", Script(steps: [.wait("g"), .reset], sendsHead: false))
    bench.server.on("/reset", Script(steps: [.reset], sendsHead: false))
    try bench.server.goUp()
    bench.close()
    try bench.open { $0.outbox = .off }
    let cache = try #require(bench.cache)
    let first = try cache.submit(bench.request("/slow"))
    #expect(bench.server.waitForRequests(1, path: "/slow"))
    let second = try cache.submit(bench.request("/reset"))
    #expect(bench.server.waitForRequests(1, path: "/reset"))
    let cancelled = try cache.submit(bench.request("/reset"))
    #expect(bench.server.waitForRequests(2, path: "/reset"))
    let hasty = try cache.submit(bench.request("/reset") { $0.deadline = .milliseconds(300) })
    cancelled.cancel()
    let id = try #require(try hasty.final(within: 20_000)?.error?.outboxID)
    #expect(first.state != .done)
    bench.server.gate("g").open()
    let ids = try [first, second].map { try #require(try $0.final(within: 20_000)?.error?.outboxID) }
    #expect(ids[0] < ids[1])
    try bench.wait { $0.map(\.id) == [id] + ids }
  }

  @Test("a long body is frozen in a file of its own, and deleted after it was sent")
  func longBody() throws {
    let body = String(repeating: "0123456789", count: 300_000)
    let id = try bench.freeze("/a", body)
    let files = names(in: bench.folder + "/outbox").filter { $0.hasPrefix("body-") }
    #expect(files.count == 1)
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    let isEqual = bench.server.requests("/a").first?.body == Array(body.utf8)
    #expect(isEqual)
    #expect(names(in: bench.folder + "/outbox").allSatisfy { !$0.hasPrefix("body-") })
  }

  @Test("a frozen request whose body is damaged on disk is put aside")
  func damagedBody() throws {
    let id = try bench.freeze("/a", String(repeating: "x", count: 100_000))
    bench.close()
    let name = try #require(names(in: bench.folder + "/outbox").first { $0.hasPrefix("body-") })
    let fd = open(bench.folder + "/outbox/" + name, O_WRONLY)
    pwrite(fd, "y", 1, 50_000)
    close(fd)
    try bench.server.goUp()
    try bench.open()
    let outcome = try bench.waitUntilEnded(id)
    #expect(!outcome.isDone && outcome.reason == "its body is damaged on disk")
    #expect(bench.server.count() == 0)
  }

  @Test("freezing beyond outbox_items or outbox_bytes is `no_space`, and evicts nothing")
  func full() throws {
    bench.close()
    try bench.open {
      $0.outboxItems = 2
      $0.outboxBytes = 10_000
    }
    let first = try bench.freeze("/a")
    let large = try #require(bench.cache).submit(bench.request("/a", String(repeating: "x", count: 20_000)))
    #expect(try large.final(within: 20_000)?.error?.code == .noSpace)
    let second = try bench.freeze("/a")
    let third = try #require(bench.cache).submit(bench.request("/a"))
    #expect(try third.final(within: 20_000)?.error?.code == .noSpace)
    #expect(try bench.list().map(\.id) == [first, second])
  }

  @Test("a cancel that comes first undoes the freezing")
  func cancelled() throws {
    bench.server.on("/a", Script(steps: [.wait("g")]))
    try bench.server.goUp()
    for isDurable in [false, true] {
      let ticket = try #require(bench.cache).submit(
        bench.request("/a") { $0.freezing?.isDurable = isDurable })
      #expect(bench.server.waitForRequests(isDurable ? 2 : 1, path: "/a"))
      ticket.cancel()
      #expect(try ticket.final()?.kind == .cancelled)
    }
    try bench.wait { $0.isEmpty }
    bench.server.gate("g").open()
  }

  @Test("a durable request is written before its first attempt, and sent after a close")
  func durable() throws {
    bench.server.on("/a", Script(steps: [.wait("g")]))
    try bench.server.goUp()
    let ticket = try #require(bench.cache).submit(bench.request("/a") { $0.freezing?.isDurable = true })
    #expect(bench.server.waitForRequests(1, path: "/a"))
    #expect(try bench.list().count == 1)
    bench.close()
    #expect(try ticket.final()?.error?.code == .closed)
    bench.server.gate("g").open()
    bench.server.on("/a", .ok("second"))
    try bench.open()
    let id = try #require(try bench.list().first?.id)
    #expect(try bench.waitUntilEnded(id).body == Array("second".utf8))
    let keys = bench.server.requests("/a").map { $0.headers["Idempotency-Key"] }
    #expect(keys.count == 2 && keys[0] == keys[1], "\(keys)")
  }

  @Test("a close doesn't send a durable request again whose first attempt it ends")
  func sentByClose() throws {
    bench.server.on("/a", Script(steps: [.wait("g")]))
    try bench.server.goUp()
    let ticket = try #require(bench.cache).submit(bench.request("/a") { $0.freezing?.isDurable = true })
    #expect(bench.server.waitForRequests(1, path: "/a"))
    nonisolated(unsafe) let bench = bench
    let wasSettled = Collected<Bool>()
    ticket.whenFinal { _ in
      // Runs during the close, which waits for it.
      bench.server.gate("g").open()
      wasSettled.add((try? bench.settle()) != nil)
    }
    bench.close()
    #expect(wasSettled.values == [true])
    #expect(bench.server.count("/a") == 1)
    try bench.open()
    try bench.wait { $0.isEmpty || $0.first?.state == .done }
    #expect(bench.server.count("/a") == 2)
  }

  @Test(
    "a request whose challenge is answered keeps one key and one outbox record",
    arguments: [false, true], [false, true])
  func challenged(_ isDurable: Bool, _ breaks: Bool) throws {
    try bench.server.goUp()
    bench.server.on("/a") { request in
      if request.headers["X-Token"] != "hush-new" { return .status(401) }
      return breaks ? Script(steps: [.reset], sendsHead: false) : .ok("welcome")
    }
    let ticket = try #require(bench.cache).submit(
      bench.request("/a") {
        $0.headers = [("X-Token", "hush-old")]
        $0.asks = [.challenge]
        $0.freezing?.isDurable = isDurable
        $0.freezing?.secrets = [.init("X-Token", provider: "token")]
      })
    let event = try ticket.final(
      within: 20_000, answering: { _ in .headers([("X-Token", "hush-new")]) })
    #expect(event?.kind == (breaks ? .frozen : .fresh))
    let keys = bench.server.requests("/a").map { $0.headers["Idempotency-Key"] }
    // However often it was sent.
    #expect(keys.count >= 2 && Set(keys).count == 1 && keys[0] != nil)
    #expect(try !contains("hush", in: bench.folder))
    guard breaks else {
      try bench.wait { $0.isEmpty }
      // The next cache has nothing to send.
      bench.close()
      try bench.open()
      try bench.settle()
      #expect(try bench.list().isEmpty)
      return #expect(bench.server.count("/a") == 2)
    }
    #expect(try bench.list().map(\.key) == [keys[0]])
    bench.server.on("/a", .ok(""))
    try bench.cache?.outbox.provide("token", "hush-new")
    #expect(try bench.waitUntilEnded(event?.error?.outboxID ?? 0).isDone)
  }

  @Test(
    "a request whose deadline comes while its program is asked is frozen, and holds up no other",
    arguments: [false, true], [false, true])
  func askedTooLong(_ isDurable: Bool, _ isAnswered: Bool) throws {
    bench.server.on("/a", .ok("a"))
    try bench.server.goUp()
    let cache = try #require(bench.cache)
    let ticket = try cache.submit(
      bench.request("/a") {
        $0.asks = [.headers]
        $0.deadline = .milliseconds(50)
        $0.freezing?.isDurable = isDurable
      })
    // On a busy machine the deadline may come before the question is taken.
    let first = try #require(try ticket.next(within: 20_000))
    if isAnswered, let question = first.question {
      // At about the same time: whichever comes first, there is one end, and one record at most.
      usleep(.random(in: 30_000...60_000))
      try? ticket.answer(question, .headers([("X-Late", "1")]))
    }
    let kind = try first.isFinal ? first.kind : #require(try ticket.final(within: 20_000)?.kind)
    #expect(kind == .frozen || isAnswered && kind == .fresh)
    if let question = first.question {
      #expect(throws: NuthatchError.self) { try ticket.answer(question, .headers([("X-Late", "1")])) }
    }
    // Others of its queue go on.
    let next = try cache.submit(bench.request("/a") { $0.freezing?.isDurable = isDurable })
    #expect(try next.final(within: 20_000)?.isFinal == true)
    try bench.wait { $0.allSatisfy { $0.state == .done } }
    #expect(try cache.waitUntilIdle(within: 20_000))
    #expect(Set(bench.server.requests("/a").map { $0.headers["Idempotency-Key"] }).count <= 2)
  }

  @Test("a durable request that is being sent holds up no other, of this process or another")
  func besideDurable() throws {
    bench.server.on("/slow", Script(steps: [.wait("g")]))
    bench.server.on("/a", .ok("a"))
    try bench.server.goUp()
    let cache = try #require(bench.cache)
    let slow = try cache.submit(bench.request("/slow") { $0.freezing?.isDurable = true })
    #expect(bench.server.waitForRequests(1, path: "/slow"))
    for isDurable in [false, true] {
      let ticket = try cache.submit(bench.request("/a") { $0.freezing?.isDurable = isDurable })
      #expect(try ticket.result().text == "a")
    }
    // As another process sees it.
    let queue = try #require(try bench.list().first?.queue)
    let other = OutboxStore(bench.folder, OutboxClock.system(.system), mostBytes: 1 << 20, mostItems: 10)
    #expect(try !other.isBehind(queue, own: { _ in false }))
    bench.server.gate("g").open()
    #expect(try slow.result().status == 200)
  }

  @Test("a durable request's record is removed when its ticket fails for another reason")
  func failed() throws {
    bench.server.on("/a", .truncated(announced: 10, sent: [1]))
    try bench.server.goUp()
    let ticket = try #require(bench.cache).submit(bench.request("/a") { $0.freezing?.isDurable = true })
    #expect(try ticket.final(within: 20_000)?.error?.code == .truncated)
    try bench.wait { $0.isEmpty }
    #expect(bench.server.count("/a") == 1)
  }

  @Test("clear and trim leave the outbox alone")
  func clear() throws {
    let id = try bench.freeze("/a")
    try bench.cache?.clear()
    try bench.cache?.trim(to: 0)
    #expect(try bench.list().map(\.id) == [id])
  }
}
