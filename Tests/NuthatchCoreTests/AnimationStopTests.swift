import Glibc
import NuthatchCore
import TestServer
import Testing

/// Transfers of GIFs that end when the thumbnails of the first frame are done.
@Suite("Transfers of GIFs that stop after the first frame") struct AnimationStopTests {
  /// Two by two pixels of four colours, which no loop announces as an animation.
  private static let beginning: [UInt8] = {
    let screen: [UInt8] = [2, 0, 2, 0, 0x81, 0, 0]
    let colors: [UInt8] = [255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9]
    return Array("GIF89a".utf8) + screen + colors + frame
  }()

  private static let frame: [UInt8] = [0x2C, 0, 0, 0, 0, 2, 0, 2, 0, 0, 2, 3, 0x44, 0x34, 5, 0]

  private static let comment: [UInt8] = {
    let block = [255] + [UInt8](repeating: 7, count: 255)
    return [0x21, 0xFE] + Array(repeating: block, count: 3600).joined() + [0]
  }()

  /// Another frame, and 900 KB behind it.
  private static let gif = beginning + [0x21, 0xF9, 4, 0, 0, 0, 0, 0] + frame + comment + frame + [0x3B]

  private static let pixels: [UInt8] = [255, 0, 0, 255, 0, 255, 0, 255, 0, 0, 255, 255, 9, 9, 9, 255]

  private func bench(keepSource: Bool, _ body: [UInt8] = gif, first: Int = gif.count / 3) throws -> Bench {
    let bench = try Bench { $0.keepSource = keepSource }
    bench.server.on(
      "/a.gif",
      Script(
        headers: ["Cache-Control": "max-age=60"],
        steps: [.bytes(Array(body[..<first])), .wait("gate"), .bytes(Array(body[first...]))]
      ).withValidators(etag: "\"1\""))
    return bench
  }

  private func image(_ bench: Bench, early: Bool = false) throws -> Image {
    var request = Request(bench.server.url("/a.gif"))
    request.boxes = [ThumbnailBox(64)]
    request.earlyStop = early
    request.delivery = .fresh
    let event = try #require(try bench.cache.submit(request).final(within: 60_000))
    if let error = event.error { throw error }
    return try #require(event.images.first)
  }

  @Test("a transfer of a GIF stops after the first frame, if no source is kept or the request says so")
  func stops() throws {
    for keepSource in [false, true] {
      let bench = try bench(keepSource: keepSource)
      let first = try image(bench, early: keepSource)
      #expect(first.withPixels { Array($0) } == Self.pixels && !first.isPartial)
      // The second frame had begun.
      #expect(first.isAnimated && first.frameCount == nil)
      #expect(bench.server.waitForDisconnect(1))
      #expect(bench.cache.statistics.stopped == 1)
      let again = try image(bench)
      #expect(again.isInCache && again.isAnimated)
      #expect(bench.server.count() == 1)
    }
  }

  @Test("a transfer of a GIF stops after its last byte too, and one frame is no animation")
  func stopsBehindTheEnd() throws {
    let body = Self.beginning + [0x3B] + Self.comment
    let bench = try bench(keepSource: false, body, first: Self.beginning.count + 1)
    let image = try image(bench)
    #expect(image.withPixels { Array($0) } == Self.pixels && !image.isAnimated)
    #expect(bench.server.waitForDisconnect(1))
    #expect(bench.cache.statistics.stopped == 1)
  }

  @Test("while it isn't known whether a frame follows, a transfer of a GIF goes on")
  func isNotKnown() throws {
    let ends: [([UInt8], Int)] = [([0x3B], 1), (Self.frame + [0x3B], 2), ([], 1), (Self.frame, 2)]
    for (end, frames) in ends {
      let bench = try bench(keepSource: false, Self.beginning + Self.comment + end)
      bench.server.gate("gate").open()
      let image = try image(bench)
      #expect(image.withPixels { Array($0) } == Self.pixels)
      #expect(image.isAnimated == (frames > 1) && image.frameCount == frames)
      #expect(bench.cache.statistics.stopped == 0)
    }
  }

  @Test("a transfer of a GIF whose bytes are kept goes on to its end")
  func goesOn() throws {
    let bench = try bench(keepSource: true)
    bench.server.gate("gate").open()
    #expect(try image(bench).withPixels { Array($0) } == Self.pixels)
    #expect(bench.cache.statistics.stopped == 0)
    #expect(try bench.get("/a.gif").withBody { $0.count } == Self.gif.count)
    #expect(bench.server.count() == 1)
  }
}
