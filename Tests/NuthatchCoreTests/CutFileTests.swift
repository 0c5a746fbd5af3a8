import Glibc
import TestServer
import Testing

@testable import NuthatchCore

/// Packs that were cut while they are mapped: what is missing can't be read, as on a disk that fails.
@Suite("Stored answers that can't be read") struct CutFileTests {
  private let bench: Bench
  private let picture = Pictures.png(width: 400, height: 300)

  init() throws {
    bench = try Bench()
    bench.server.on(
      "/a.png", Script(headers: ["Cache-Control": "max-age=600"], steps: [.bytes(picture)]))
    // The second one has found the body whole, so that the next doesn't look again.
    for _ in 0..<2 { #expect(try bench.get("/a.png").withBody { Array($0) } == picture) }
    try #require(picture.count > 8192)
  }

  /// Leaves each pack its first page, in which the first record's header is.
  private func cut() {
    for name in names(in: bench.folder + "/packs") {
      #expect(truncate(bench.folder + "/packs/" + name, 4096) == 0)
    }
  }

  @Test("a stored picture that can't be read is fetched again")
  func decode() throws {
    let wanted = try bench.get("/a.png").image(ImageOptions(ThumbnailBox(100)))
    cut()
    let image = try bench.thumbnail("/a.png", 100)
    #expect(image.withPixels { Array($0) } == wanted.withPixels { Array($0) })
    #expect(bench.cache.statistics.transfers == 2)
  }

  @Test("checkBody throws if an answer's file was cut, and the next request fetches the answer again")
  func body() throws {
    let response = try bench.get("/a.png")
    try response.checkBody()
    cut()
    #expect(response.withBody { Array($0) } != picture)
    #expect(throws: NuthatchError.self) { try response.checkBody() }
    #expect(try bench.get("/a.png").withBody { Array($0) } == picture)
    #expect(bench.cache.statistics.transfers == 2)
  }
}
