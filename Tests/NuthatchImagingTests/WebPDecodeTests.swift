import Glibc
import ImagingFixtures
import Testing

@testable import NuthatchImaging

private typealias WebP = WebPFixture

private let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

@Suite("Decoding of WebP") struct WebPDecodeTests {
  private static let pictures: [(String, [UInt8])] = [
    ("lossy", WebP.webp(90, 71)),
    ("lossy of several partitions", WebP.webp(90, 71) { $0.partitions = 2 }),
    ("lossy noise", WebP.webp(130, 100, samples: Fixture.noise(130 * 100 * 4, seed: 5))),
    ("lossy with alpha", WebP.webp(91, 70, alpha: true)),
    ("lossy with raw alpha", WebP.webp(91, 70, alpha: true) { $0.keeps_alpha_raw = 1 }),
    ("lossless", WebP.webp(90, 70, lossless: true)),
    ("lossless with alpha", WebP.webp(90, 70, lossless: true, alpha: true)),
    ("a first frame", WebP.animation(120, 90, flags: 18, [frame, frame])),
    ("a first frame of all", WebP.animation(90, 71, [whole, frame])),
    ("EXIF", WebP.file([WebP.extended(90, 71, flags: 8), WebP.pixels(of: WebP.webp(90, 71)), WebP.exif(8)])),
  ]

  private static let frame = WebP.frame(
    WebP.webp(91, 70, alpha: true), x: 6, y: 10, width: 91, height: 70)
  private static let whole = WebP.frame(WebP.webp(90, 71), width: 90, height: 71)

  @Test("at full size, pixels are libwebp's", arguments: [false, true], [false, true])
  func pixelsAreThoseOfLibwebp(lossless: Bool, alpha: Bool) throws {
    let sides = [1, 2, 3, 4, 5, 16, 17, 64, 131]
    for (index, width) in sides.enumerated() {
      for height in [sides[(index * 5 + 2) % 9], sides[8 - index]] {
        let webp = WebP.webp(width, height, lossless: lossless, alpha: alpha)
        let made = try #require(Decode.whole(webp).picture)
        let wanted = try #require(WebP.reference(webp))
        #expect(made.bytes == wanted.bytes, "\(width)x\(height)")
      }
    }
  }

  @Test("pieces of 1 to 5000 bytes give the same pixels as the whole file", arguments: pictures.indices)
  func piecesOfAnySizeGiveTheSamePixels(_ index: Int) {
    let (name, bytes) = Self.pictures[index]
    for boxes in [[ThumbnailBox(24)], [ThumbnailBox(70), ThumbnailBox(9)], []] {
      let whole = boxes.isEmpty ? Decode.whole(bytes) : Decode.thumbnails(bytes, boxes)
      #expect(whole.picture != nil, "\(name): \(whole)")
      for size in [1, 3, 100, 5000] {
        #expect(Decode.pieces(bytes, size, boxes).summary == whole.summary, "\(name), pieces of \(size)")
      }
    }
  }

