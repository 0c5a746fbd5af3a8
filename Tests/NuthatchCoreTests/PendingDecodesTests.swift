import Dispatch
import Glibc
import NuthatchImaging
import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

@Suite("Shared decodes") struct PendingDecodesTests {
  /// A decode from the body is exact. A decode from a larger thumbnail is only good enough if there is no body.
  @Test("a decode from the whole body isn't shared with one from a larger thumbnail")
  func secondBest() throws {
    let bench = try Bench { $0.keepSource = false }
    let bytes = Pictures.png(width: 400, height: 300)
    bench.server.on("/a.png", .ok(bytes, type: "image/png"))
    _ = try bench.thumbnail("/a.png", 200)
    let shared = bench.cache.shared
    let content = bytes.withUnsafeBytes { Digest(of: $0) }
    let (large, small) = (ThumbnailBox(200), ThumbnailBox(50))
    let recipe = Recipe(small, allowsDamage: false)
    let lease = try #require(
      try shared.store.lookup(ThumbRecord.key(content, Recipe(large, allowsDamage: false))))
    let larger = try #require(ThumbRecord.Stored(lease)?.made(smaller: small, from: large))
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [small]
    let maker = shared.maker(try RequestPlan(request, Options()).limits)
    let received = ByteBuffer()
    _ = bytes.withUnsafeBytes { received.append($0) }
    var thumbnails = StoredThumbnails()
    thumbnails[recipe] = .record(larger)
    let sources = [
      PictureSource(content: content, url: "x", thumbnails: thumbnails),
      PictureSource(content: content, url: "x", body: SharedBytes(received)),
    ]
    let made = Collected<(Int, PendingDecodes.Pictures)>()
    shared.runtime.loop.post {
      // One after the other, so that the second comes while the first is under way.
      for (number, source) in sources.enumerated() {
        shared.decodes.pictures(source, [recipe], priority: 0, maker) { made.add((number, $0)) }
      }
    }
    for _ in 0..<30_000 where made.values.count < 2 { usleep(1000) }
    let exact = try bytes.withUnsafeBytes {
      try #require(try Picture.make(from: $0, [small], DecodeOptions()).first)
    }
    for (number, pictures) in made.values {
      let picture = try #require(try pictures[recipe]?.get())
      let isExact = picture.payload.withBytes { Array($0) } == exact.payload.withBytes { Array($0) }
      // The first one may find what the second one has already kept.
      #expect(isExact || number == 0)
    }
    #expect(made.values.count == 2)
  }

  /// A picture that was stored and is stale, and a request for it in another size that the server doesn't answer.
  private func askInVain(
    _ prepare: (Bench, Digest, Request) throws -> Void = { _, _, _ in }
  ) throws -> (Bench, Digest, Event?) {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    let bytes = Pictures.png(width: 400, height: 300)
    let script = Script.ok(bytes, type: "image/png").with("Cache-Control", "max-age=60, stale-if-error=6000")
    bench.server.on("/a.png", script)
    _ = try bench.thumbnail("/a.png", 200)
    clock.advance(seconds: 100)
    bench.server.on("/a.png", script.after(.wait("never")))
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [ThumbnailBox(50)]
    request.delivery = .fresh
    request.deadline = .milliseconds(100)
    let content = bytes.withUnsafeBytes { Digest(of: $0) }
    try prepare(bench, content, request)
    return (bench, content, try bench.cache.submit(request).final(within: 30_000))
  }

  /// Has a thumbnail stored that doesn't decode, under this key.
  private func storeUndecodable(_ bench: Bench) throws -> RecordKey {
    let bytes = Pictures.png(width: 400, height: 300)
    bench.server.on("/a.png", .ok(bytes, type: "image/png"))
    _ = try bench.thumbnail("/a.png", 200)
    let store = bench.cache.shared.store
    let key = ThumbRecord.key(
      bytes.withUnsafeBytes { Digest(of: $0) }, Recipe(ThumbnailBox(200), allowsDamage: false))
    let record = try #require(try store.lookup(key))
    // The checksum is right; the payload was written wrong.
    let head = record.withBytes { Array($0.prefix(ThumbRecord.headSize)) }
    _ = try store.commit(key, shape: record.shape, head + [UInt8](repeating: 7, count: 900))
    return key
  }

  @Test("a stored thumbnail that doesn't decode is made again from the body")
  func undecodableRecord() throws {
    let bench = try Bench()
    let key = try storeUndecodable(bench)
    let store = bench.cache.shared.store
    for _ in 0..<2 {
      _ = try store.forget(key)
      let image = try bench.thumbnail("/a.png", 200)
      #expect(image.width == 200 && image.isInCache)
    }
    #expect(bench.server.count() == 1)
    #expect(bench.cache.statistics.decodes == 2, "what was made again is kept")
  }

  @Test("a stored thumbnail that doesn't decode is fetched if the body isn't stored")
  func undecodableRecordAlone() throws {
    let bench = try Bench { $0.keepSource = false }
    let key = try storeUndecodable(bench)
    let store = bench.cache.shared.store
    for _ in 0..<2 {
      _ = try store.forget(key)
      #expect(try bench.thumbnail("/a.png", 200).width == 200)
    }
    #expect(bench.server.count() == 2, "the second one mends it")
  }

  @Test(
    "a thumbnail of more pixels than the request allows is `too_many_pixels`, in memory and on disk",
    arguments: [false, true])
  func tooManyPixels(isInMemory: Bool) throws {
    let bench = try Bench { $0.keepSource = false }
    let bytes = Pictures.png(width: 400, height: 300)
    bench.server.on("/a.png", .ok(bytes, type: "image/png"))
    _ = try bench.thumbnail("/a.png", 200)
    let key = ThumbRecord.key(
      bytes.withUnsafeBytes { Digest(of: $0) }, Recipe(ThumbnailBox(200), allowsDamage: false))
    #expect(bench.cache.shared.store.isThere(key))
    if !isInMemory { _ = try bench.cache.shared.store.forget(key) }
    let error = #expect(throws: NuthatchError.self) {
      try bench.thumbnail("/a.png", 200) { $0.maxPixels = 1000 }
    }
    #expect(error?.code == .tooManyPixels && error?.message.contains("400x300") == true)
    #expect(bench.server.count() == 1)
  }

  @Test("a picture that was unpacked to be shown isn't unpacked again for the 304")
  func unpackedOnce() throws {
    let clock = TestClock()
    let bench = try Bench { $0.clock = clock.wall }
    bench.server.on(
      "/a.png",
      Script(headers: ["Cache-Control": "max-age=60"], steps: [.bytes(Pictures.png(width: 400, height: 300))])
        .withValidators(etag: "\"1\""))
    _ = try bench.thumbnail("/a.png", 200)
    let bytes = Pictures.png(width: 400, height: 300)
    let key = ThumbRecord.key(
      bytes.withUnsafeBytes { Digest(of: $0) }, Recipe(ThumbnailBox(200), allowsDamage: false))
    #expect(bench.cache.shared.store.isThere(key))
    // Another test may have freed the memory of all caches of this process, so the picture may be gone already.
    _ = try bench.cache.shared.store.forget(key)
    clock.advance(seconds: 100)
    var request = Request(bench.server.url("/a.png"))
    request.boxes = [ThumbnailBox(200)]
    let ticket = try bench.cache.submit(request)
    let shown = try #require(try ticket.next(within: 30_000))
    let last = try #require(try ticket.final(within: 30_000))
    #expect(shown.kind == .cached && last.kind == .unchanged)
    #expect(try #require(shown.images.first).picture === #require(last.images.first).picture)
  }

  @Test("a picture that is made after the deadline isn't written to disk")
  func unkept() throws {
    let (bench, content, event) = try askInVain()
    // Workers that have other things to do may keep it from being made in time.
    let isMade = event?.kind == .cached && event?.images.first?.isStale == true
    #expect(isMade || event?.error?.code == .timeout)
    let key = ThumbRecord.key(content, Recipe(ThumbnailBox(50), allowsDamage: false))
    #expect(!bench.cache.shared.store.isThere(key))
    // It is in memory.
    #expect(
      !isMade
        || bench.cache.shared.reader.thumbnails.isThere(
          content, Recipe(ThumbnailBox(50), allowsDamage: false))
    )
  }

  @Test("a decode that takes long doesn't hold up a request whose deadline has come")
  func late() throws {
    let pool = WorkerPool(width: 1, memory: 1 << 30)
    let goOn = DispatchSemaphore(value: 0)
    pool.submit { goOn.wait() }
    defer {
      goOn.signal()
      pool.stop()
    }
    let (bench, _, event) = try askInVain() { bench, content, request in
      let shared = bench.cache.shared
      let maker = PictureMaker(
        workers: pool, thumbnails: Thumbnails(store: shared.store), keeping: .raw,
        limits: try RequestPlan(request, Options()).limits, counts: shared.counts)
      let body = try #require(try shared.store.lookup(RecordKey(.body, content.bytes)))
      let source = PictureSource(content: content, url: "x", body: SharedBytes(body))
      let isBegun = Collected<Bool>()
      shared.runtime.loop.post {
        let recipe = Recipe(ThumbnailBox(50), allowsDamage: false)
        shared.decodes.pictures(source, [recipe], priority: 0, maker) { _ in }
        isBegun.add(true)
      }
      for _ in 0..<30_000 where isBegun.values.isEmpty { usleep(1000) }
    }
    #expect(event?.error?.code == .timeout)
    goOn.signal()
    bench.cache.close()
  }
}
