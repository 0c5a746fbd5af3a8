import NuthatchCore
import TestServer
import Testing

/// Bodies are large and are evicted first; thumbnails that were made of them stay.
@Suite("Thumbnails made of larger thumbnails") struct LargerThumbTests {
  private let clock = TestClock()
  private let bench: Bench

  init() throws {
    let clock = clock
    bench = try Bench {
      $0.clock = clock.wall
      $0.keepSource = false
    }
    bench.server.on(
      "/a.png",
      Script(
        headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 400, height: 300))]
      ).withValidators(etag: "\"1\""))
  }

  private func event(
    _ box: ThumbnailBox, at path: String = "/a.png", in cache: Cache? = nil, damaged: Bool = false
  ) throws -> Event {
    var request = Request(bench.server.url(path))
    request.boxes = [box]
    request.delivery = .fresh
    request.allowDamaged = damaged
    return try #require(try (cache ?? bench.cache).submit(request).final())
  }

  @Test("a thumbnail is made of a stored one of twice its size, and looks the same")
  func smaller() throws {
    _ = try event(ThumbnailBox(200))
    var whole = TestOptions()
    whole.clock = clock.wall
    let other = try Cache(path: bench.folder + "/whole", options: whole)
    defer { other.close() }
    for box in [
      ThumbnailBox(100), ThumbnailBox(99), ThumbnailBox(16), ThumbnailBox(64, enlarge: true),
      ThumbnailBox(64, scaling: .fast), ThumbnailBox(width: 100, height: 7),
      ThumbnailBox(70, fit: .cover), ThumbnailBox(width: 60, height: 10, fit: .cover),
      ThumbnailBox(40, fit: .stretch),
    ] {
      let event = try event(box)
      let image = try #require(event.images.first, "\(box)")
      #expect(event.kind == .cached && image.isInCache && image.source == .disk && !image.isStale)
      #expect(image.originalWidth == 400 && image.originalHeight == 300)
      let direct = try #require(try self.event(box, in: other).images.first)
      #expect(image.width == direct.width && image.height == direct.height, "\(box)")
      let difference = image.withPixels { made in
        direct.withPixels { wanted in
          zip(made, wanted).reduce(0.0) { $0 + abs(Double($1.0) - Double($1.1)) } / Double(made.count)
        }
      }
      #expect(difference < 6, "\(box)")
    }
    #expect(bench.cache.statistics.transfers == 1)
  }

  @Test("a thumbnail that needs more than the stored one has is fetched")
  func tooLarge() throws {
    _ = try event(ThumbnailBox(200))
    #expect(try event(ThumbnailBox(110)).kind == .fresh)
    // What is cut off is gone.
    _ = try event(ThumbnailBox(width: 300, height: 100, fit: .cover))
    #expect(bench.server.count() == 3)
    #expect(try event(ThumbnailBox(width: 150, height: 50, fit: .cover)).kind == .fresh)
    #expect(bench.server.count() == 4)
  }

  @Test("a stale larger thumbnail is used only after a 304")
  func stale() throws {
    _ = try event(ThumbnailBox(200))
    clock.advance(seconds: 100)
    let event = try event(ThumbnailBox(100))
    #expect(event.kind == .unchanged && event.images.first?.width == 100)
    #expect(bench.server.requests("/a.png").last?.headers["If-None-Match"] == "\"1\"")
    bench.server.on("/a.png", .ok(Pictures.png(width: 300, height: 400)).withValidators(etag: "\"2\""))
    clock.advance(seconds: 100)
    let changed = try self.event(ThumbnailBox(50))
    #expect(changed.kind == .fresh && changed.images.first?.height == 50)
  }

  /// Bodies go before thumbnails.
  private func evictBodies(of cache: Cache) throws {
    var bytes = try cache.storeStatistics().diskBytes
    while try cache.storeStatistics().bodies > 0, bytes > 0 {
      bytes -= 4096
      try cache.trim(to: bytes)
    }
    let left = try cache.storeStatistics()
    #expect(left.bodies == 0 && left.thumbs > 0 && left.meta > 0)
  }

  @Test("after its body was evicted a picture's sizes are made of thumbnails, or fetched")
  func evicted() throws {
    var options = TestOptions()
    options.clock = clock.wall
    let cache = try Cache(path: bench.folder + "/keeping", options: options)
    defer { cache.close() }
    _ = try event(ThumbnailBox(200), in: cache)
    for isStale in [false, true] {
      try evictBodies(of: cache)
      if isStale { clock.advance(seconds: 100) }
      bench.server.clearLog()
      let small = try event(ThumbnailBox(isStale ? 98 : 100), in: cache)
      #expect(small.kind == (isStale ? .unchanged : .cached) && small.isInCache)
      #expect(bench.server.count() == (isStale ? 1 : 0))
      let large = try event(ThumbnailBox(isStale ? 301 : 300), in: cache)
      #expect(large.kind == .fresh && large.images.first?.width == (isStale ? 301 : 300))
      #expect(bench.server.requests("/a.png").last?.headers["If-None-Match"] == nil)
      // The body is back, and other sizes come of it.
      #expect(try event(ThumbnailBox(isStale ? 251 : 250), in: cache).kind == .cached)
    }
  }

  @Test("after its body was evicted, each URL of a picture has the sizes that it was fetched with")
  func sameBody() throws {
    bench.server.on("/b.png", .ok(Pictures.png(width: 400, height: 300)))
    let cache = try Cache(path: bench.folder + "/keeping", options: TestOptions())
    defer { cache.close() }
    _ = try event(ThumbnailBox(200), in: cache)
    _ = try event(ThumbnailBox(200), at: "/b.png", in: cache)
    _ = try event(ThumbnailBox(320), at: "/b.png", in: cache)
    try evictBodies(of: cache)
    bench.server.clearLog()
    for path in ["/a.png", "/b.png"] {
      let event = try event(ThumbnailBox(path == "/a.png" ? 100 : 90), at: path, in: cache)
      #expect(event.kind == .cached && event.isInCache, "\(path)")
    }
    // The list of the body's sizes names the one that was made later.
    let event = try event(ThumbnailBox(160), at: "/a.png", in: cache)
    #expect(event.kind == .cached && event.isInCache)
    #expect(bench.server.count() == 0)
  }

  @Test("a later process also makes thumbnails of stored larger ones")
  func reopened() throws {
    _ = try event(ThumbnailBox(200))
    bench.cache.close()
    var options = TestOptions()
    options.clock = clock.wall
    let again = try Cache(path: bench.folder, options: options)
    defer { again.close() }
    #expect(try event(ThumbnailBox(100), in: again).images.first?.isInCache == true)
    #expect(bench.server.count() == 1)
  }
}
