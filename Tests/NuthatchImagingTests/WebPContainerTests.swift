import Testing

@testable import NuthatchImaging

private typealias WebP = WebPFixture

@Suite("The chunks of a WebP") struct WebPContainerTests {
  private func info(_ bytes: [UInt8]) -> ImageInfo? {
    guard case .found(let info) = Decode.probe(bytes) else { return nil }
    for size in [1, 7] { #expect(Decode.probe(bytes, pieces: size) == .found(info)) }
    return info
  }

  @Test("size, colours, alpha, animation, profile and EXIF are read from the chunks")
  func headersSayWhatThePictureIs() throws {
    let lossy = WebP.webp(35, 22)
    let plain = try #require(info(lossy))
    #expect(plain.size == ImageSize(width: 35, height: 22) && plain.color == .ycbcr && plain.format == .webp)
    #expect(!plain.hasAlpha && !plain.isAnimated && !plain.hasICC && !plain.hasEXIF && plain.depth == 8)
    #expect(plain.wholePictureBytes == 35 * 22 * 3 / 2)
    let alpha = try #require(info(WebP.webp(35, 22, alpha: true)))
    #expect(alpha.hasAlpha && alpha.color == .ycbcr && alpha.wholePictureBytes == 35 * 22 * 8)
    let lossless = try #require(info(WebP.webp(35, 22, lossless: true, alpha: true)))
    #expect(lossless.hasAlpha && lossless.color == .rgba && lossless.wholePictureBytes == 35 * 22 * 8)
    #expect(try #require(info(WebP.webp(35, 22, lossless: true))).color == .rgb)
    let profile = WebP.chunk("ICCP", [1, 2, 3])
    let full = try #require(
      info(
        WebP.file([WebP.extended(35, 22, flags: 0x28), profile, WebP.pixels(of: lossy), WebP.exif(6)])))
    #expect(full.hasICC && full.hasEXIF && full.orientation == .rotated90 && !full.hasAlpha)
    #expect(full.orientedSize == ImageSize(width: 22, height: 35))
    let film = try #require(
      info(WebP.animation(60, 40, [WebP.frame(lossy, x: 4, y: 8, width: 35, height: 22)])))
    #expect(film.isAnimated && film.hasAlpha && film.size == ImageSize(width: 60, height: 40))
    let covering = try #require(info(WebP.animation(35, 22, [WebP.frame(lossy, width: 35, height: 22)])))
    #expect(covering.isAnimated && !covering.hasAlpha)
  }

  @Test("alpha counts only where VP8X or VP8L announces it")
  func alphaMustBeAnnounced() throws {
    let pixels = WebP.pixels(of: WebP.webp(16, 9, alpha: true))
    let unannounced = WebP.file([WebP.extended(16, 9, flags: 0), pixels])
    #expect(try #require(info(unannounced)).hasAlpha == false)
    let picture = try #require(Decode.whole(unannounced).picture)
    #expect(stride(from: 3, to: picture.byteCount, by: 4).allSatisfy { picture.bytes[$0] == 255 })
    #expect(try #require(info(WebP.file([WebP.extended(16, 9, flags: 16), pixels]))).hasAlpha)
  }

  @Test(
    "the orientation is found behind the pixels, before them, and with a prefix; without EXIF it is upright")
  func exifIsFoundWhereverItIs() throws {
    let pixels = WebP.pixels(of: WebP.webp(16, 9))
    let head = WebP.extended(16, 9, flags: 8)
    let other = WebP.chunk("XMP ", [UInt8](repeating: 7, count: 301))
    for prefix in [false, true] {
      let exif = WebP.exif(3, prefix: prefix)
      for chunks in [
        [head, pixels, exif], [head, pixels, other, exif], [head, exif, pixels], [head, exif, other, pixels],
      ] {
        #expect(try #require(info(WebP.file(chunks))).orientation == .rotated180)
      }
    }
    for chunks in [[head, pixels], [head, pixels, other], [head, pixels, WebP.chunk("EXIF", [])]] {
      #expect(try #require(info(WebP.file(chunks))).orientation == .upright)
    }
    // Without its flag, EXIF isn't waited for.
    let unflagged = WebP.file([WebP.extended(16, 9, flags: 0), pixels, WebP.exif(3)])
    #expect(try #require(info(unflagged)).orientation == .upright)
  }

  @Test("a WebP that ends before its EXIF is judged by its pixels")
  func aCutOffEXIFIsNoLoss() throws {
    let pixels = WebP.pixels(of: WebP.webp(16, 9))
    let file = WebP.file([WebP.extended(16, 9, flags: 8), pixels, WebP.exif(3)])
    let plain = try #require(Decode.whole(WebP.file([pixels])).picture).bytes
    for count in 30 + pixels.count..<file.count {
      for outcome in [Decode.whole(Array(file[..<count])), Decode.pieces(Array(file[..<count]), 5, [])] {
        let isWhole = count >= file.count
        #expect(isWhole || outcome.picture?.bytes == plain, "\(count): \(String(describing: outcome.fault))")
      }
    }
    #expect(Decode.whole(Array(file[..<(20 + pixels.count)])).fault?.kind == .truncated)
  }

  /// A change to a file, and where and how it is refused.
  private struct Broken: CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let place: Int?
    let kind: ImageFault.Kind

    init(_ name: String, _ bytes: [UInt8], at place: Int?, _ kind: ImageFault.Kind = .corrupt) {
      (self.name, self.bytes, self.place, self.kind) = (name, bytes, place, kind)
    }

    var testDescription: String { name }
  }

  private static func changed(_ bytes: [UInt8], _ at: Int, _ new: [UInt8]) -> [UInt8] {
    var out = bytes
    out.replaceSubrange(at..<at + new.count, with: new)
    return out
  }

  private static let lossy = WebP.webp(35, 22)
  private static let lossless = WebP.webp(35, 22, lossless: true)
  private static let frame = WebP.frame(lossy, width: 35, height: 22)

  private static let broken: [Broken] = [
    Broken("no length", changed(lossy, 4, [0, 0, 0, 0]), at: 4),
    Broken("the greatest length", changed(lossy, 4, [255, 255, 255, 255]), at: 4),
    Broken("a chunk beyond the length", changed(lossy, 4, WebP.littleEndian(200)), at: 12),
    Broken("a chunk beyond 2 GiB", changed(lossy, 16, [0, 0, 0, 0xF0]), at: 12),
    Broken("an unknown first chunk", changed(lossy, 12, Array("ABCD".utf8)), at: 12),
    Broken("an empty chunk of pixels", WebP.file([WebP.chunk("VP8 ", [])]), at: 12),
    Broken("no key frame", changed(lossy, 20, [lossy[20] | 1]), at: 20),
    Broken("an unknown profile", changed(lossy, 20, [lossy[20] | 0x0E]), at: 20),
    Broken("an invisible frame", changed(lossy, 20, [lossy[20] & ~0x10]), at: 20),
    Broken("a first partition beyond the chunk", changed(lossy, 21, [255, 255]), at: 20),
    Broken("no start code", changed(lossy, 23, [0]), at: 20),
    Broken("no columns", changed(lossy, 26, [0, 0]), at: 20),
    Broken("no signature", changed(lossless, 20, [0x2E]), at: 20),
    Broken("an unknown version", changed(lossless, 24, [lossless[24] | 0x20]), at: 20),
    Broken("a short VP8X", WebP.file([WebP.chunk("VP8X", [0, 0, 0, 0]), WebP.pixels(of: lossy)]), at: 12),
    Broken(
      "a canvas of 2^32 pixels",
      WebP.file([WebP.extended(1 << 16, 1 << 16, flags: 0), WebP.pixels(of: lossy)]), at: 30),
    Broken(
      "another size than announced", WebP.file([WebP.extended(35, 23, flags: 0), WebP.pixels(of: lossy)]),
      at: 38),
    Broken("nothing but VP8X", WebP.file([WebP.extended(35, 22, flags: 0)]), at: 30),
    Broken(
      "an animation without frames", WebP.file([WebP.extended(35, 22, flags: 2), WebP.pixels(of: lossy)]),
      at: 30),
    Broken("no ANIM", WebP.file([WebP.extended(35, 22, flags: 2), frame]), at: 30),
    Broken("a frame out of the canvas", WebP.animation(34, 22, [frame]), at: 68),
    Broken(
      "a frame far outside",
      WebP.animation(35, 22, [WebP.frame(lossy, x: 1 << 24, y: 1 << 24, width: 35, height: 22)]), at: 68),
    Broken("a short frame", WebP.animation(35, 22, [WebP.chunk("ANMF", [0, 0, 0, 0])]), at: 44),
    Broken(
      "a frame without pixels",
      WebP.animation(35, 22, [WebP.chunk("ANMF", Array(frame[8..<24])), frame]), at: 68),
    Broken(
      "a frame of another size than its pixels",
      WebP.animation(35, 22, [WebP.frame(lossy, width: 34, height: 22)]), at: 76),
    Broken("the first bytes only", Array(lossy[..<25]), at: 25, .truncated),
  ]

  @Test(
    "a WebP with a broken header is refused with the place, at once and in pieces", arguments: broken.indices)
  func brokenHeadersAreRefused(_ index: Int) {
    let broken = Self.broken[index]
    for fault in [
      Decode.whole(broken.bytes).fault, Decode.thumbnails(broken.bytes, [ThumbnailBox(8)]).fault,
      Decode.pieces(broken.bytes, 1, []).fault, Decode.pieces(broken.bytes, 1000, [ThumbnailBox(8)]).fault,
    ] {
      #expect(fault?.kind == broken.kind && fault?.offset == broken.place, "\(broken.name): \(fault as Any)")
    }
  }

  @Test("a lossless WebP of 38 bytes with 100 megapixels, and huge canvases, are refused as `tooManyPixels`")
  func bombsAreRefusedBeforeTheyCost() {
    let bomb = WebP.lossless(10_000, 10_000)
    #expect(bomb.count == 38)
    let fault = Decode.thumbnails(bomb, [ThumbnailBox(64)]).fault
    #expect(fault?.kind == .tooManyPixels)
    #expect(fault?.message.hasPrefix("a lossless WebP of 10000x10000 needs ") == true, "\(fault as Any)")
    #expect(Decode.pieces(bomb, 1, [ThumbnailBox(64)]).fault == fault)
    #expect(Decode.whole(WebP.lossless(16_383, 16_383)).fault?.kind == .tooManyPixels)
    #expect(Decode.thumbnails(WebP.lossless(200, 100), [ThumbnailBox(64)]).picture != nil)
    let wide = WebP.file([WebP.extended(1 << 24, 2, flags: 2)])
    #expect(Decode.thumbnails(wide, [ThumbnailBox(64)]).fault?.kind == .tooManyPixels)
    let film = WebP.animation(15_000, 15_000, [Self.frame])
    #expect(Decode.pieces(film, 3, [ThumbnailBox(64)]).fault?.kind == .tooManyPixels)
  }

  @Test("a lossless WebP with more groups of codes than fit into memory is refused as `tooManyPixels`")
  func groupsOfCodesAreCounted() throws {
    let few = WebP.groups(64, 48)
    let black = try #require(Decode.whole(few).picture).bytes
    #expect(black.enumerated().allSatisfy { $0.element == ($0.offset % 4 == 3 ? 255 : 0) })
    let size = ImageSize(width: 1024, height: 1024)
    let many = WebP.groups(1024, 1024)
    func count(_ bytes: [UInt8], _ size: ImageSize) -> Int {
      bytes.withUnsafeBytes { LosslessGroups.count(UnsafeRawBufferPointer(rebasing: $0[25...]), size) }
    }
    #expect(count(few, ImageSize(width: 64, height: 48)) == 192)
    #expect(count(many, size) == 65_536)
    #expect(count(Array(many[..<100_000]), size) == 1)
    let fault = Decode.thumbnails(many, [ThumbnailBox(64)]).fault
    #expect(fault?.kind == .tooManyPixels && fault?.offset == 12, "\(fault as Any)")
    #expect(fault?.message.contains("with 65536 groups of codes") == true)
    #expect(Decode.pieces(many, 5000, [ThumbnailBox(64)]).fault == fault)
    // A real encoder writes few, with any transform.
    for (seed, method) in [(1, 0), (2, 3), (3, 6)] {
      let samples = Fixture.noise(600 * 400 * 4, seed: UInt64(seed), smooth: seed > 1)
      let webp = WebP.webp(600, 400, lossless: true, samples: samples) { $0.method = Int32(method) }
      let found = count(Array(webp), ImageSize(width: 600, height: 400))
      #expect(found >= 1 && found <= 2600, "\(seed): \(found)")
    }
  }
}
