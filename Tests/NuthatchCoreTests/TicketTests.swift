import CSystem
import Glibc
import NuthatchCore
import Synchronization
import TestServer
import Testing

@Suite("Tickets") struct TicketTests {
  @Test("a ticket doesn't keep the bytes of an answer that was taken")
  func taken() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    weak var response: Response?
    do {
      let taken = try ticket.result()
      response = taken
      #expect(taken.text == "x")
    }
    // The loop's thread may hold it for another moment; what is asked of it next comes after that.
    _ = try bench.get("/a")
    #expect(response == nil)
    #expect(throws: NuthatchError.self) { try ticket.result() }
    #expect(ticket.state == .done)
  }

  @Test("a ticket has exactly one final event")
  func oneFinal() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    let event = try #require(try ticket.next())
    #expect(event.kind == .fresh)
    #expect(event.response?.text == "x")
    #expect(ticket.state == .done)
    let error = try #require(throws: NuthatchError.self) { try ticket.next(within: 0) }
    #expect(error.code == .invalid)
    ticket.cancel()
    #expect(ticket.state == .done)
  }

  @Test("a ticket can be resubmitted after a failure, a cancel or an answer")
  func again() throws {
    let bench = try Bench()
    let site = try bench.cache.site(bench.server.url("/"))
    var asking = site.request("a")
    asking.retries = 0
    asking.headers = [("X-Row", "7")]
    asking.tag = "t"
    var posting = asking
    posting.method = "POST"
    posting.body = Array("seeds".utf8)
    posting.asks = [.headers]
    var form = posting
    form.asks = []
    form.upload = .form([FormPart("kind", "hazel")])
    for (gate, request) in [("ask", asking), ("post", posting), ("form", form)] {
      bench.server.goDown()
      let first = try bench.cache.submit(request)
      func end(_ ticket: Ticket) throws -> Event? {
        try ticket.final(within: 20_000) { _ in .headers([("X-Token", "hazel")]) }
      }
      #expect(try end(first)?.error?.code == .refused)
      try bench.server.goUp()
      bench.server.clearLog()
      bench.server.on("/a", Script.ok("x").after(.wait(gate)))
      let second = try bench.cache.resubmit(first)
      #expect(second !== first && second.tag == "t" && second.url == "a")
      if !request.asks.isEmpty { #expect(try second.next(within: 20_000)?.kind == .question) }
      site.cancelAll()
      #expect(second.state == .cancelled)
      bench.server.gate(gate).open()
      bench.server.on("/a", .ok("x"))
      bench.server.clearLog()
      let third = try bench.cache.resubmit(second)
      #expect(try end(third)?.response?.text == "x")
      // The cancelled one may come to its end later.
      let sent = try #require(bench.server.requests("/a").last { $0.outcome == .answered })
      #expect(sent.headers["X-Row"] == "7" && sent.method == request.method)
      #expect(request.asks.isEmpty || sent.headers["X-Token"] == "hazel")
      #expect(request.upload == nil || sent.body.count > 50)
    }
  }

  @Test("a ticket that was answered from memory can't be resubmitted, and the error says so")
  func notAgain() throws {
    let bench = try Bench()
    bench.server.on("/a.png", .ok(Pictures.png(width: 8, height: 8), type: "image/png"))
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [ThumbnailBox(4)]
    for _ in 0..<2 { _ = try bench.cache.submit(request).final() }
    let shown = try bench.cache.submit(request)
    let error = #expect(throws: NuthatchError.self) { try bench.cache.resubmit(shown) }
    #expect(error?.code == .invalid)
  }

  @Test("cancelling a ticket ends it and its transfer at once")
  func cancel() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("never")))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.gate("never").waitUntilReached(1))
    #expect(bench.cache.activity == 1)
    ticket.cancel()
    ticket.cancel()
    #expect(ticket.state == .cancelled)
    let error = try #require(throws: NuthatchError.self) { try ticket.result() }
    #expect(error.code == .cancelled)
    #expect(bench.server.waitForDisconnect())
    #expect(bench.cache.activity == 0)
  }

  @Test("20 tickets that are cancelled at any moment end once each", arguments: 0..<50)
  func cancelRace(round: Int) throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let ends = Atomic<Int>(0)
    let tickets = try (0..<20).map { _ in try bench.cache.submit(Request(bench.server.url("/a"))) }
    for ticket in tickets { ticket.whenFinal { _ in ends.add(1, ordering: .relaxed) } }
    for _ in 0..<(round * 40) { _ = nhs_monotonic_ns() }
    for ticket in tickets { ticket.cancel() }
    for ticket in tickets { #expect(try ticket.next() != nil) }
    // The last observers may be running still, on the loop's thread.
    let end = nhs_monotonic_ns() + 30_000_000_000
    while ends.load(ordering: .relaxed) < 20, nhs_monotonic_ns() < end { sched_yield() }
    #expect(ends.load(ordering: .relaxed) == 20)
  }

  @Test("a ticket's end is shown to its beforeFinal observer first")
  func witness() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    let seen = Atomic<Int>(0)
    ticket.beforeFinal { event in
      #expect(event.response?.text == "x")
      // A cancel comes too late now, and a poll too early.
      ticket.cancel()
      #expect(!ticket.hasNews && ticket.take() == nil && ticket.state == .running)
      seen.add(1, ordering: .relaxed)
    }
    let order = Atomic<Int>(0)
    ticket.whenFinal { _ in order.store(seen.load(ordering: .relaxed), ordering: .relaxed) }
    bench.server.gate("gate").open()
    #expect(try ticket.result().text == "x")
    #expect(seen.load(ordering: .relaxed) == 1)
    bench.cache.close()
    #expect(order.load(ordering: .relaxed) == 1)
    ticket.beforeFinal { event in seen.add(event.error?.code == .invalid ? 1 : 5, ordering: .relaxed) }
    #expect(seen.load(ordering: .relaxed) == 2)
  }

  @Test("a ticket goes on when a wait for it ends early")
  func earlyWait() throws {
    let bench = try Bench()
    bench.server.on("/a", Script.ok("x").after(.wait("gate")))
    let ticket = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(try ticket.next(within: 0) == nil)
    #expect(try ticket.next(within: 10) == nil)
    bench.server.gate("gate").open()
    #expect(try ticket.result().text == "x")
  }

  @Test("a request goes on if its ticket is dropped")
  func abandoned() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    _ = try bench.cache.submit(Request(bench.server.url("/a")))
    #expect(bench.server.waitForAnswers(1))
  }
}

