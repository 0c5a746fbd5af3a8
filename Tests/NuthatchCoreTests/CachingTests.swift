import TestServer
import Testing

@testable import NuthatchCore

/// Which answers are stored, for which user, and for how long.
@Suite("Stored answers") struct CachingTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench {
      $0.clock = clock.wall
      $0.diskBytes = 4 << 20
    }
  }

  private func thumbnail(_ path: String, _ change: (inout Request) -> Void = { _ in }) throws -> Image {
    try bench.thumbnail(path, 16, change)
  }

  @Test("a picture is stored for a week if the server says nothing, for a day with a validator")
  func pictures() throws {
    bench.server.on("/plain.png", .ok(Pictures.png(width: 40, height: 20)))
    bench.server.on(
      "/tagged.png", Script(headers: ["ETag": "\"1\""], steps: [.bytes(Pictures.png(width: 20, height: 40))]))
    for path in ["/plain.png", "/tagged.png"] {
      #expect(try thumbnail(path).source == .network)
      clock.advance(seconds: 80_000)
      #expect(try thumbnail(path).isInCache)
      #expect(bench.server.count(path) == 1)
    }
    clock.advance(seconds: 7000)
    #expect(try thumbnail("/plain.png").isInCache)
    #expect(try thumbnail("/tagged.png").source == .network)
    clock.advance(seconds: 604_800)
    #expect(try thumbnail("/plain.png").source == .network)
  }

  @Test("answers and pictures are stale when the clock was set back, also those in memory")
  func clockSetBack() throws {
    let month: Int64 = 30 * 86_400
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=3600"], steps: [.text("x")]))
    bench.server.on("/a.png", .ok(Pictures.png(width: 40, height: 20)))
    var picture = Request(bench.server.url("/a.png"))
    picture.boxes = [ThumbnailBox(16)]
    func prospects() throws -> [StoredAnswerInfo.Prospect?] {
      try [Request(bench.server.url("/a")), picture].map { try bench.cache.inspect($0)?.prospect }
    }
    for (round, back): (Int, Int64) in [(1, 0), (2, month), (3, 6)] {
      clock.advance(seconds: -back)
      for isFirst in [true, false] {
        #expect(try thumbnail("/a.png").isInCache == !isFirst)
        #expect(try bench.get("/a") { $0.delivery = .fresh }.isInCache == !isFirst)
        #expect(try bench.cache.peek(bench.server.url("/a.png"), size: 16) != nil)
        #expect(try bench.cache.peekResponse(bench.server.url("/a")) != nil)
      }
      #expect(bench.server.count("/a") == round && bench.server.count("/a.png") == round)
      #expect(try prospects() == [.hit, .hit])
      // A clock that is corrected by seconds makes nothing stale.
      clock.advance(seconds: -5)
      #expect(try thumbnail("/a.png").isInCache)
      #expect(try bench.get("/a").isInCache)
      clock.advance(seconds: 5)
    }
    clock.advance(seconds: -month)
    #expect(try prospects() == [.revalidate, .revalidate])
    #expect(try bench.cache.peek(bench.server.url("/a.png"), size: 16) == nil)
    #expect(try bench.cache.peekResponse(bench.server.url("/a")) == nil)
    var listed: [Bool] = []
    try bench.cache.forEachAnswer {
      listed.append($0.isFresh)
      return true
    }
    #expect(listed == [false, false])
  }

  @Test("a text without a lifetime is revalidated by the next request")
  func texts() throws {
    bench.server.on("/a", Script(headers: ["ETag": "\"1\""], steps: [.text("x")], answersConditions: true))
    #expect(try bench.get("/a").source == .network)
    #expect(try bench.get("/a") { $0.delivery = .fresh }.source == .revalidated)
    #expect(bench.server.count("/a") == 2)
  }

  @Test("another size of a stored picture costs no fetch")
  func otherSize() throws {
    bench.server.on("/a.png", .ok(Pictures.png(width: 400, height: 200)))
    #expect(try bench.thumbnail("/a.png", 64).width == 64)
    let other = try bench.thumbnail("/a.png", 32)
    #expect(other.width == 32 && other.isInCache && other.originalWidth == 400)
    #expect(bench.server.count("/a.png") == 1)
  }

  @Test("a thumbnail is made anew when the picture at its URL has changed")
  func changedSource() throws {
    bench.server.on(
      "/a.png",
      sequence: [
        Script(
          headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 40, height: 20))]),
        Script(
          headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 20, height: 40))]),
      ])
    #expect(try thumbnail("/a.png").height == 8)
    clock.advance(seconds: 100)
    #expect(try thumbnail("/a.png").height == 16)
    #expect(try thumbnail("/a.png").height == 16)
  }

  @Test("a stored answer belongs to the credentials or the partition that asked for it")
  func partitions() throws {
    bench.server.on("/a") { request in
      Script(
        headers: ["Cache-Control": "max-age=60"], steps: [.text(request.headers["Authorization"] ?? "nobody")]
      )
    }
    func text(_ user: (name: String, password: String)?) throws -> String {
      try bench.get("/a") { $0.user = user }.text
    }
    let anna = try text((name: "anna", password: "1"))
    #expect(try text(nil) == "nobody")
    #expect(try text((name: "bert", password: "1")) != anna)
    #expect(try text((name: "anna", password: "1")) == anna)
    #expect(bench.server.count("/a") == 3)
    // A name stands for credentials that change.
    for password in ["x", "y"] {
      _ = try bench.get("/a") {
        $0.user = ("carl", password)
        $0.partition = "carl"
      }
    }
    #expect(bench.server.count("/a") == 4)
  }

  @Test("a stored answer belongs to one Host, if requests name another one than the URL's")
  func hosts() throws {
    bench.server.on("/a") { request in
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.text(request.headers["Host"] ?? "none")])
    }
    func text(_ host: String?, partition: String? = nil) throws -> String {
      try bench.get("/a") {
        if let host { $0.headers = [("Host", host)] }
        $0.partition = partition
      }.text
    }
    let own = bench.server.url("").replacing("http://", with: "")
    for _ in 0..<2 {
      #expect(try text("a.example") == "a.example")
      #expect(try text("b.example") == "b.example")
      #expect(try text(nil) == own)
      #expect(try text("a.example", partition: "anna") == "a.example")
      #expect(try text("b.example", partition: "anna") == "b.example")
    }
    // Saying what would be said anyway makes no difference.
    #expect(try text(own) == own && text("A.Example") == "a.example")
    #expect(bench.server.count("/a") == 5)
  }

  @Test("no file of the cache holds a password, token or cookie of a request")
  func secrets() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    let url = bench.server.url("/a").replacing("http://", with: "http://anna:opensesame@")
    _ = try bench.cache.get(url)
    _ = try bench.get("/a") { $0.headers = [("X-Api-Key", "opensesame")] }
    bench.server.on(
      "/varies",
      Script(headers: ["Cache-Control": "max-age=60", "Vary": "Cookie, Authorization"], steps: [.text("x")]))
    _ = try bench.get("/varies") {
      $0.headers = [("Cookie", "id=opensesame"), ("Authorization", "Bearer opensesame")]
    }
    bench.cache.close()
    #expect(!(try contains("opensesame", in: bench.folder)))
    #expect(try contains("127.0.0.1", in: bench.folder))
  }

  @Test("stored answers differ by the fields that Vary names")
  func vary() throws {
    bench.server.on("/a") { request in
      Script(
        headers: ["Cache-Control": "max-age=60", "Vary": "Accept-Language"],
        steps: [.text(request.headers["Accept-Language"] ?? "none")])
    }
    for _ in 0..<2 {
      for language in ["de", "en"] {
        #expect(try bench.get("/a") { $0.headers = [("Accept-Language", language)] }.text == language)
      }
    }
    #expect(try bench.get("/a").text == "none")
    #expect(bench.server.count("/a") == 3)
  }

  @Test("an answer or a redirect with no-store isn't stored")
  func noStore() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "no-store"], steps: [.text("x")]))
    bench.server.on("/hop", Script(status: 302, headers: ["Location": "/b", "Cache-Control": "no-store"]))
    bench.server.on("/b", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    for _ in 0..<2 {
      #expect(!(try bench.get("/a").isInCache))
      #expect(!(try bench.get("/hop").isInCache))
    }
  }

  @Test("a 404 removes the stored answer, a 503 doesn't")
  func gone() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    _ = try bench.get("/a")
    clock.advance(seconds: 100)
    bench.server.on("/a", Script(status: 503))
    #expect(try bench.get("/a") { $0.delivery = .fresh }.isStale)
    bench.server.on("/a", Script(status: 404))
    #expect(try bench.get("/a") { $0.delivery = .fresh }.status == 404)
    bench.server.on("/a", Script(status: 503))
    #expect(try bench.get("/a") { $0.delivery = .fresh }.status == 503)
  }

  @Test("a POST removes the stored answer of its URL")
  func invalidation() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    _ = try bench.get("/a")
    #expect(try bench.get("/a").isInCache)
    _ = try bench.get("/a") { $0.method = "POST" }
    #expect(!(try bench.get("/a").isInCache))
  }

  @Test("a page in the place of a picture doesn't replace the stored picture")
  func captivePortal() throws {
    bench.server.on(
      "/a.png",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 40, height: 20))]))
    #expect(try thumbnail("/a.png").width == 16)
    clock.advance(seconds: 100)
    bench.server.on("/a.png", .ok("<html>pay first</html>", type: "text/html"))
    #expect(throws: NuthatchError.self) { try thumbnail("/a.png") }
    #expect(try thumbnail("/a.png") { $0.policy = .offline }.width == 16)
    bench.server.on("/a.png", .redirect(to: "/portal"))
    bench.server.on("/portal", .ok("<html>pay first</html>", type: "text/html"))
    _ = try bench.get("/a.png") { $0.delivery = .fresh }
    #expect(try thumbnail("/a.png") { $0.policy = .offline }.width == 16)
  }

  @Test("a body that may have been cut off isn't stored, unless it is a whole picture")
  func closeDelimited() throws {
    let png = Pictures.png(width: 40, height: 20)
    let head = "HTTP/1.0 200 OK\r\nCache-Control: max-age=60\r\n\r\n"
    bench.server.on("/whole.png", .raw([.raw(text: head), .raw(png), .close]))
    bench.server.on("/cut.png", .raw([.raw(text: head), .raw(Array(png.dropLast(200))), .close]))
    bench.server.on("/text", .raw([.raw(text: head), .raw(text: "some"), .close]))
    for path in ["/whole.png", "/cut.png", "/text"] { _ = try bench.get(path) }
    #expect(try bench.get("/whole.png").isInCache)
    #expect(!(try bench.get("/cut.png").isInCache))
    #expect(!(try bench.get("/text").isInCache))
  }

  @Test("a stored answer from a private address isn't given to a request for public ones")
  func guarded() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    _ = try bench.get("/a")
    #expect(try bench.get("/a").isInCache)
    #expect(try bench.failure("/a") { $0.addresses = .public }.code == .denied)
  }

  @Test("an answer under the caller's cacheKey, or without its query, is found by other URLs")
  func keys() throws {
    bench.server.on(
      prefix: "/a", { _ in Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]) })
    _ = try bench.get("/a?signature=1") { $0.cacheKey = "picture 1" }
    #expect(try bench.get("/a?signature=2") { $0.cacheKey = "picture 1" }.isInCache)
    _ = try bench.get("/a?token=1") { $0.ignoreQuery = true }
    #expect(try bench.get("/a?token=2") { $0.ignoreQuery = true }.isInCache)
  }

  @Test("an empty cacheKey is refused as `invalid`")
  func emptyKeys() throws {
    bench.server.on("/a", .ok("x"))
    for url in [bench.server.url("/a"), "data:,a"] {
      var request = Request(url)
      request.cacheKey = ""
      for boxes in [[], [ThumbnailBox(16)]] {
        request.boxes = boxes
        let caught = #expect(throws: NuthatchError.self) { try bench.cache.submit(request) }
        #expect(caught?.code == .invalid && caught?.message.contains("key") == true)
      }
    }
    #expect(bench.server.count("/a") == 0)
  }

  @Test("an answer that max-stale accepts says that it is stale")
  func tolerated() throws {
    bench.server.on("/a", .ok("x").with("Cache-Control", "max-age=10"))
    func get(_ wish: String) throws -> Response {
      try bench.get("/a") { $0.headers = [("Cache-Control", wish)] }
    }
    #expect(try !get("max-stale").isStale)
    #expect(try !get("max-stale").isStale)
    clock.advance(seconds: 100)
    #expect(try get("max-stale").isStale && get("max-stale=200").isInCache)
    #expect(bench.server.count("/a") == 1)
    #expect(try !get("max-age=1000").isStale && bench.server.count("/a") == 2)
  }

  @Test("an offline request gets stored answers of any age, and no others")
  func offline() throws {
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    #expect(try bench.failure("/a") { $0.policy = .offline }.code == .offline)
    _ = try bench.get("/a")
    clock.advance(seconds: 1_000_000)
    #expect(try bench.get("/a") { $0.policy = .offline }.text == "x")
    #expect(bench.server.count("/a") == 1)
  }

  @Test("a reload replaces the stored answer")
  func reload() throws {
    bench.server.on("/a") { request in
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("\(request.number)")])
    }
    let first = try bench.get("/a").text
    #expect(try bench.get("/a").text == first)
    let second = try bench.get("/a") { $0.policy = .reload }.text
    #expect(second != first)
    #expect(try bench.get("/a").text == second)
  }
}