  @Test("a prefix of a file gives the same pixels or fault in pieces as at once", arguments: pictures.indices)
  func everyPrefixGivesTheVerdictOfAtOnce(_ index: Int) {
    let (name, bytes) = Self.pictures[index]
    for allowDamaged in [false, true] {
      for earlyStop in [true, false] {
        var options = DecodeOptions()
        options.allowDamaged = allowDamaged
        options.earlyStop = earlyStop
        let step = max(1, bytes.count / (isSanitized ? 20 : 60))
        for count in Array(stride(from: 0, to: min(100, bytes.count), by: 1))
          + Array(stride(from: 100, through: bytes.count, by: step))
        {
          let prefix = Array(bytes[..<count])
          let boxes = [ThumbnailBox(24)]
          let whole = Decode.thumbnails(prefix, boxes, options)
          #expect(
            Decode.pieces(prefix, count % 2 == 0 ? 1 : 997, boxes, options).summary == whole.summary,
            "\(name), \(count) bytes")
          if !allowDamaged, let fault = whole.fault, count >= 12 {
            #expect(fault.kind == .truncated && fault.offset == count, "\(name), \(count): \(fault)")
          }
        }
      }
    }
  }

  @Test("a damaged file gives the same pixels or fault in pieces as at once", arguments: pictures.indices)
  func damageGivesTheVerdictOfAtOnce(_ index: Int) {
    let (name, bytes) = Self.pictures[index]
    var random = Random(seed: UInt64(index) + 40)
    for round in 0..<(isSanitized ? 30 : 120) {
      var damaged = bytes
      for _ in 0...random.below(4) {
        damaged[12 + random.below(bytes.count - 12)] = UInt8(truncatingIfNeeded: random.next())
      }
      var options = DecodeOptions()
      options.allowDamaged = round % 2 == 0
      options.limits.pixels = 1 << 20
      let boxes = [ThumbnailBox(20), ThumbnailBox(60)]
      let whole = Decode.thumbnails(damaged, boxes, options)
      for size in [7, 3000] {
        #expect(
          Decode.pieces(damaged, size, boxes, options).summary == whole.summary,
          "\(name), round \(round), pieces of \(size)")
      }
    }
  }

  @Test("a lossy WebP is decoded while it arrives, and no more bytes are needed after its last row")
  func lossyPicturesAreDecodedAsTheyArrive() throws {
    let noise = WebP.webp(900, 600, samples: Fixture.noise(900 * 600 * 4, seed: 9))
    let tail = WebP.chunk("XMP ", [UInt8](repeating: 1, count: 50_000))
    let file = WebP.file([WebP.extended(900, 600, flags: 4), WebP.pixels(of: noise), tail])
    let decoder = IncrementalThumbnailer(boxes: [ThumbnailBox(90)])
    var used = 0
    try file.withUnsafeBytes { bytes in
      for at in stride(from: 0, to: bytes.count, by: 1000) {
        used = min(bytes.count, at + 1000)
        if try decoder.feed(UnsafeRawBufferPointer(rebasing: bytes[at..<used])) == .enough { break }
      }
    }
    #expect(used < file.count - 45_000)
    let result = try decoder.finish()
    // Maybe without a byte of padding.
    #expect(result.report.denominator == 4 && (file.count - tail.count - result.report.bytesUsed) / 2 == 0)
    // The part that has arrived is there.
    var options = DecodeOptions()
    options.allowDamaged = true
    let half = Decode.thumbnails(Array(file[..<(noise.count / 2)]), [ThumbnailBox(90)], options)
    #expect(try half.get().report.isPartial)
    let (top, all) = (try #require(half.picture).bytes, result.pictures[0].bytes)
    #expect(top[..<(90 * 4 * 20)] == all[..<(90 * 4 * 20)])
  }

  @Test("an animation's first frame stands on a transparent canvas, and the others aren't needed")
  func theFirstFrameStandsOnItsCanvas() throws {
    for (lossless, alpha) in [(false, false), (false, true), (true, false), (true, true)] {
      let still = WebP.webp(60, 40, lossless: lossless, alpha: alpha)
      let frame = WebP.frame(still, x: 10, y: 4, width: 60, height: 40)
      let film = WebP.animation(
        100, 50, flags: alpha ? 18 : 2, [frame] + [[UInt8]](repeating: frame, count: 9))
      let picture = try #require(Decode.whole(film).picture)
      let inner = try #require(WebP.reference(still)).bytes
      var wanted = [UInt8](repeating: 0, count: 100 * 50 * 4)
      for y in 0..<40 {
        let start = ((y + 4) * 100 + 10) * 4
        wanted.replaceSubrange(start..<start + 240, with: inner[y * 240..<(y + 1) * 240])
      }
      #expect(picture.size == ImageSize(width: 100, height: 50) && picture.bytes == wanted)
      let first = 44 + frame.count
      #expect(
        Decode.thumbnails(Array(film[..<first]), [ThumbnailBox(30)]).summary
          == Decode.thumbnails(film, [ThumbnailBox(30)]).summary)
      #expect(Decode.whole(Array(film[..<(first - 60)])).fault?.kind == .truncated)
      let decoder = IncrementalThumbnailer(boxes: [ThumbnailBox(30)])
      let status = try film.withUnsafeBytes {
        try decoder.feed(UnsafeRawBufferPointer(rebasing: $0[..<first]))
      }
      #expect(status == .enough)
      #expect(try decoder.finish().info.isAnimated)
    }
  }

  @Test(
    "the beginning of an animation is enough when its first frame has come; a still picture has no such place"
  )
  func theFirstFrameIsWatched() throws {
    let film = WebP.animation(120, 90, flags: 18, [Self.frame, Self.frame])
    guard case .found(let info) = Decode.probe(film) else { throw FaultWord(word: "no picture") }
    for size in [1, 30, 10_000] {
      var watch = try #require(EarlyEnd.watch(info, boxes: [ThumbnailBox(20)]))
      var due: [Int] = []
      for at in stride(from: 0, to: film.count, by: size) {
        let end = min(film.count, at + size)
        let isDue = film.withUnsafeBytes { watch.feed(UnsafeRawBufferPointer(rebasing: $0[at..<end])) }
        if isDue { due.append(end) }
      }
      #expect(due.count == 1)
      let beginning = Array(film[..<(due.first ?? 0)])
      let wanted = Decode.thumbnails(film, [ThumbnailBox(20)]).picture?.bytes
      #expect(Decode.thumbnails(beginning, [ThumbnailBox(20)]).picture?.bytes == wanted)
    }
    guard case .found(let still) = Decode.probe(WebP.webp(90, 71)) else {
      throw FaultWord(word: "no picture")
    }
    #expect(EarlyEnd.watch(still, boxes: [ThumbnailBox(20)]) == nil)
  }

  @Test("the orientation of EXIF is applied", arguments: Orientation.allCases)
  func orientationsAreApplied(_ orientation: Orientation) throws {
    let still = WebP.webp(60, 41, lossless: true)
    let file = WebP.file([
      WebP.extended(60, 41, flags: 8), WebP.pixels(of: still), WebP.exif(orientation.rawValue),
    ])
    let wanted = try #require(Decode.whole(still).picture).oriented(orientation)
    for outcome in [Decode.whole(file), Decode.pieces(file, 100, [])] {
      let picture = try #require(outcome.picture)
      #expect(picture.size == wanted.size && picture.bytes == wanted.bytes)
    }
  }

  @Test("a profile converts the colours as a PNG's does; a broken one is ignored with a warning")
  func profilesAreApplied() throws {
    let profile = Fixture.profile(Int(NHT_ADOBE_RGB))
    let still = WebP.webp(60, 41, lossless: true)
    func tagged(_ profile: [UInt8]) -> [UInt8] {
      WebP.file([WebP.extended(60, 41, flags: 0x20), WebP.chunk("ICCP", profile), WebP.pixels(of: still)])
    }
    let png = profile.withUnsafeBufferPointer { profile in
      Fixture.png(60, 41) {
        $0.profile = profile.baseAddress
        $0.profile_bytes = profile.count
      }
    }
    let boxes = [ThumbnailBox(30)]
    let converted = try #require(Decode.thumbnails(tagged(profile), boxes).picture).bytes
    #expect(converted == Decode.thumbnails(png, boxes).picture?.bytes)
    #expect(converted != Decode.thumbnails(still, boxes).picture?.bytes)
    #expect(Decode.pieces(tagged(profile), 77, boxes).picture?.bytes == converted)
    var plain = DecodeOptions()
    plain.convertColors = false
    #expect(
      Decode.thumbnails(tagged(profile), boxes, plain).picture?.bytes
        == Decode.thumbnails(still, boxes).picture?.bytes)
    let broken = try Decode.thumbnails(tagged([1, 2, 3]), boxes).get()
    #expect(broken.warnings == ["an unusable ICC profile was ignored"] && broken.report.warningCount == 1)
  }

  @Test("several sizes of one decode have the pixels that each has alone", arguments: pictures.indices)
  func severalSizesAreAsEachAlone(_ index: Int) throws {
    let boxes = [80, 44, 22, 11, 5].map { ThumbnailBox($0) } + [ThumbnailBox(20, fit: .cover)]
    let (name, bytes) = Self.pictures[index]
    let together = try Decode.thumbnails(bytes, boxes).get().pictures
    for (box, picture) in zip(boxes, together) {
      #expect(Decode.thumbnails(bytes, [box]).picture?.bytes == picture.bytes, "\(name), \(box.width)")
    }
  }

  @Test("a large lossy picture has the same pixels in pieces, damaged, and in several sizes")
  func reducedPicturesAreTheSameInAnyWay() throws {
    let large = WebP.webp(901, 603) { $0.partitions = 1 }
    let boxes = [400, 200, 100, 50, 7].map { ThumbnailBox($0) }
    let together = try Decode.thumbnails(large, boxes).get()
    #expect(together.report.denominator == 1)
    for (box, picture) in zip(boxes, together.pictures) {
      let alone = try Decode.thumbnails(large, [box]).get()
      #expect(alone.report.denominator == [400: 1, 200: 2, 100: 4][box.width] ?? 8)
      #expect(alone.pictures[0].bytes == picture.bytes, "\(box.width)")
    }
    var options = DecodeOptions()
    options.allowDamaged = true
    for part in [1, 3, 10] {
      let prefix = Array(large[..<(large.count * part / 10)])
      for boxes in [boxes, [boxes[2]]] {
        let whole = Decode.thumbnails(prefix, boxes, options).summary
        for size in [50, 5000] {
          #expect(Decode.pieces(prefix, size, boxes, options).summary == whole, "\(part)")
        }
      }
    }
  }

  @Test(
    "a picture that is reduced as planes is close to one that is reduced at full size",
    arguments: [100, 60, 31])
  func reducedPlanesAreClose(_ side: Int) throws {
    for (width, height) in [(901, 603), (800, 625), (517, 1001)] {
      let webp = WebP.webp(width, height)
      let result = try Decode.thumbnails(webp, [ThumbnailBox(side)]).get()
      #expect(result.report.denominator > 1)
      let small = result.pictures[0]
      let decibels = small.decibels(from: try #require(WebP.reference(webp)).resampled(to: small.size))
      #expect(decibels > 45, "\(width)x\(height) to \(side): \(decibels) dB")
    }
  }

  @Test("an unreadable alpha plane is refused as `corrupt`")
  func aBrokenAlphaPlaneIsRefused() {
    var webp = WebP.webp(91, 70, alpha: true)
    // Behind the headers of RIFF, VP8X and ALPH: a method of compression that doesn't exist.
    webp[38] = 3
    let fault = Decode.whole(webp).fault
    #expect(fault?.kind == .corrupt && fault?.offset == 30, "\(fault as Any)")
    #expect(Decode.pieces(webp, 10, []).fault == fault)
  }
}
