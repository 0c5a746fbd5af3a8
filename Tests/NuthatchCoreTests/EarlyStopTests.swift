import Glibc
import ImagingFixtures
import NuthatchCore
import TestServer
import Testing

/// Transfers of progressive pictures that end when their thumbnails are done.
@Suite("Transfers of progressive pictures that stop early") struct EarlyStopTests {
  /// 800 KB, of which small thumbnails need less than a tenth.
  private static let jpeg = made(1200, 900)

  private static func made(_ width: Int, _ height: Int) -> [UInt8] {
    var options = nht_jpeg_options()
    (options.width, options.height) = (Int32(width), Int32(height))
    options.color = Int32(NHT_YCC)
    (options.horizontal, options.vertical) = (2, 2)
    (options.quality, options.is_progressive) = (92, 1)
    var state: UInt32 = 1
    let samples = [UInt8](unsafeUninitializedCapacity: width * height * 3) { bytes, count in
      for index in 0..<bytes.count {
        state = state &* 1_664_525 &+ 1_013_904_223
        bytes[index] = UInt8(truncatingIfNeeded: index / 3 % width / 6) &+ UInt8(state >> 25)
      }
      count = bytes.count
    }
    var size = 0
    guard let made = nht_jpeg(&options, samples, &size) else { return [] }
    defer { free(made) }
    return Array(UnsafeBufferPointer(start: made, count: size))
  }

  private static let half = jpeg.count / 2