@Suite("Failed URLs") struct FailedURLTests {
  @Test("a URL that failed as a picture isn't fetched again for a minute, except for its bytes")
  func remembered() throws {
    let bench = try Bench()
    bench.server.on("/a", .ok("no picture"))
    bench.server.on("/b", Script(status: 404))
    bench.server.on("/c", Script(status: 500))
    for (path, code) in [("/a", ErrorCode.notAnImage), ("/b", .http), ("/c", .http)] {
      for _ in 0..<3 {
        let error = try #require(throws: NuthatchError.self) { try bench.thumbnail(path, 16) }
        #expect(error.code == code)
      }
    }
    #expect(bench.server.count("/a") == 1)
    #expect(bench.server.count("/b") == 1)
    #expect(bench.server.count("/c") == 3)
    let error = try #require(throws: NuthatchError.self) { try bench.thumbnail("/b", 16) }
    #expect((1...60).contains(error.retryAfter ?? 0))
    #expect(try bench.get("/b").status == 404)
    #expect(bench.server.count("/b") == 2)
  }
}

@Suite("Failed URLs with limits") struct FailedLimitTests {
  @Test("a picture with too many pixels for one request is fetched for a request that allows more")
  func limits() throws {
    let bench = try Bench()
    bench.server.on("/a.png", .ok(Pictures.png(width: 40, height: 20)))
    func thumbnail(_ pixels: Int) throws -> Image {
      try bench.cache.thumbnail(
        Request(bench.server.url("/a.png")),
        {
          var options = ImageOptions(ThumbnailBox(8))
          options.maxPixels = pixels
          return options
        }())
    }
    for _ in 0..<2 {
      let error = try #require(throws: NuthatchError.self) { try thumbnail(100) }
      #expect(error.code == .tooManyPixels)
    }
    #expect(bench.server.count("/a.png") == 1)
    #expect(try thumbnail(10_000).width == 8)
  }
}

