import Glibc
import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

/// A remembered answer must be the one that the handle would read from the store.
@Suite("Remembered answers") struct RecallTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench { $0.clock = clock.wall }
  }

  private func put(_ path: String, _ text: String, control: String = "max-age=60", vary: String? = nil) {
    var headers: HeaderLines = [
      "Cache-Control": control, "ETag": "\"\(text)\"", "Content-Type": "text/plain",
    ]
    if let vary {
      headers = ["Cache-Control": control, "ETag": "\"\(text)\"", "Vary": vary, "Age": "3", "age": "4"]
    }
    bench.server.on(path, Script(headers: headers, steps: [.bytes(Array(text.utf8))]))
  }

  /// Returns the remembered answer. While another test truncates its files there is none until the store has checked its own,
  /// which a peek makes it do.
  private func hit(_ url: String) throws -> Response? {
    for _ in 0..<10_000 {
      if let found = url.withBytes({ bench.cache.instant.hit($0) }) { return found }
      _ = try bench.cache.peekResponse(url)
      usleep(1000)
    }
    return nil
  }

  /// Everything that a caller can see of the answer.
  private func told(_ response: Response?) -> [String] {
    guard let response else { return ["nothing"] }
    return [
      response.url, response.finalURL, "\(response.status) \(response.reason)", "\(response.headers)",
      "\(response.isInCache) \(response.source) \(response.isStale) \(response.isCut)", "\(response.age)",
      "\(response.redirects) \(response.interim.count) \(response.timings)",
      response.withBody { String(decoding: $0, as: UTF8.self) },
    ]
  }

  @Test("a remembered answer's age grows, and a stale one isn't found")
  func expiry() throws {
    put("/a", "hazel")
    let url = bench.server.url("/a")
    _ = try bench.cache.get(url)
    for age in [0, 0, 1, 2, 2, 58, 59] {
      clock.advance(seconds: Int64(age) - (try bench.cache.peekResponse(url)?.age ?? 0))
      let seen = try #require(try bench.cache.peekResponse(url))
      #expect(seen.age == age && seen.header("Age") == "\(age)" && seen.text == "hazel")
      #expect(seen.headers.count { $0.name.lowercased() == "age" } == 1)
    }
    clock.advance(seconds: 1)
    #expect(try bench.cache.peekResponse(url) == nil)
    // A request doesn't get the stale answer either.
    #expect(try bench.cache.get(url).source != .disk)
    #expect(bench.server.count("/a") == 2)
  }

  @Test("a request gets a remembered answer at once, counted as a hit, and can be resubmitted")
  func requests() throws {
    put("/a", "hazel")
    let url = bench.server.url("/a")
    _ = try bench.cache.get(url)
    for delivery in [Delivery.fresh, .first, .twice] {
      let before = bench.cache.statistics.hits
      var request = Request(url)
      request.delivery = delivery
      request.tag = "t"
      let ticket = try bench.cache.submit(request)
      #expect(ticket.state == .done && ticket.tag == "t")
      let event = try #require(try ticket.next(within: 0))
      #expect(event.kind == .cached && event.isFinal && event.source == .disk)
      #expect(event.response?.text == "hazel" && event.response?.url == url)
      #expect(try bench.cache.resubmit(ticket).result().text == "hazel")
      #expect(try hit(url)?.text == "hazel")
      #expect(bench.cache.statistics.hits == before + 3)
    }
    #expect(bench.server.count("/a") == 1)
  }

  @Test("a remembered answer isn't given to requests with other options")
  func otherwise() throws {
    put("/a", "hazel")
    let url = bench.server.url("/a")
    _ = try bench.cache.get(url)
    #expect(try bench.cache.peekResponse(url) != nil)
    func isHit(_ change: (inout Request) -> Void) throws -> Bool {
      var request = Request(url)
      change(&request)
      return try bench.cache.submit(request).result().source == .disk
    }
    #expect(try isHit { _ in })
    #expect(try !isHit { $0.policy = .reload })
    #expect(try !isHit { $0.user = ("anna", "1") })
    #expect(try !isHit { $0.partition = "other" })
    #expect(try !isHit { $0.headers = [("Cache-Control", "no-cache")] })
    #expect(throws: NuthatchError.self) { try isHit { $0.maxBytes = 2 } }
    #expect(try isHit { $0.headers = [("Range", "bytes=1-2")] })
    var part = Request(url)
    part.headers = [("Range", "bytes=1-2")]
    #expect(try bench.cache.submit(part).result().text == "az")
  }

  @Test("a remembered answer pins no pack, and isn't found once its body is gone")
  func body() throws {
    put("/a", "hazel")
    let url = bench.server.url("/a")
    _ = try bench.cache.get(url)
    _ = try bench.cache.peekResponse(url)
    let key = try #require(
      bench.cache.shared.reader.record(
        RequestPlan(Request(url), bench.cache.options, bench.cache.instant.termsCache))?.0
        .content
    ).bytes
    try bench.cache.upkeep { (store) throws(StoreFault) in _ = try store.remove(RecordKey(.body, key)) }
    #expect(try bench.cache.peekResponse(url) == nil)
    #expect(try bench.cache.get(url).text == "hazel")
    #expect(bench.server.count("/a") == 2)
    #expect(try bench.cache.peekResponse(url)?.text == "hazel")
    try bench.cache.clear()
    #expect(try bench.cache.storeStatistics().pinnedBytes == 0)
    #expect(try bench.cache.peekResponse(url) == nil)
  }

  @Test(
    "a remembered answer is always the one that another handle reads, under random operations",
    arguments: 0..<6)
  func model(seed: Int) throws {
    var random = Seeded(state: UInt64(seed))
    let paths = (0..<4).map { "/\($0)" }
    let controls = [
      "max-age=60", "max-age=5", "max-age=100000", "no-cache", "max-age=30, stale-while-revalidate=9",
    ]
    let options = bench.cache.options
    var hits = 0
    for step in 0..<400 {
      let path = paths.randomElement(using: &random) ?? "/0"
      let url = bench.server.url(path)
      switch Int.random(in: 0..<12, using: &random) {
      case 0:
        put(
          path, "text \(step)", control: controls.randomElement(using: &random) ?? "no-cache",
          vary: Bool.random(using: &random) ? "Accept" : nil)
        var request = Request(url)
        request.policy = .reload
        _ = try bench.cache.submit(request).result()
      case 1: try bench.cache.remove(url)
      case 2: clock.advance(seconds: [1, 1, 4, 61].randomElement(using: &random) ?? 1)
      case 3: clock.advance(seconds: -2)
      case 4 where step % 7 == 0: try bench.cache.clear()
      case 5: if bench.server.requests(path).isEmpty { put(path, "first") }; _ = try? bench.cache.get(url)
      default: break
      }
      let other = try Cache(path: bench.folder, options: options)
      defer { other.close() }
      let expected = told(try other.peekResponse(url))
      #expect(told(try bench.cache.peekResponse(url)) == expected, "step \(step)")
      if expected.count > 1 { hits += 1 }
    }
    #expect(hits > 40)
  }

  @Test("threads get no removed remembered answer while answers come and go")
  func threads() throws {
    put("/a", "0", control: "max-age=100000")
    let url = bench.server.url("/a")
    let (cache, clock) = (bench.cache, clock)
    let (rounds, done, faults) = (60, Collected<Int>(), Collected<String>())
    let peekers = (0..<3).map { _ in
      TestThread {
        while true {
          let before = done.values.count
          if before >= rounds { return }
          guard let answer = try? cache.peekResponse(url), let number = Int(answer.text) else { continue }
          // An answer that was removed before the peek must not be found.
          if number < before { faults.add("\(number) in round \(before)") }
          if answer.header("ETag") != "\"\(number)\"" { faults.add("the head of another") }
        }
      }
    }
    for round in 0..<rounds {
      put("/a", "\(round)", control: "max-age=100000")
      try cache.remove(url)
      #expect(try cache.get(url).text == "\(round)")
      if round % 8 == 0 { clock.advance(seconds: 1) }
      #expect(try cache.peekResponse(url)?.text == "\(round)")
      try cache.remove(url)
      done.add(1)
    }
    for peeker in peekers { peeker.join() }
    #expect(faults.values.isEmpty)
  }
}
