import Glibc
import ImagingFixtures
import NuthatchCore
import TestServer
import Testing

/// Of an animation, only the first frame is needed.
@Suite("Transfers of animations that stop early") struct EarlyStopAnimationTests {
  /// Half a megabyte.
  private static let still: [UInt8] = {
    var options = nht_webp_options()
    (options.width, options.height, options.is_lossless) = (500, 340, 1)
    var state: UInt32 = 1
    let samples = (0..<500 * 340 * 4).map { _ in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(truncatingIfNeeded: state >> 24)
    }
    var size = 0
    guard let made = nht_webp(&options, samples, &size) else { return [] }
    defer { free(made) }
    return Array(UnsafeBufferPointer(start: made, count: size))
  }()

  private static func number(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  private static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + number(body.count, 4) + body + (body.count % 2 == 1 ? [0] : [])
  }

  @Test("a transfer of an animated WebP stops when its first frame has come and much remains")
  func stops() throws {
    let bench = try Bench { $0.keepSource = false }
    let place = Self.number(0, 6) + Self.number(499, 3) + Self.number(339, 3) + [100, 0, 0, 0]
    let frame = Self.chunk("ANMF", place + Self.still[12...])
    let canvas = [2, 0, 0, 0] + Self.number(499, 3) + Self.number(339, 3)
    let body =
      Array("WEBP".utf8) + Self.chunk("VP8X", canvas) + Self.chunk("ANIM", [0, 0, 0, 0, 0, 0]) + frame + frame
    let file = Array("RIFF".utf8) + Self.number(body.count, 4) + body
    let first = file.count - frame.count
    #expect(frame.count > 400_000)
    bench.server.on(
      "/a.webp",
      Script(
        headers: ["Cache-Control": "max-age=60"],
        steps: [.bytes(Array(file[..<first])), .wait("gate"), .bytes(Array(file[first...]))]
      ).withValidators(etag: "\"1\""))
    var request = Request(bench.server.url("/a.webp"))
    request.boxes = [ThumbnailBox(40)]
    let event = try #require(try bench.cache.submit(request).final(within: 60_000))
    if let error = event.error { throw error }
    let image = try #require(event.images.first)
    #expect(image.width == 40 && image.originalWidth == 500 && !image.isPartial)
    #expect(bench.server.waitForDisconnect(1))
    #expect(bench.cache.statistics.stopped == 1)
  }
}