@Suite("Redirects to another host in the queue") struct RedirectQueueTests {
  @Test("1000 redirects to another host keep to that host's limit, and are all hits the second time")
  func thousand() throws {
    let bench = try Bench()
    let other = try TestServer.start()
    defer { other.stop() }
    let target = other.url("")
    bench.server.on(prefix: "/r/") { request in
      .redirect(to: target + request.target)
    }
    other.on(prefix: "/r/") { _ in
      Script(headers: ["Cache-Control": "max-age=600"], steps: [.pause(milliseconds: 1), .text("x")])
    }
    for round in 0..<2 {
      let tickets = try (0..<1000).map { try bench.cache.submit(Request(bench.server.url("/r/\($0)"))) }
      for ticket in tickets {
        let event = try #require(try ticket.final(within: 60_000))
        #expect(event.response?.text == "x")
        #expect(event.isInCache == (round == 1))
      }
    }
    #expect(other.highWater() <= 6)
    #expect(bench.server.count() == 1000)
    #expect(other.count() == 1000)
  }

  @Test("an attempt after a redirect to another host waits for a place at the first host")
  func again() throws {
    let bench = try Bench { $0.retryPolicy.base = 1 }
    let (other, third) = (try TestServer.start(), try TestServer.start())
    defer {
      other.stop()
      third.stop()
    }
    third.on(prefix: "/") { _ in .ok("x") }
    let target = other.url("")
    bench.server.on(prefix: "/r/") { .redirect(to: target + $0.target) }
    bench.server.on(prefix: "/slow/") { _ in Script.ok("x").after(.wait("gate")) }
    other.on(prefix: "/r/") { _ in Script(status: 503, steps: [.wait("gate")]) }
    var tickets = try (0..<6).map { number in
      var request = Request(bench.server.url("/r/\(number)"))
      request.retries = 1
      return try bench.cache.submit(request)
    }
    #expect(other.gate("gate").waitUntilReached(6))
    tickets += try (0..<6).map { try bench.cache.submit(Request(bench.server.url("/slow/\($0)"))) }
    #expect(bench.server.gate("gate").waitUntilReached(6))
    other.on(prefix: "/r/") { _ in .ok("x") }
    other.gate("gate").open()
    #expect(other.waitForAnswers(6))
    // When these have ended, the queue knows of the six answers, and would have sent the second attempts.
    for number in 0..<3 { _ = try bench.cache.get(third.url("/\(number)")) }
    bench.server.gate("gate").open()
    for ticket in tickets { #expect(try ticket.result().text == "x") }
    #expect(bench.server.highWater() == 6)
  }
}

@Suite("A cache in use") struct CacheUseTests {
  @Test("cancelAll cancels requests by their tag")
  func tags() throws {
    let bench = try Bench()
    bench.server.on(prefix: "/", { _ in Script.ok("x").after(.wait("gate")) })
    func submit(_ path: String, _ tag: String?) throws -> Ticket {
      var request = Request(bench.server.url(path))
      request.tag = tag
      return try bench.cache.submit(request)
    }
    let (one, two, three) = (try submit("/1", "a"), try submit("/2", "b"), try submit("/3", nil))
    bench.cache.cancelAll(tag: "a")
    #expect(try one.final()?.kind == .cancelled)
    bench.server.gate("gate").open()
    #expect(try two.result().text == "x")
    #expect(try three.result().text == "x")
  }

