import NuthatchImaging
import NuthatchStore
import TestServer
import Testing

@testable import NuthatchCore

/// What an earlier version has stored for a format that it didn't decode.
@Suite("Formats that an earlier version didn't decode") struct LearnedFormatTests {
  @Test("a stored verdict `unsupported_format` counts only while the format isn't decoded")
  func verdicts() throws {
    let bench = try Bench()
    let store = bench.cache.shared.store
    let content = try #require(Digest([UInt8](repeating: 7, count: Digest.size)))
    let recipe = Recipe(ThumbnailBox(9), allowsDamage: false)
    for (name, counts) in [
      ("gif", false), ("bmp", false), ("ico", false), ("tiff", true), ("png-cgbi", true),
    ] {
      let fault = ImageFault(.unsupportedFormat(name), "\(name) isn't decoded", at: 0)
      try StoredDecodeFailure.write(fault, content, [recipe], in: store)
      #expect(StoredDecodeFailure.read(content, recipe, in: store) == (counts ? fault : nil), "\(name)")
    }
    let corrupt = ImageFault(.corrupt, "damaged", at: 9)
    try StoredDecodeFailure.write(corrupt, content, [recipe], in: store)
    #expect(StoredDecodeFailure.read(content, recipe, in: store) == corrupt)
  }

  @Test("an answer that varies by Accept is found by the header of version 0.1 and by today's")
  func accept() throws {
    let bench = try Bench()
    let script = Script.ok(Pictures.png(width: 20, height: 10), type: "image/png")
    bench.server.on("/a", script.with("Vary", "Accept").with("Cache-Control", "max-age=600"))
    let earlier = "image/jpeg,image/png;q=0.9,*/*;q=0.1"
    #expect(Cache.pictureAccept != earlier)
    for accepts in [[earlier, nil], [nil, earlier]] as [[String?]] {
      try bench.cache.remove(bench.server.url("/a"))
      let before = bench.server.count()
      for accept in accepts {
        _ = try bench.thumbnail("/a", 8) { if let accept { $0.headers = [("Accept", accept)] } }
      }
      #expect(bench.server.count() == before + 1)
    }
    #expect(bench.server.requests("/a").map { $0.headers["Accept"] } == [earlier, Cache.pictureAccept])
    let before = bench.server.count()
    _ = try bench.thumbnail("/a", 8) { $0.headers = [("Accept", "image/png")] }
    #expect(bench.server.count() == before + 1)
  }

  @Test("`accept` `modern` asks for pictures in WebP, too, and finds its own answers again")
  func modern() throws {
    let bench = try Bench { $0.accept = "modern" }
    let script = Script.ok(Pictures.png(width: 20, height: 10), type: "image/png")
    bench.server.on("/a", script.with("Vary", "Accept").with("Cache-Control", "max-age=600"))
    for _ in 0..<2 { _ = try bench.thumbnail("/a", 8) }
    _ = try bench.get("/a")
    _ = try bench.thumbnail("/a", 8) { $0.headers = [("Accept", "image/png")] }
    let asked = bench.server.requests("/a").compactMap { $0.headers["Accept"] }
    #expect(asked == [Cache.modernPictureAccept, "*/*", "image/png"])
    let types = Cache.modernPictureAccept.split(separator: ",").map { $0.prefix { $0 != ";" } }
    #expect(types.contains("image/webp") && types.contains("image/avif"))
    #expect(
      Set(Cache.pictureAccept.split(separator: ",").map { $0.prefix { $0 != ";" } }).isSubset(of: types))
    // A cache without the option has an answer of its own.
    bench.cache.close()
    let usual = try Cache(path: bench.folder, options: Options())
    defer { usual.close() }
    let image = try usual.thumbnail(Request(bench.server.url("/a")), ImageOptions(ThumbnailBox(8)))
    #expect(!image.isInCache && bench.server.count() == 4)
  }
}