@Suite("Caches") struct CacheTests {
  @Test("a closed cache ends its requests with `closed` and takes no more")
  func close() throws {
    let bench = try Bench()
    bench.server.on(prefix: "/a/") { _ in Script.ok("x").after(.wait("never")) }
    let tickets = try (0..<3).map { try bench.cache.submit(Request(bench.server.url("/a/\($0)"))) }
    #expect(bench.server.gate("never").waitUntilReached(3))
    bench.cache.close()
    bench.cache.close()
    for ticket in tickets {
      let error = try #require(throws: NuthatchError.self) { try ticket.result() }
      #expect(error.code == .closed)
    }
    let error = try #require(throws: NuthatchError.self) { try bench.get("/a") }
    #expect(error.code == .closed)
    #expect(bench.server.waitForDisconnect(3))
  }

  @Test("an answer stays readable after its cache was closed")
  func answersStay() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let response = try bench.get("/a")
    bench.cache.close()
    #expect(response.text == "x")
  }

  @Test("closing one handle of a directory leaves the others open")
  func others() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("x"))
    let second = try Cache(path: bench.folder)
    bench.cache.close()
    #expect(try second.get(bench.server.url("/a")).text == "x")
    second.close()
    let third = try Cache(path: bench.folder)
    #expect(try third.get(bench.server.url("/a")).text == "x")
  }

  @Test("a cache creates its directory for the owner only")
  func directory() throws {
    let base = try Bench.makeFolder()
    let path = "\(base)/a/b"
    let cache = try Cache(path: path)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    cache.close()
    for folder in [path, "\(base)/a", base] { rmdir(folder) }
  }

  @Test("a cache can't be opened where its directory can't be created")
  func noDirectory() throws {
    for path in ["/dev/null", "/dev/null/x", "/proc/nothing/x"] {
      let error = try #require(throws: NuthatchError.self) { try Cache(path: path) }
      #expect(error.code == .io)
      #expect(error.message.contains(path.hasPrefix("/proc") ? "/proc/nothing" : "/dev/null"), "\(error)")
    }
    #expect(throws: NuthatchError.self) { try Cache(path: "") }
  }
}