  @Test("remove deletes the stored answer of a URL")
  func removes() throws {
    let bench = try Bench()
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    _ = try bench.get("/a")
    #expect(try bench.get("/a").isInCache)
    try bench.cache.remove(bench.server.url("/a"))
    #expect(!(try bench.get("/a").isInCache))
    #expect(throws: NuthatchError.self) { try bench.cache.remove("nonsense") }
  }

  @Test("an urgent request passes waiting requests")
  func priorities() throws {
    let bench = try Bench()
    bench.server.on(prefix: "/slow/", { _ in Script.ok("x").after(.wait("gate")) })
    bench.server.on(prefix: "/later/", { _ in .ok("x") })
    // Six at a time go to one host.
    let slow = try (0..<6).map { try bench.cache.submit(Request(bench.server.url("/slow/\($0)"))) }
    #expect(bench.server.gate("gate").waitUntilReached(6))
    let later = try (0..<10).map { try bench.cache.submit(Request(bench.server.url("/later/\($0)"))) }
    later[9].setPriority(5)
    // The queue knows all requests that were submitted before this answer.
    let other = try TestServer.start()
    defer { other.stop() }
    other.on("/", .ok("x"))
    _ = try bench.cache.get(other.url("/"))
    // One place is free, so that they go one after the other.
    bench.server.gate("gate").admit()
    for ticket in later { _ = try ticket.result() }
    bench.server.gate("gate").open()
    for ticket in slow { _ = try ticket.result() }
    let order = (0..<10).map { bench.server.requests("/later/\($0)")[0].number }
    #expect(order.min() == order[9])
  }

