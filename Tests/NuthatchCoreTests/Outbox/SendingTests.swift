import TestServer
import Testing

@testable import NuthatchCore

#if canImport(Glibc)
  import Glibc
#endif

@Suite("Sending from the outbox", .serialized) struct SendingTests {
  let bench: OutboxBench

  init() throws { bench = try OutboxBench() }

  @Test(
    "a frozen request is sent again after a 408, 425, 429, 500 or 503, with one key",
    arguments: [408, 425, 429, 500, 503])
  func again(_ status: Int) throws {
    let id = try bench.freeze("/a")
    bench.server.on("/a", sequence: [.status(status), .status(status), .ok("")])
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    let sent = bench.server.requests("/a")
    #expect(sent.count == 3 && Set(sent.map { $0.headers["Idempotency-Key"] }).count == 1)
    let item = try #require(try bench.list().first)
    #expect(item.history.suffix(2).allSatisfy { $0.status == status })
  }

  @Test("the outbox waits for a server's Retry-After, even if the network changes")
  func retryAfter() throws {
    let id = try bench.freeze("/a")
    bench.server.on("/a", .status(503, headers: ["Retry-After": "3600"]))
    try bench.server.goUp()
    try bench.wait { $0.first?.status == 503 }
    let wait = try #require(try bench.list().first?.wait)
    #expect(wait > 3500 && wait <= 3600)
    // A network that comes back doesn't make the server ready.
    bench.source.change()
    bench.server.on("/a", .ok(""))
    try bench.settle()
    #expect(bench.server.count("/a") == 1)
    #expect(try bench.list().map(\.id) == [id])
  }

  @Test(
    "a frozen request that a server refuses is put aside with reason and body, and can be replayed",
    arguments: [400, 404, 410, 422])
  func refused(_ status: Int) throws {
    let first = try bench.freeze("/a", "1")
    let second = try bench.freeze("/a", "2")
    bench.server.on("/a", sequence: [.status(status, body: "no such row"), .ok("")])
    try bench.server.goUp()
    let outcome = try bench.waitUntilEnded(first)
    #expect(!outcome.isDone && outcome.status == status && outcome.reason == "HTTP \(status)")
    #expect(outcome.body == Array("no such row".utf8))
    // It doesn't hold up the next request.
    #expect(try bench.waitUntilEnded(second).isDone)
    // It isn't collected by mistake, and survives.
    #expect(try bench.cache?.outbox.collect(first)?.isDone == false)
    bench.close()
    try bench.open()
    #expect(try bench.list().first?.state == .dead)
    #expect(try bench.cache?.outbox.replay(first) == true)
    #expect(try bench.waitUntilEnded(first).isDone)
    let sent = bench.server.requests("/a")
    #expect(sent.map { String(decoding: $0.body, as: UTF8.self) } == ["1", "2", "1"])
    #expect(sent[0].headers["Idempotency-Key"] == sent[2].headers["Idempotency-Key"])
  }

  @Test("a frozen request is put aside after its last attempt, or when it is too old")
  func limits() throws {
    let often = try bench.freeze("/a") { $0.freezing?.attempts = 3 }
    bench.server.on("/a", .status(500))
    try bench.server.goUp()
    let outcome = try bench.waitUntilEnded(often)
    #expect(!outcome.isDone && outcome.reason == "too many attempts: 3")
    #expect(bench.server.count("/a") == 3)
    // What was put aside for another reason than an answer still says how the last one was, and how often it was tried.
    let item = try #require(try bench.list().first)
    #expect(item.status == 500 && item.code == .timeout)
    #expect(item.attempts == item.history.count && item.history.last?.status == 500)
    #expect(outcome.status == 0 && outcome.response == nil)
    bench.server.goDown()
    let old = try bench.freeze("/a") { $0.freezing?.longest = .milliseconds(3_600_000) }
    bench.clock.move(running: 3_601_000_000_000)
    bench.source.change()
    #expect(try bench.waitUntilEnded(old).reason == "too old: it has waited for 3600 s")
    #expect(try bench.list().map(\.state) == [.dead, .dead])
  }

