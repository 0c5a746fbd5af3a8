import Glibc
import ImagingFixtures
import NuthatchImaging
import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

/// What an image says of its source, and the forms of stored thumbnails.
@Suite("Sources and forms of thumbnails") struct SourceFactsTests {
  /// A picture of noise with alpha, too large to be stored raw.
  private static let transparent: [UInt8] = {
    var options = nht_webp_options()
    (options.width, options.height, options.is_lossless, options.has_alpha) = (120, 90, 1, 1)
    let samples = (0..<120 * 90 * 4).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) | 1 }
    var size = 0
    guard let made = nht_webp(&options, samples, &size) else { return [] }
    defer { free(made) }
    return Array(UnsafeBufferPointer(start: made, count: size))
  }()

  /// A GIF of two frames of one pixel.
  private static let gif: [UInt8] = {
    let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x4C, 1, 0]
    return Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 9, 9, 9, 8, 8, 8] + frame + frame + [0x3B]
  }()

  private static let answers: [(path: String, type: String, body: [UInt8], facts: PictureFacts)] = [
    ("/gif", "image/gif", gif, PictureFacts(format: .gif, isAnimated: true, frameCount: 2, depth: 8)),
    (
      "/png", "image/png", Pictures.png(width: 200, height: 150),
      PictureFacts(format: .png, frameCount: 1, depth: 8)
    ),
    ("/webp", "image/webp", transparent, PictureFacts(format: .webp, frameCount: 1, depth: 8)),
  ]

  private func facts(_ image: Image) -> PictureFacts {
    PictureFacts(
      format: image.format, isAnimated: image.isAnimated, frameCount: image.frameCount, depth: image.depth)
  }

  @Test(
    "a stored thumbnail says the same of its source as a new one",
    arguments: [ThumbStore.packed, .lossless, .raw, .small])
  func stored(_ keeping: ThumbStore) throws {
    let bench = try Bench { $0.thumbStore = keeping }
    for (path, type, body, wanted) in Self.answers {
      bench.server.on(path, Script.ok(body, type: type).with("Cache-Control", "max-age=600"))
      #expect(facts(try bench.thumbnail(path, 100)) == wanted, "\(path), new")
      #expect(facts(try bench.thumbnail(path, 100)) == wanted, "\(path), from memory")
    }
    bench.cache.close()
    let again = try Cache(path: bench.folder, options: Options())
    defer { again.close() }
    for (path, _, _, wanted) in Self.answers {
      // A smaller one is made from the stored one or from the body.
      for side in [100, 40] {
        let image = try again.thumbnail(Request(bench.server.url(path)), ImageOptions(ThumbnailBox(side)))
        #expect(facts(image) == wanted && image.isInCache, "\(path), stored")
      }
    }
    #expect(bench.server.count() == Self.answers.count)
  }

  @Test("a thumbnail that is made from a larger one says the same of its source")
  func smaller() throws {
    let bench = try Bench { $0.keepSource = false }
    let body = Pictures.png(width: 200, height: 150)
    bench.server.on("/a", Script.ok(body, type: "image/png").with("Cache-Control", "max-age=600"))
    _ = try bench.thumbnail("/a", 100)
    let image = try bench.thumbnail("/a", 40)
    #expect(bench.server.count() == 1)
    #expect(facts(image) == PictureFacts(format: .png, frameCount: 1, depth: 8))
  }

  private func buffer(_ width: Int, _ height: Int) throws -> PixelBuffer {
    let bytes = (0..<width * height * 4).map { UInt8(truncatingIfNeeded: $0) }
    return try bytes.withUnsafeBytes {
      try PixelBuffer(size: ImageSize(width: width, height: height), rgba: $0)
    }
  }

  @Test("a thumbnail record of an earlier version says nothing of its source")
  func earlier() throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let store = try Store.open(folder)
    defer { store.close() }
    let key = RecordKey(.thumb, [1])
    // Version 1 of the payload, not partial, 9 x 7; the rest of the 64 bytes was 0.
    let head = [1, 0, 9, 0, 0, 0, 7, 0, 0, 0] + [UInt8](repeating: 0, count: 54)
    let pixels = [UInt8](repeating: 5, count: 3 * 2 * 4)
    try store.commit(key, shape: PayloadShape(form: 1, width: 3, height: 2), head + pixels)
    let lease = try #require(try store.lookup(key))
    let stored = try #require(ThumbRecord.Stored(lease))
    #expect(stored.originalSize == ImageSize(width: 9, height: 7) && !stored.isPartial)
    #expect(stored.facts == PictureFacts())
    #expect(try stored.picture().facts == PictureFacts())
  }

  @Test("a record has its facts where an earlier version had zeros and reads nothing")
  func layout() throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let store = try Store.open(folder)
    defer { store.close() }
    let picture = Picture(
      try buffer(3, 2), originalSize: ImageSize(width: 9, height: 7),
      facts: PictureFacts(format: .gif, isAnimated: true, frameCount: 0x0102, depth: 8), isPartial: true)
    let key = RecordKey(.thumb, [1])
    try ThumbRecord.write(picture, key, keeping: .raw, in: store)
    let bytes = try #require(try store.lookup(key)).withBytes { Array($0) }
    // An earlier version looks at the lowest bit of the flags only.
    let head: [UInt8] = [1, 3, 9, 0, 0, 0, 7, 0, 0, 0, 6, 8, 2, 1, 0, 0]
    #expect(Array(bytes[..<64]) == head + [UInt8](repeating: 0, count: 48))
    // A later version may have more formats.
    var later = bytes
    later[10] = 200
    try store.commit(key, shape: PayloadShape(form: 1, width: 3, height: 2), later)
    let stored = try #require(try store.lookup(key).flatMap { ThumbRecord.Stored($0) })
    #expect(stored.facts == PictureFacts(isAnimated: true, frameCount: 0x0102, depth: 8))
  }

  @Test("a form that isn't known is a miss: nothing counts as damaged, and the thumbnail is made again")
  func laterForm() throws {
    let bench = try Bench()
    bench.server.on(
      "/a", Script.ok(Self.transparent, type: "image/webp").with("Cache-Control", "max-age=600"))
    _ = try bench.thumbnail("/a", 100)
    let plan = try RequestPlan(Request(bench.server.url("/a")), Options())
    let content = try #require(bench.cache.shared.reader.record(plan)?.0.content)
    let key = ThumbRecord.key(content, Recipe(ThumbnailBox(100), allowsDamage: false))
    let store = bench.cache.shared.store
    let old = try #require(try store.lookup(key))
    let shape = PayloadShape(form: 99, width: old.shape.width, height: old.shape.height)
    try store.commit(key, shape: shape, old.withBytes { Array($0) })
    bench.cache.close()
    let again = try Cache(path: bench.folder, options: Options())
    defer { again.close() }
    #expect(try again.verify().damaged == 0)
    let image = try again.thumbnail(Request(bench.server.url("/a")), ImageOptions(ThumbnailBox(100)))
    #expect(image.width == 100 && image.isInCache && bench.server.count() == 1)
    #expect(try again.verify().damaged == 0)
    var request = Request(bench.server.url("/a"))
    request.boxes = [ThumbnailBox(100)]
    #expect(try again.inspect(request)?.thumbs.count == 1)
  }

  @Test("transparent thumbnails are exact, unless `small` is said; opaque ones are JPEGs")
  func forms() throws {
    for (keeping, transparent, opaque) in [
      (ThumbStore.packed, ThumbRecord.Form.png, ThumbRecord.Form.jpeg), (.lossless, .png, .png),
      (.small, .webp, .jpeg), (.raw, .raw, .raw),
    ] as [(ThumbStore, ThumbRecord.Form, ThumbRecord.Form)] {
      let bench = try Bench { $0.thumbStore = keeping }
      let wanted = [("/webp", transparent), ("/png", opaque)]
      for (path, type, body, _) in Self.answers {
        bench.server.on(path, Script.ok(body, type: type).with("Cache-Control", "max-age=600"))
      }
      for (path, form) in wanted {
        let new = try bench.thumbnail(path, 100)
        var request = Request(bench.server.url(path))
        request.boxes = [ThumbnailBox(100)]
        #expect(try bench.cache.inspect(request)?.thumbs.first?.form == form.word, "\(keeping) \(path)")
        let plan = try RequestPlan(request, Options())
        let content = try #require(bench.cache.shared.reader.record(plan)?.0.content)
        let key = ThumbRecord.key(content, Recipe(ThumbnailBox(100), allowsDamage: false))
        let stored = try #require(try bench.cache.shared.store.lookup(key).flatMap { ThumbRecord.Stored($0) })
        let isExact = try stored.picture().payload.withBytes { kept in
          new.withPixels { kept.elementsEqual($0) }
        }
        #expect(isExact == (form != .jpeg && keeping != .small), "\(keeping) \(path)")
      }
    }
  }
}