  private let clock = TestClock()
  private let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench {
      $0.clock = clock.wall
      $0.keepSource = false
    }
    #expect(Self.jpeg.count > 800_000)
  }

  /// Half of it, and the other half when the gate is opened.
  private func slow(_ gate: String = "gate", tag: String? = "\"1\"") -> Script {
    var script = Script(
      headers: ["Cache-Control": "max-age=60"],
      steps: [.bytes(Array(Self.jpeg[..<Self.half])), .wait(gate), .bytes(Array(Self.jpeg[Self.half...]))])
    if let tag { script = script.withValidators(etag: tag) }
    return script
  }

  /// Whether a transfer has come to the gate, or has ended already: what comes before it may be enough, and then the server
  /// is perhaps left before it gets there.
  private func hasCome(_ gate: String, _ ticket: Ticket) -> Bool {
    for _ in 0..<600 where ticket.state != .done {
      if bench.server.gate(gate).waitUntilReached(1, seconds: 0.05) { return true }
    }
    return ticket.state == .done
  }

  private let large = ThumbnailBox(900, fit: .cover)

  private func submit(_ size: Int?, early: Bool = false, to cache: Cache? = nil) throws -> Ticket {
    try submit(size.map { ThumbnailBox($0) }, early: early, to: cache)
  }

  private func submit(_ box: ThumbnailBox?, early: Bool = false, to cache: Cache? = nil) throws -> Ticket {
    var request = Request(bench.server.url("/a.jpg"))
    if let box { request.boxes = [box] }
    request.earlyStop = early
    request.delivery = .fresh
    return try (cache ?? bench.cache).submit(request)
  }

  private func image(_ ticket: Ticket) throws -> Image {
    let event = try #require(try ticket.final(within: 60_000))
    if let error = event.error { throw error }
    return try #require(event.images.first)
  }

  private func keeping() throws -> Cache {
    var options = TestOptions()
    options.clock = clock.wall
    return try Cache(path: bench.folder + "/keeping", options: options)
  }

  @Test("a transfer stops early when all requests have their thumbnails and much remains")
  func stops() throws {
    bench.server.on("/a.jpg", slow())
    let first = try image(submit(40))
    #expect(first.width == 40 && first.originalWidth == 1200 && !first.isInCache && !first.isPartial)
    #expect(first.source == .network)
    #expect(bench.server.waitForDisconnect(1))
    #expect(bench.cache.statistics.stopped == 1)
    #expect(bench.cache.statistics.bytes < Self.half + 1)
    // It is a hit from now on, also for a handle that has nothing in memory.
    let again = try image(submit(40))
    #expect(again.isInCache && again.width == 40)
    #expect(bench.server.count() == 1)

    // The same pixels as from the whole.
    bench.server.gate("gate").open()
    let keeping = try keeping()
    defer { keeping.close() }
    let whole = try image(submit(40, to: keeping))
    #expect(keeping.statistics.stopped == 0)
    #expect(first.withPixels { Array($0) } == whole.withPixels { Array($0) })
  }

  @Test("a transfer stops early if the request sets earlyStop")
  func wish() throws {
    let keeping = try keeping()
    defer { keeping.close() }
    bench.server.on("/a.jpg", slow())
    #expect(try image(submit(40, early: true, to: keeping)).width == 40)
    #expect(bench.server.waitForDisconnect(1))
  }

  @Test("a transfer doesn't stop early while a request wants the whole body")
  func wholeForOthers() throws {
    bench.server.on("/a.jpg", slow("late").after(.wait("begin")))
    let small = try submit(40)
    #expect(bench.server.gate("begin").waitUntilReached(1))
    let all = try submit(nil as Int?)
    bench.waitUntilJoined(1)
    bench.server.gate("begin").open()
    #expect(bench.server.gate("late").waitUntilReached(1))
    bench.server.gate("late").open()
    #expect(try all.result().withBody { Array($0) } == Self.jpeg)
    #expect(try image(small).width == 40)
    #expect(bench.server.count() == 1)
    #expect(bench.cache.statistics.stopped == 0)
  }

  @Test("a transfer doesn't stop early while a size needs more scans")
  func moreScans() throws {
    bench.server.on("/a.jpg", slow("late").after(.wait("begin")))
    let small = try submit(40)
    #expect(bench.server.gate("begin").waitUntilReached(1))
    let large = try submit(1000)
    bench.waitUntilJoined(1)
    bench.server.gate("begin").open()
    #expect(bench.server.gate("late").waitUntilReached(1))
    bench.server.gate("late").open()
    #expect(try image(large).width == 1000 && image(small).width == 40)
    #expect(bench.server.count() == 1)
  }

  @Test("no request joins a transfer that stopped early")
  func noJoiners() throws {
    bench.server.on("/a.jpg", slow())
    #expect(try image(submit(40)).width == 40)
    bench.server.gate("gate").open()
    #expect(try submit(nil as Int?).result().bodySize == Self.jpeg.count)
    #expect(bench.server.count() == 2)
  }

  @Test("thumbnails of an early stop are hits for their own sizes only, until the whole comes")
  func partial() throws {
    bench.server.on("/a.jpg", slow())
    _ = try image(submit(40))
    // Another size of the same answer: another fetch, and both stay.
    _ = try image(submit(60))
    #expect(bench.server.count() == 2)
    #expect(try image(submit(40)).isInCache && image(submit(60)).isInCache)
    bench.server.gate("gate").open()
    // Thumbnails never answer a request for the bytes.
    let whole = try submit(nil as Int?).result()
    #expect(!whole.isInCache && whole.bodySize == Self.jpeg.count)
    #expect(bench.server.count() == 3)
    #expect(try submit(nil as Int?).result().isInCache)
    #expect(try image(submit(100)).isInCache)
    #expect(bench.server.count() == 3)
  }

  @Test("thumbnails of an early stop are added to those of an earlier whole transfer")
  func afterWhole() throws {
    bench.server.on("/a.jpg", slow())
    bench.server.gate("gate").open()
    // Too large a size for any scan to be left out, so that all of it comes; its body isn't kept, and what was cut
    // off can't serve others.
    _ = try image(submit(large))
    bench.server.gate("gate").close()
    #expect(try image(submit(40)).width == 40)
    #expect(bench.cache.statistics.stopped == 1)
    #expect(try image(submit(large)).isInCache && image(submit(40)).isInCache)
    #expect(bench.server.count() == 2)
  }

  @Test("a stale thumbnail of an early stop is revalidated by its ETag")
  func revalidated() throws {
    bench.server.on("/a.jpg", slow())
    _ = try image(submit(40))
    clock.advance(seconds: 100)
    bench.server.gate("gate").open()
    let event = try #require(try submit(40).final())
    #expect(event.kind == .unchanged && event.isInCache && event.images.first?.width == 40)
    #expect(bench.server.count() == 2)
    #expect(try image(submit(40)).isInCache)
    #expect(bench.server.count() == 2)
  }

  @Test("an early stop without a strong validator stores nothing", arguments: ["W/\"1\"", nil])
  func weak(tag: String?) throws {
    bench.server.on("/a.jpg", slow(tag: tag))
    #expect(try image(submit(40)).width == 40)
    #expect(try !image(submit(40)).isInCache)
    #expect(bench.server.count() == 2)
  }

  @Test("a transfer doesn't stop early if little remains")
  func littleRest() throws {
    // Most of it are comments in front of the picture, so that little is left whenever the thumbnail is done.
    let picture = Self.made(400, 300)
    let comment: [UInt8] = [0xFF, 0xFE, 0xFF, 0xFF] + [UInt8](repeating: 32, count: 0xFFFD)
    let bytes = picture.prefix(2) + Array(repeating: comment, count: 5).joined() + picture.dropFirst(2)
    let rest = picture.count / 3
    #expect(picture.count < 256 << 10)
    bench.server.on(
      "/a.jpg",
      Script(steps: [.bytes(Array(bytes.dropLast(rest))), .wait("gate"), .bytes(Array(bytes.suffix(rest)))]))
    let ticket = try submit(20)
    #expect(bench.server.gate("gate").waitUntilReached(1))
    // Time to end it too early.
    usleep(300_000)
    bench.server.gate("gate").open()
    #expect(try image(ticket).width == 20)
    #expect(bench.cache.statistics.stopped == 0)
  }

  @Test("a damaged progressive picture is received to its end, and is `corrupt`")
  func damaged() throws {
    var bytes = Self.jpeg
    for place in stride(from: 3000, to: 60_000, by: 50) { bytes[place] = 0xFF }
    bench.server.on("/a.jpg", .ok(bytes))
    let error = #expect(throws: NuthatchError.self) { try image(submit(40)) }
    #expect(error?.code == .corrupt)
    #expect(bench.cache.statistics.stopped == 0)
  }

  @Test("a transfer that may stop early can be cancelled or closed at any moment")
  func cancelled() throws {
    for round in 0..<20 {
      bench.server.on("/a.jpg", slow("gate\(round)"))
      let ticket = try submit(40)
      #expect(hasCome("gate\(round)", ticket))
      // Another moment in each round.
      usleep(UInt32(round * 300))
      ticket.cancel()
      _ = try ticket.final()
      try bench.cache.remove(bench.server.url("/a.jpg"))
    }
    bench.server.on("/a.jpg", slow("last"))
    let ticket = try submit(40)
    #expect(hasCome("last", ticket))
    bench.cache.close()
    let event = try ticket.final()
    #expect(event?.error?.code == .closed || event?.kind == .fresh)
  }
}