  @Test("close waits for revalidations behind stale answers")
  func closeWaits() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("old")]))
    _ = try bench.get("/a")
    clock.advance(seconds: 100)
    bench.server.on(
      "/a",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.pause(milliseconds: 100), .text("new")]))
    #expect(try bench.get("/a") { $0.delivery = .first }.text == "old")
    // A close waits for 2 s at most.
    #expect(bench.server.waitForRequests(2, path: "/a"))
    bench.cache.close()
    var options = TestOptions()
    options.clock = clock.wall
    let again = try Cache(path: bench.folder, options: options)
    defer { again.close() }
    var request = Request(bench.server.url("/a"))
    request.policy = .offline
    #expect(try again.submit(request).result().text == "new")
  }

  @Test("an only-if-cached request never asks the server")
  func onlyIfCached() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    bench.server.on("/a", Script(headers: ["Cache-Control": "max-age=60"], steps: [.text("x")]))
    let wish = [("Cache-Control", "only-if-cached")]
    #expect(try bench.failure("/a") { $0.headers = wish }.code == .offline)
    _ = try bench.get("/a")
    #expect(try bench.get("/a") { $0.headers = wish }.text == "x")
    clock.advance(seconds: 100)
    #expect(
      try bench.failure("/a") {
        $0.headers = wish
        $0.delivery = .fresh
      }.code == .offline)
    #expect(bench.server.count("/a") == 1)
  }
}