  @Test(
    "too many attempts or too high an age put a request aside without waiting for Retry-After",
    arguments: [
      (503, 1, 600_000, "too many attempts: 1"), (503, 9, 4000, "too old: it has waited for 4 s"),
      (403, 9, 4000, "too old: it has waited for 4 s"),
    ])
  func limitsInTime(_ status: Int, _ attempts: Int, _ longest: Int64, _ reason: String) throws {
    bench.server.on("/a", .status(status, headers: ["Retry-After": "3600"]))
    let id = try bench.freeze("/a") {
      $0.freezing?.attempts = attempts
      $0.freezing?.longest = .milliseconds(longest)
    }
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).reason == reason)
    // A machine that stops may use up the four seconds before.
    let sent = bench.server.count("/a")
    #expect(sent == 1 || longest == 4000 && sent == 0)
  }

  @Test("a replayed request keeps in its history the answers that it was put aside for")
  func historyOfReplayed() throws {
    let id = try bench.freeze("/a")
    bench.server.on("/a", sequence: [.status(422), .status(404), .ok("a")])
    try bench.server.goUp()
    for (number, status) in [422, 404].enumerated() {
      #expect(try bench.waitUntilEnded(id).status == status)
      let item = try #require(try bench.list().first)
      #expect(item.attempts - item.history.count == 1)
      #expect(item.history.compactMap { $0.status > 0 ? $0.status : nil } == Array([422].prefix(number)))
      #expect(try bench.cache?.outbox.replay(id) == true)
    }
    #expect(try bench.waitUntilEnded(id).isDone)
    // A cache that reads the log anew finds the same history.
    bench.close()
    try bench.open { $0.outbox = .off }
    let item = try #require(try bench.list().first)
    #expect(item.history.compactMap { $0.status > 0 ? $0.status : nil } == [422, 404])
    #expect(item.history.filter { $0.status > 0 }.map(\.reason) == ["HTTP 422", "HTTP 404"])
    #expect(item.attempts == item.history.count + 1)
  }

  @Test("a frozen request whose answer came but can't be decoded isn't sent again")
  func undecodable() throws {
    let id = try bench.freeze("/a")
    bench.server.on("/a", .status(200, headers: ["Content-Encoding": "gzip"], body: "no gzip at all"))
    try bench.server.goUp()
    let outcome = try bench.waitUntilEnded(id)
    #expect(!outcome.isDone && outcome.reason?.contains("Content-Encoding") == true)
    #expect(bench.server.count("/a") == 1)
    #expect(try bench.list().first?.code == .http)
  }

  @Test("sending has ended when a close returns, so that the next cache can drop the request")
  func closed() throws {
    // With another directory open the threads go on after a close.
    let other = try OutboxBench()
    defer { other.close() }
    let id = try bench.freeze("/a")
    bench.server.on("/a", Script(steps: [.wait("g"), .text("late")]))
    try bench.server.goUp()
    try bench.wait { $0.first?.state == .sending }
    // A disk that takes its time, so that a close that doesn't wait for it is noticed.
    bench.cache?.shared.outbox.serialQueue.submit { usleep(100_000) }
    bench.close()
    try bench.open { $0.outbox = .off }
    #expect(try bench.cache?.outbox.drop(id) == true)
    bench.server.gate("g").open()
  }

  @Test("a POST isn't sent again after its key's lifetime, unless that is unlimited")
  func keyLifetime() throws {
    for (resends, method, isSent) in [(false, "POST", false), (true, "POST", true), (false, "PUT", true)] {
      let bench = try OutboxBench { $0.outboxRules.base = 600_000_000_000 }
      try bench.server.goUp()
      // It may have arrived.
      bench.server.on("/a", Script(steps: [.reset], sendsHead: false))
      let id = try bench.freeze("/a") {
        $0.method = method
        if resends { $0.freezing?.keyLifetime = .none }
      }
      try bench.wait { $0.first?.state == .waiting && $0.first?.attempts == 1 }
      // The end of this attempt may begin the next one if the clock has moved by then.
      try bench.settle()
      bench.server.clearLog()
      bench.server.on("/a", .ok(""))
      bench.clock.move(running: 86_401_000_000_000)
      bench.source.change()
      let outcome = try bench.waitUntilEnded(id)
      #expect(outcome.isDone == isSent, "\(method): \(String(describing: outcome.reason))")
      #expect((bench.server.count("/a") > 0) == isSent)
    }
  }

  @Test("a frozen request that can't have reached its server is sent, however late")
  func lateFirst() throws {
    let id = try bench.freeze("/a")
    bench.clock.move(running: 3 * 86_400_000_000_000)
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    bench.source.change()
    #expect(try bench.waitUntilEnded(id).isDone)
  }

  @Test("a changed wall clock neither hurries nor stops frozen requests", arguments: [false, true])
  func clockBack(_ restarts: Bool) throws {
    let id = try bench.freeze("/a") { $0.freezing?.longest = .milliseconds(3_600_000) }
    try bench.wait { ($0.first?.attempts ?? 0) > 0 }
    if restarts { bench.close() }
    bench.clock.move(wall: -20 * 365 * 86_400_000_000_000, boot: restarts ? 8 : 7)
    if restarts { try bench.open() }
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    // And forward, while the machine runs.
    bench.server.goDown()
    let next = try bench.freeze("/a") { $0.freezing?.longest = .milliseconds(3_600_000) }
    bench.clock.move(wall: 20 * 365 * 86_400_000_000_000, boot: restarts ? 8 : 7)
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(next).isDone)
  }

  @Test("a server that is down doesn't hold up frozen requests to other servers")
  func origins() throws {
    let other = try OutboxBench()
    let blocked = try bench.freeze("/a")
    other.server.on("/b", .ok(""))
    let free = try bench.freeze("/a") { $0.url = other.url("/b") }
    try other.server.goUp()
    #expect(try bench.waitUntilEnded(free).isDone)
    #expect(try bench.list().first { $0.id == blocked }?.state != .done)
  }

  @Test("frozen requests are sent in order, one at a time for each queue, named or not")
  func order() throws {
    var expected: [String] = []
    for number in 0..<12 {
      _ = try bench.freeze("/a", "\(number)") { $0.freezing?.queue = number % 2 == 0 ? nil : "odd" }
      expected.append("\(number)")
    }
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    try bench.wait { $0.allSatisfy { $0.state == .done } }
    let bodies = bench.server.requests("/a").map { String(decoding: $0.body, as: UTF8.self) }
    #expect(bodies.filter { (Int($0) ?? 0) % 2 == 0 } == expected.filter { (Int($0) ?? 0) % 2 == 0 })
    #expect(bodies.filter { (Int($0) ?? 0) % 2 == 1 } == expected.filter { (Int($0) ?? 0) % 2 == 1 })
    #expect(bench.server.highWater() <= 2)
  }

  @Test("the outbox tries at once when the network changes or the host answers another request")
  func wakes() throws {
    bench.close()
    try bench.open { $0.outboxRules.base = 600_000_000_000 }
    bench.server.on("/a", .ok(""))
    let first = try bench.freeze("/a")
    try bench.wait { ($0.first?.attempts ?? 0) > 0 && $0.first?.state == .waiting }
    try bench.server.goUp()
    bench.source.change()
    #expect(try bench.waitUntilEnded(first).isDone)
    bench.server.goDown()
    let second = try bench.freeze("/a")
    try bench.wait { ($0.last?.attempts ?? 0) > 0 && $0.last?.state == .waiting }
    try bench.server.goUp()
    #expect(try bench.cache?.get(bench.url("/a")).status == 200)
    #expect(try bench.waitUntilEnded(second).isDone)
  }

  @Test("a dropped request is never sent, and one that is being sent can be dropped")
  func drops() throws {
    let first = try bench.freeze("/a", "1")
    let second = try bench.freeze("/a", "2")
    #expect(try bench.cache?.outbox.drop(first) == true)
    #expect(try bench.cache?.outbox.drop(first) == false)
    bench.server.on("/a", Script(steps: [.wait("g")]))
    try bench.server.goUp()
    #expect(bench.server.waitForRequests(1, path: "/a"))
    try bench.wait { $0.first?.state == .sending }
    #expect(try bench.cache?.outbox.drop(second) == true)
    #expect(try bench.list().isEmpty)
    bench.server.gate("g").open()
    #expect(bench.server.requests("/a").map { String(decoding: $0.body, as: UTF8.self) } == ["2"])
  }

  @Test("the outbox judges addresses at each attempt, by the request's own guard")
  func guarded() throws {
    let id = try bench.freeze("/a")
    bench.server.on("/a", .redirect(to: "http://169.254.169.254/latest", status: 307))
    try bench.server.goUp()
    let outcome = try bench.waitUntilEnded(id)
    #expect(!outcome.isDone && outcome.reason?.contains("169.254.169.254") == true)
    // The guard is the request's own, however the directory is opened: here behind another one, which then goes.
    bench.server.goDown()
    let first = try bench.freeze("/b") { $0.freezing?.queue = "strict" }
    let strict = try bench.freeze("/b") {
      $0.freezing?.queue = "strict"
      $0.addresses = .public
    }
    bench.close()
    try bench.open { $0.addresses = .any }
    #expect(try bench.cache?.outbox.drop(first) == true)
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(strict).isDone == false)
    #expect(try bench.list().last?.code == .denied)
    #expect(bench.server.count("/b") == 0)
  }

  @Test("a frozen request goes through its site's proxy, even if a later cache sends it")
  func proxied() throws {
    let proxy = try TestServer.start()
    defer { proxy.stop() }
    proxy.goDown()
    var options = Options()
    options.proxy = proxy.url("")
    let site = try #require(bench.cache).site(bench.url("/"), options)
    let ticket = try #require(bench.cache).submit(bench.request("/a") { $0 = $0.to(site) })
    let id = try #require(try ticket.final(within: 20_000)?.error?.outboxID)
    bench.server.on("/a", .ok("direct"))
    proxy.on("/a", .ok("by the proxy"))
    try bench.server.goUp()
    bench.close()
    try bench.open()
    try proxy.goUp()
    #expect(try bench.waitUntilEnded(id).body == Array("by the proxy".utf8))
    #expect(bench.server.count("/a") == 0)
    // A password that stands in it would be written.
    options.proxy = proxy.url("").replacing("http://", with: "http://ann:hush@")
    let secret = try #require(bench.cache).site(bench.url("/"), options)
    let error = #expect(throws: NuthatchError.self) {
      try bench.cache?.submit(bench.request("/a") { $0 = $0.to(secret) }).result()
    }
    #expect(error?.code == .secretNeedsProvider && error?.message.contains("hush") == false)
  }

  @Test("a frozen request follows its own number of redirects, whichever cache sends it")
  func redirects() throws {
    let ids = try [0, 1, nil].map { count in
      try bench.freeze("/a") {
        $0.redirects = count
        $0.freezing?.queue = "queue \(count ?? 10)"
      }
    }
    bench.close()
    // The sending cache's option counts for its own requests only.
    try bench.open { $0.redirects = 0 }
    bench.server.on("/a", .redirect(to: "/b", status: 307))
    bench.server.on("/b", .redirect(to: "/c", status: 307))
    bench.server.on("/c", .ok("done"))
    try bench.server.goUp()
    let ended = try ids.map { try bench.waitUntilEnded($0) }
    #expect(ended.map(\.isDone) == [false, false, true])
    #expect(ended[0].status == 307)
    #expect(try bench.list().first { $0.id == ids[1] }?.code == .tooManyRedirects)
  }

  @Test("outcomes go to the attached handler, again after a restart, until they are collected")
  func handlers() throws {
    bench.server.on("/a", .ok("ok"))
    let id = try bench.freeze("/a") { $0.freezing?.handler = "rows" }
    let other = try bench.freeze("/a") { $0.freezing?.handler = "others" }
    let mute = try bench.freeze("/a")
    try bench.server.goUp()
    // A close in the middle of one would have it sent again.
    try bench.wait { $0.allSatisfy { $0.state == .done } }
    for _ in 0..<2 {
      try bench.cache?.outbox.attach("rows")
      guard case .ended(let item) = try bench.cache?.nextNotice(within: 20_000) else {
        Issue.record("no outcome")
        return
      }
      #expect(item.id == id && item.state == .done && item.handler == "rows")
      #expect(try bench.cache?.outbox.outcome(id)?.body == Array("ok".utf8))
      try bench.settle()
      #expect(try bench.cache?.nextNotice(within: 0) == nil)
      bench.close()
      try bench.open()
    }
    try bench.wait { $0.allSatisfy { $0.state == .done } }
    #expect(try bench.cache?.outbox.collect(id)?.id == id)
    try bench.cache?.outbox.attach("rows")
    try bench.settle()
    #expect(try bench.cache?.nextNotice(within: 0) == nil)
    #expect(try bench.list().map(\.id) == [other, mute])
    #expect(bench.server.count("/a") == 3)
  }

  @Test("the outbox sends requests that another handle has frozen")
  func twoHandles() throws {
    let folder = bench.folder
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    // Frozen by a handle that doesn't send, seen by the one that does.
    var options = Options()
    options.outbox = .off
    let store = OutboxStore(folder, OutboxClock.system(.system), mostBytes: 1 << 20, mostItems: 10)
    let request = bench.request("/a")
    let plan = try RequestPlan(request, options)
    let frozen = try #require(plan.freezingPlan).frozen(
      plan, Ticket(url: request.url), at: store.clock.now(), exposed: nil, isLive: false)
    let id = try store.freeze(frozen)
    #expect(try bench.waitUntilEnded(id).isDone)
  }

  @Test("a closed cache leaves the outbox to others, even if its last look at it comes late")
  func lateLook() throws {
    let id = try bench.freeze("/a")
    try bench.wait { ($0.first?.attempts ?? 0) > 0 }
    // The test keeps the closed cache, and the runtime goes on.
    let (old, other) = (try #require(bench.cache), try Bench())
    let mayGoOn = Collected<Bool>()
    old.shared.outbox.serialQueue.submit { while mayGoOn.values.isEmpty { usleep(1000) } }
    bench.source.change()
    bench.close()
    // What it has posted on closing.
    try other.cache.waitForLoop()
    mayGoOn.add(true)
    let isThrough = Collected<Bool>()
    old.shared.outbox.serialQueue.submit { isThrough.add(true) }
    while isThrough.values.isEmpty { usleep(1000) }
    try bench.open()
    bench.server.on("/a", .ok(""))
    try bench.server.goUp()
    #expect(try bench.waitUntilEnded(id).isDone)
    #expect(old.path == bench.folder)
  }

  @Test("close(drain:) lets a frozen request that is being sent end")
  func drain() throws {
    _ = try bench.freeze("/a")
    bench.server.on("/a", Script(steps: [.head, .pause(milliseconds: 300), .text("slow")]))
    try bench.server.goUp()
    #expect(bench.server.waitForRequests(1, path: "/a"))
    bench.cache?.close(drain: 20_000)
    bench.close()
    try bench.open { $0.outbox = .off }
    #expect(try bench.list().map(\.state) == [.done])
    #expect(bench.server.count("/a") == 1)
  }

  @Test("watchReachability tells when a site can't be reached any more, and when it can again")
  func reachable() throws {
    let site = try #require(bench.cache).site(bench.url("/"))
    site.watchReachability()
    try bench.settle()
    func tell(_ expected: Bool) throws {
      guard case .reachability(let url, let isReachable) = try bench.cache?.nextNotice(within: 20_000) else {
        Issue.record("no notice")
        return
      }
      #expect(url == bench.url("/") && isReachable == expected && site.reachable == expected)
    }
    bench.server.on("/a", .ok(""))
    var request = Request(bench.url("/a"))
    request.retries = 0
    request.policy = .reload
    #expect(throws: NuthatchError.self) { try bench.cache?.submit(request).result() }
    try tell(false)
    try bench.server.goUp()
    #expect(try bench.cache?.submit(request).result().status == 200)
    try tell(true)
  }
}
