import Foundation
import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

/// Pictures and answers that can be shown at once, and those that must not be shown any more.
@Suite("Peeks") struct PeekTests {
  let clock = TestClock()
  let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench {
      $0.clock = clock.wall
      $0.memoryBytes = 2 << 20
    }
  }

  private func put(_ path: String, _ seed: Int = 0, control: String = "max-age=60", vary: String? = nil) {
    var headers: HeaderLines = ["Cache-Control": control, "ETag": "\"\(seed)\""]
    if let vary { headers = ["Cache-Control": control, "ETag": "\"\(seed)\"", "Vary": vary] }
    bench.server.on(
      path, Script(headers: headers, steps: [.bytes(Pictures.png(width: 200, height: 100 + seed))]))
  }

  private func peek(_ path: String, _ size: Int = 128, decode: Bool = false) throws -> Image? {
    try bench.cache.peek(bench.server.url(path), size: size, decode: decode)
  }

  /// Whether two peeks give the same object. While a mapping fails in another test, what was found is looked for again.
  private func isRemembered(_ peek: () throws -> Image?) -> Bool {
    var isSame = false
    waitUntil {
      guard let first = try? peek() else { return false }
      isSame = (try? peek()) === first
      return isSame
    }
    return isSame
  }

  private func forgetMemory() throws {
    try bench.cache.upkeep { (store) throws(StoreFault) in store.relieve(.critical) }
  }

  @Test("a peek finds a picture in memory, at its size only, and never asks the network")
  func hit() throws {
    put("/a.png")
    #expect(try peek("/a.png") == nil)
    let made = try bench.thumbnail("/a.png", 128)
    let seen = try #require(try peek("/a.png"))
    #expect(
      seen.isInCache && seen.source == .memory && !seen.isStale && seen.url == bench.server.url("/a.png"))
    #expect(seen.width == 128 && seen.originalWidth == 200 && seen.finalURL == made.finalURL)
    #expect(made.picture === seen.picture)
    // The second time it is the same object.
    #expect(isRemembered { try peek("/a.png") })
    #expect(try peek("/a.png", 100) == nil)
    #expect(try bench.cache.peek(bench.server.url("/a.png"), ThumbnailBox(128, fit: .cover)) == nil)
    #expect(try bench.cache.peek(bench.server.url("/a.png?"), size: 128) == nil)
    #expect(bench.server.count("/a.png") == 1)
  }

  @Test(
    "a cache that keeps no pixels in memory takes the picture from the disk each time",
    arguments: [true, false])
  func withoutPixels(_ keeps: Bool) throws {
    let bench = try Bench { $0.keepsPixels = keeps }
    bench.server.on(
      "/a.png",
      Script(
        headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 200, height: 100))]))
    // Larger than pixels that are stored as they are.
    let made = try bench.thumbnail("/a.png", 128)
    for _ in 0..<2 {
      let again = try bench.thumbnail("/a.png", 128)
      #expect(again.isInCache && again.source == (keeps ? .memory : .disk))
      #expect(again.width == made.width && again.height == made.height)
    }
    #expect(bench.server.count("/a.png") == 1)
  }

  @Test("a peeked picture's age grows, and a stale one isn't found")
  func expiry() throws {
    put("/a.png")
    _ = try bench.thumbnail("/a.png", 128)
    #expect(try peek("/a.png")?.age == 0)
    clock.advance(seconds: 7)
    #expect(try peek("/a.png")?.age == 7)
    clock.advance(seconds: 52)
    #expect(try peek("/a.png")?.age == 59)
    clock.advance(seconds: 1)
    #expect(try peek("/a.png") == nil)
    #expect(try bench.thumbnail("/a.png", 128).source != .memory)
    #expect(try peek("/a.png")?.age == 0)
  }

  @Test("peekResponse finds a body while it is fresh")
  func bodies() throws {
    put("/a.png", control: "max-age=60")
    let url = bench.server.url("/a.png")
    #expect(try bench.cache.peekResponse(url) == nil)
    let first = try bench.cache.get(url)
    clock.advance(seconds: 59)
    let seen = try #require(try bench.cache.peekResponse(url))
    #expect(seen.isInCache && !seen.isStale && seen.age == 59 && seen.url == url && seen.status == 200)
    #expect(seen.bodySize == first.bodySize && seen.header("etag") == "\"0\"")
    clock.advance(seconds: 1)
    #expect(try bench.cache.peekResponse(url) == nil)
    #expect(bench.server.count("/a.png") == 1)
    bench.cache.shutdown()
    #expect(throws: NuthatchError.self) { try bench.cache.peekResponse(url) }
  }

  @Test("a peek finds stale pictures if the policy is offline, and none under reload")
  func policies() throws {
    put("/a.png")
    _ = try bench.thumbnail("/a.png", 128)
    clock.advance(seconds: 1000)
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [ThumbnailBox(128)]
    #expect(try bench.cache.peek(request) == nil)
    request.policy = .offline
    #expect(try bench.cache.peek(request)?.age == 1000)
    request.policy = .reload
    #expect(try bench.cache.peek(request) == nil)
  }

  @Test("a peek finds no removed picture")
  func removed() throws {
    put("/a.png")
    for _ in 0..<3 {
      _ = try bench.thumbnail("/a.png", 128)
      #expect(try peek("/a.png") != nil && peek("/a.png") != nil)
      try bench.cache.remove(bench.server.url("/a.png"))
      #expect(try peek("/a.png") == nil)
    }
    _ = try bench.thumbnail("/a.png", 128)
    #expect(try peek("/a.png") != nil)
    try bench.cache.clear()
    #expect(try peek("/a.png") == nil)
  }

  @Test("a peek finds the new picture after another handle has fetched it")
  func replaced() throws {
    put("/a.png")
    _ = try bench.thumbnail("/a.png", 128)
    #expect(try peek("/a.png")?.originalHeight == 100)
    put("/a.png", 20)
    let options = bench.cache.options
    let other = try Cache(path: bench.folder, options: options)
    defer { other.close() }
    var request = Request(bench.server.url("/a.png"))
    request.policy = .reload
    _ = try other.thumbnail(request, ImageOptions(ThumbnailBox(128)))
    #expect(try peek("/a.png")?.originalHeight == 120)
    #expect(try peek("/a.png")?.originalHeight == 120)
  }

  @Test("a peek of an answer that varies finds the current one, and none after a removal")
  func varying() throws {
    put("/a.png", vary: "Accept")
    _ = try bench.thumbnail("/a.png", 128)
    #expect(try peek("/a.png") != nil && peek("/a.png") != nil)
    put("/a.png", 7, vary: "Accept")
    _ = try bench.thumbnail("/a.png", 128) { $0.policy = .reload }
    #expect(try peek("/a.png")?.originalHeight == 107)
    try bench.cache.remove(bench.server.url("/a.png"))
    #expect(try peek("/a.png") == nil)
  }

  @Test("peeks keep no pixels that the memory tier has evicted")
  func evicted() throws {
    put("/a.png")
    weak var picture: Picture?
    do {
      let made = try bench.thumbnail("/a.png", 128)
      #expect(try peek("/a.png") != nil)
      picture = made.picture
    }
    #expect(picture != nil)
    // Two megabytes, of 32 KB each.
    for number in 1...120 {
      put("/\(number).png", number)
      _ = try bench.thumbnail("/\(number).png", 128)
      // Used as often as the first one: else that one stays. Another test of this process may say that memory is short.
      _ = try peek("/\(number).png")
    }
    #expect(picture == nil)
    #expect(try peek("/a.png") == nil || peek("/a.png")?.source == .disk)
  }

  @Test("a peek decodes a packed thumbnail only if `decode` is set")
  func packed() throws {
    bench.server.on(
      "/a.png",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 200, height: 200))])
    )
    _ = try bench.thumbnail("/a.png", 128)
    let cache = bench.cache
    try forgetMemory()
    let url = bench.server.url("/a.png")
    #expect(try cache.peek(url, size: 128) == nil)
    #expect(try cache.peek(url, size: 128, decode: true)?.width == 128)
    // From then on it is in memory.
    #expect(try cache.peek(url, size: 128)?.source == .memory)
    #expect(bench.server.count("/a.png") == 1)
  }

  @Test("a peek finds raw thumbnails on disk and doesn't pin their pack")
  func raw() throws {
    put("/a.png")
    _ = try bench.thumbnail("/a.png", 64)
    let cache = bench.cache
    try forgetMemory()
    let url = bench.server.url("/a.png")
    weak var picture: Picture?
    do {
      let seen = try #require(try cache.peek(url, size: 64))
      #expect(seen.source == .disk && seen.isInCache && seen.width == 64)
      #expect(isRemembered { try cache.peek(url, size: 64) })
      picture = seen.picture
    }
    #expect(picture != nil)
    try cache.clear()
    #expect(try cache.peek(url, size: 64) == nil)
    #expect(picture == nil)
  }

  @Test("a peek finds records that are in memory only")
  func unwritten() throws {
    let clock = clock
    let bench = try Bench {
      $0.clock = clock.wall
      $0.spill = .pressure
    }
    bench.server.on(
      "/a.png",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 200, height: 200))])
    )
    let url = bench.server.url("/a.png")
    _ = try bench.thumbnail("/a.png", 128)
    #expect(try bench.cache.peek(url, size: 128) != nil && bench.cache.peek(url, size: 128) != nil)
    try bench.cache.flush()
    #expect(try bench.cache.peek(url, size: 128) != nil)
    try bench.cache.remove(url)
    #expect(try bench.cache.peek(url, size: 128) == nil)
  }

  @Test("a peek finds only pictures of the credentials that it has")
  func partitions() throws {
    put("/a.png")
    func request(_ name: String?) -> Request {
      var request = Request(bench.server.url("/a.png"))
      request.boxes = [ThumbnailBox(128)]
      request.user = name.map { ($0, "1") }
      return request
    }
    _ = try bench.thumbnail("/a.png", 128) { $0.user = ("anna", "1") }
    #expect(try bench.cache.peek(request("anna")) != nil)
    #expect(try bench.cache.peek(request("bert")) == nil)
    #expect(try bench.cache.peek(request(nil)) == nil)
    #expect(try peek("/a.png") == nil)
  }

  @Test("a peek finds nothing if the program would be asked for headers")
  func unasked() throws {
    put("/a.png")
    _ = try bench.thumbnail("/a.png", 128)
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [ThumbnailBox(128)]
    #expect(try bench.cache.peek(request) != nil)
    request.asks = [.headers]
    #expect(try bench.cache.peek(request) == nil)
    #expect(try bench.cache.peek(request, decode: true) == nil)
  }

  @Test("a peek with a bad URL, size or closed cache throws")
  func wrong() throws {
    func code(_ body: () throws -> Image?) throws -> ErrorCode? {
      try #require(throws: NuthatchError.self) { _ = try body() }.code
    }
    let cache = bench.cache
    #expect(try code { try cache.peek("ftp://example.org/a.png", size: 128) } == .badURL)
    #expect(try code { try cache.peek("http://example.org/a.png", size: 0) } == .invalid)
    #expect(try code { try cache.peek(Request("http://example.org/a.png")) } == .invalid)
    put("/a.png")
    _ = try bench.thumbnail("/a.png", 128)
    #expect(try peek("/a.png") != nil)
    cache.close()
    #expect(try code { try peek("/a.png") } == .closed)
  }

  @Test("peeks of several threads find no removed picture while answers come and go")
  func threads() throws {
    put("/a.png", control: "max-age=100000")
    let url = bench.server.url("/a.png")
    let cache = bench.cache
    let rounds = 100
    let round = Collected<Int>()
    let faults = Collected<String>()
    // While a number is even the picture may be there; at the odd one after it, it was taken out.
    let peekers = (0..<3).map { _ in
      TestThread {
        while true {
          let before = round.values.count
          if before >= 2 * rounds { return }
          let image = try? cache.peek(url, size: 128)
          if before % 2 == 1, image != nil, round.values.count == before {
            faults.add("found in round \(before)")
          }
          image?.withPixels { if $0.count != 128 * 64 * 4 { faults.add("\($0.count) bytes") } }
        }
      }
    }
    for _ in 0..<rounds {
      // Other tests in this process may say that memory is short meanwhile.
      let relieved = try cache.storeStatistics().pressure
      _ = try bench.thumbnail("/a.png", 128)
      if try peek("/a.png") == nil, try cache.storeStatistics().pressure == relieved {
        faults.add("not found")
      }
      try cache.remove(url)
      round.add(1)
      if try peek("/a.png") != nil { faults.add("found after it was removed") }
      usleep(200)
      round.add(1)
    }
    for peeker in peekers { peeker.join() }
    #expect(faults.values.isEmpty)
  }

  @Test("peeks of threads that share a stripe never see an age go back")
  func sharedStripes() throws {
    put("/a.png", control: "max-age=100000")
    let (rounds, sizes) = (600, 60)
    for size in 1...sizes { _ = try bench.thumbnail("/a.png", size) }
    let (cache, clock, url) = (bench.cache, clock, bench.server.url("/a.png"))
    // Every one of them shares a stripe with another.
    let peekers = (0..<2 * HitTable.threadStripes).map { index in
      let ages = Collected<Int>()
      let thread = TestThread {
        for round in 0..<rounds {
          if index == 0, round % 4 == 0 { clock.advance(seconds: 1) }
          if let age = (try? cache.peek(url, size: 1 + round % sizes))?.age { ages.add(Int(age)) }
        }
      }
      return (thread, ages)
    }
    for (thread, ages) in peekers {
      thread.join()
      #expect(ages.values == ages.values.sorted())
    }
    // The first thread moves the clock. Others may have ended before it began.
    #expect(peekers[0].1.values.last ?? 0 > 0)
  }
}

/// A thread that can be waited for.
final class TestThread: Sendable {
  private let end = DispatchSemaphore(value: 0)

  init(_ body: @escaping @Sendable () -> Void) {
    let end = end
    Thread {
      body()
      end.signal()
    }.start()
  }

  func join() { end.wait() }
}
