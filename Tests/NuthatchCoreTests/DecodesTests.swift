import Glibc
import NuthatchImaging
import TestServer
import Testing

@testable import NuthatchCore

@Suite("Decodes that are shared") struct DecodesTests {
  /// Who has the bytes of a picture wants what is made of them, and not what somebody without them makes do with.
  @Test("are none for who has the body, where others have a larger thumbnail of it only")
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
    let maker = shared.maker(try RequestPlan(request, Cache.Options()))
    let received = ByteBuffer()
    _ = bytes.withUnsafeBytes { received.append($0) }
    let sources = [
      PictureSource(content: content, url: "x", thumbs: [recipe: larger]),
      PictureSource(content: content, url: "x", body: Payload(received)),
    ]
    let made = Collected<(Int, Decodes.Pictures)>()
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
      #expect(isExact == (number == 1))
    }
    #expect(made.values.count == 2)
  }
}
