import Glibc
import ImagingFixtures
import Testing

@testable import NuthatchImaging

private typealias AVIF = AVIFFixture

private let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

@Suite("Decoding of AVIF") struct AVIFDecodeTests {
  private static let pictures: [(String, [UInt8])] = [
    ("4:2:0", AVIF.still(AVIF.color)),
    ("grey", AVIF.still(AVIF.alpha)),
    ("10 bits, 4:4:4", AVIF.still(AVIF.deep)),
    ("12 bits, 4:2:2", AVIF.still(AVIF.deepest)),
    ("alpha", AVIF.withAlpha().bytes),
    ("premultiplied alpha", AVIF.withAlpha(isPremultiplied: true).bytes),
    ("a grid", AVIF.grid(AVIF.color, rows: 2, columns: 3, ImageSize(width: 250, height: 131)).bytes),
    (
      "a part, turned", AVIF.still(AVIF.color, [AVIF.clap(7, 11, 60, 41, of: AVIF.color.size), AVIF.turn(1)])
    ),
    ("a sequence", AVIF.sequence([AVIF.color.bytes, AVIF.color.bytes], AVIF.color)),
    ("a sequence with alpha", AVIF.sequence([AVIF.color.bytes], AVIF.color, alpha: AVIF.alpha)),
    ("PQ", AVIF.still(AVIF.deep, [AVIF.nclx(9, 16, 9, isFull: false)])),
  ]

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
        for count in stride(from: 0, through: bytes.count, by: isSanitized ? 29 : 3) {
          let prefix = Array(bytes[..<count])
          let boxes = [ThumbnailBox(24)]
          let whole = Decode.thumbnails(prefix, boxes, options)
          let size = count % 2 == 0 ? 1 : 997
          #expect(
            Decode.pieces(prefix, size, boxes, options).summary == whole.summary, "\(name), \(count) bytes")
          if let fault = whole.fault, count >= 32 {
            #expect(fault.kind == .truncated && fault.offset == count, "\(name), \(count): \(fault)")
          }
        }
      }
    }
  }

  @Test("a damaged file gives the same pixels or fault in pieces as at once", arguments: pictures.indices)
  func damageGivesTheVerdictOfAtOnce(_ index: Int) {
    let (name, bytes) = Self.pictures[index]
    var random = Random(seed: UInt64(index) + 70)
    for round in 0..<(isSanitized ? 60 : 400) {
      var damaged = bytes
      for _ in 0...random.below(4) {
        damaged[20 + random.below(bytes.count - 20)] = UInt8(truncatingIfNeeded: random.next())
      }
      var options = DecodeOptions()
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

  @Test("a picture's last byte is enough, and what follows isn't waited for")
  func theLastByteIsEnough() throws {
    let file = AVIF.still(AVIF.color) + AVIF.box("free", [UInt8](repeating: 0, count: 5000))
    let decoder = IncrementalThumbnailer(boxes: [ThumbnailBox(30)])
    let end = AVIF.still(AVIF.color).count
    let statuses = try file.withUnsafeBytes { bytes in
      [
        try decoder.feed(UnsafeRawBufferPointer(rebasing: bytes[..<(end - 1)])),
        try decoder.feed(UnsafeRawBufferPointer(rebasing: bytes[(end - 1)..<end])),
      ]
    }
    #expect(statuses == [.needMore, .enough])
    #expect(try decoder.finish().report.bytesUsed == end)
    // Of a sequence, the first picture is enough.
    let film = AVIF.sequence(
      [AVIF.color.bytes] + [[UInt8]](repeating: AVIF.color.bytes, count: 20), AVIF.color)
    guard case .found(let info) = Decode.probe(film) else { throw FaultWord(word: "no picture") }
    var watch = try #require(EarlyEnd.watch(info, boxes: [ThumbnailBox(20)]))
    let due = film.count - 20 * AVIF.color.bytes.count
    let isDue = film.withUnsafeBytes { watch.feed(UnsafeRawBufferPointer(rebasing: $0[..<due])) }
    #expect(isDue)
    #expect(
      Decode.whole(Array(film[..<due])).picture?.bytes == Decode.whole(AVIF.still(AVIF.color)).picture?.bytes)
    #expect(Decode.whole(Array(film[..<(due - 1)])).fault?.kind == .truncated)
    guard case .found(let still) = Decode.probe(AVIF.still(AVIF.color)) else {
      throw FaultWord(word: "no picture")
    }
    #expect(EarlyEnd.watch(still, boxes: [ThumbnailBox(20)]) == nil)
  }

  private func first(_ bits: AVIF.Bits, _ properties: [AVIF.Property]) throws -> [UInt8] {
    Array(try #require(Decode.whole(AVIF.still(bits, properties)).picture).bytes[..<4])
  }

  /// The colour that a standard gives to Y, U and V of eight bits.
  private func wanted(_ red: Double, _ blue: Double, isFull: Bool) -> [Double] {
    let y = isFull ? 120 / 255.0 : (120 - 16) / 219.0
    let (u, v) = ((90 - 128) / (isFull ? 255.0 : 224), (180 - 128) / (isFull ? 255.0 : 224))
    let (r, b) = (y + 2 * (1 - red) * v, y + 2 * (1 - blue) * u)
    return [r, (y - red * r - blue * b) / (1 - red - blue), b].map { min(255, max(0, $0 * 255)) }
  }

  @Test("each matrix gives its colours in full and in limited range, with 8, 10 and 12 bits")
  func matricesGiveTheirColours() throws {
    // The last ones come from the primaries.
    let matrices: [(Int, Double, Double, primaries: Int)] = [
      (1, 0.2126, 0.0722, 1), (2, 0.299, 0.114, 1), (4, 0.30, 0.11, 1), (5, 0.299, 0.114, 1),
      (6, 0.299, 0.114, 1), (7, 0.212, 0.087, 1), (9, 0.2627, 0.0593, 1), (12, 0.2126, 0.0722, 1),
      (12, 0.299, 0.1146, 4), (12, 0.299, 0.114, 5), (12, 0.299, 0.114, 6), (12, 0.2124, 0.0866, 7),
      (12, 0.2536, 0.0681, 8), (12, 0.2627, 0.0593, 9), (12, 0, 0, 10), (12, 0.2095, 0.0689, 11),
      (12, 0.229, 0.0793, 12), (12, 0.2318, 0.096, 22), (12, 0.2126, 0.0722, 99),
    ]
    for bits in [AVIF.plain, AVIF.plainDeep, AVIF.plainDeepest] {
      for (matrix, red, blue, primaries) in matrices {
        for isFull in [false, true] {
          let made = try first(bits, [AVIF.nclx(primaries, 13, matrix, isFull: isFull)])
          // libyuv's blue is at most 2 U in limited range: here up to 6 levels too much.
          for (index, (value, exact)) in zip(made, wanted(red, blue, isFull: isFull)).enumerated() {
            let most = index == 2 && !isFull ? 7.0 : 2.0
            #expect(abs(Double(value) - exact) <= most, "\(matrix) \(primaries) \(isFull) \(made)")
          }
          #expect(made[3] == 255)
        }
      }
      let identity = try first(bits, [AVIF.nclx(1, 13, 0, isFull: true)])
      #expect(zip(identity, [180, 120, 90]).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(identity)")
      // YCgCo: green is Y + Cg, and so on.
      let other = try first(bits, [AVIF.nclx(1, 13, 8, isFull: true)])
      #expect(zip(other, [210, 82, 106]).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(other)")
    }
  }

  @Test("the container's colours beat the bitstream's")
  func theContainersColoursCount() throws {
    let own = try first(AVIF.plain, [])
    #expect(own[..<3] == [180, 120, 90])
    #expect(try first(AVIF.plain, [AVIF.nclx(1, 13, 6, isFull: true)]) != own)
  }

  @Test("alpha is the auxiliary picture's, and premultiplied colours are divided by it")
  func alphaIsApplied() throws {
    let colors = try #require(Decode.whole(AVIF.still(AVIF.color)).picture)
    let alphas = try #require(Decode.whole(AVIF.still(AVIF.alpha)).picture)
    let straight = try #require(Decode.whole(AVIF.withAlpha().bytes).picture)
    let divided = try #require(Decode.whole(AVIF.withAlpha(isPremultiplied: true).bytes).picture)
    #expect(!straight.isOpaque)
    for pixel in stride(from: 0, to: colors.byteCount, by: 4) {
      #expect(straight.bytes[pixel..<pixel + 3] == colors.bytes[pixel..<pixel + 3])
      let alpha = Int(straight.bytes[pixel + 3])
      #expect(abs(alpha - Int(alphas.bytes[pixel])) <= 1)
      for channel in 0..<3 {
        let wanted = alpha == 0 ? 0 : min(255, (Int(colors.bytes[pixel + channel]) * 255 + alpha / 2) / alpha)
        #expect(Int(divided.bytes[pixel + channel]) == wanted)
      }
    }
  }

  @Test("10 bits with alpha have libavif's colours, which are coloured before they are cut to 8 bits")
  func deepSamplesWithAlphaAreWhole() throws {
    let colors = AVIF.nclx(1, 13, 6, isFull: true)
    let file = AVIF.File(
      [AVIF.Item(AVIF.deepHalved, [colors]), AVIF.Item(AVIF.deepAlpha, [AVIF.alphaName])],
      [("auxl", 2, [1])])
    let picture = try #require(Decode.whole(file.bytes).picture)
    for (x, y, wanted) in [
      (23, 10, [154, 184, 64, 200]), (7, 12, [72, 165, 38, 200]), (12, 21, [102, 62, 40, 200]),
      (26, 21, [175, 61, 98, 200]),
    ] {
      let made = picture.bytes[(y * 32 + x) * 4..<(y * 32 + x) * 4 + 4]
      #expect(zip(made, wanted).allSatisfy { abs(Int($0) - $1) <= 1 }, "\(x), \(y): \(made)")
    }
  }

  @Test("the tiles of a grid stand next to each other, and the last ones are cut off")
  func gridsAreJoined() throws {
    let tile = try #require(Decode.whole(AVIF.still(AVIF.color)).picture)
    for (size, alpha) in [
      (ImageSize(width: 250, height: 131), false), (ImageSize(width: 270, height: 140), false),
      (ImageSize(width: 181, height: 71), true),
    ] {
      var file = AVIF.grid(AVIF.color, rows: 2, columns: 3, size)
      if alpha {
        // Each tile has alpha of its own.
        file.items += [AVIF.Item](repeating: AVIF.Item(AVIF.alpha, [AVIF.alphaName]), count: 6)
        file.references += (0..<6).map { ("auxl", 8 + $0, [2 + $0]) }
      }
      let made = try #require(Decode.whole(file.bytes).picture)
      #expect(made.size == size && made.isOpaque == !alpha)
      // At the seams, chroma is enlarged across the tiles.
      for (x, y) in [(0, 0), (44, 30), (91 + 5, 3), (89 + 40, 60), (180, 40), (100, 70)]
      where x < size.width && y < size.height {
        guard x % 90 > 1, y % 70 > 1 else { continue }
        let here = (y * size.width + x) * 4
        let there = (y % 70 * 90 + x % 90) * 4
        #expect(made.bytes[here..<here + 3] == tile.bytes[there..<there + 3], "\(x), \(y)")
      }
    }
  }

  @Test("a part of a picture has the pixels that the whole has there, and is then turned")
  func partsAreCutOut() throws {
    let size = AVIF.color.size
    let whole = try #require(Decode.whole(AVIF.still(AVIF.color)).picture)
    for (x, y) in [(0, 0), (10, 20), (7, 11)] {
      let part = try #require(
        Decode.whole(AVIF.still(AVIF.color, [AVIF.clap(x, y, 40, 30, of: size)])).picture)
      #expect(part.size == ImageSize(width: 40, height: 30))
      for row in 0..<30 {
        let start = ((y + row) * 90 + x) * 4
        #expect(part.bytes[row * 160..<(row + 1) * 160] == whole.bytes[start..<start + 160])
      }
      let turned = try #require(
        Decode.whole(
          AVIF.still(AVIF.color, [AVIF.clap(x, y, 40, 30, of: size), AVIF.turn(1), AVIF.mirror(0)])
        ).picture)
      #expect(try turned.bytes == part.oriented(.transposed).bytes)
    }
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

  @Test(
    "a large picture has the same pixels in several sizes and in pieces, and is close to one of full size")
  func reducedPicturesAreTheSameInAnyWay() throws {
    let shown = AVIF.clap(4, 2, 893, 601, of: AVIF.large.size)
    for (most, properties) in [
      (8, []), (8, [shown]),
      // HDR is reduced less.
      (2, [AVIF.nclx(9, 16, 9, isFull: false)]), (2, [AVIF.nclx(9, 18, 9, isFull: true)]),
    ] {
      let large = AVIF.still(AVIF.large, properties)
      let boxes = [400, 200, 100, 50, 7].map { ThumbnailBox($0) }
      let together = try Decode.thumbnails(large, boxes).get()
      #expect(together.report.denominator == 1)
      let full = try #require(Decode.whole(large).picture)
      for (box, picture) in zip(boxes, together.pictures) {
        let alone = try Decode.thumbnails(large, [box]).get()
        #expect(alone.report.denominator == min([400: 1, 200: 2, 100: 4][box.width] ?? 8, most))
        #expect(alone.pictures[0].bytes == picture.bytes, "\(box.width)")
        #expect(Decode.pieces(large, 300, [box]).picture?.bytes == picture.bytes)
        let decibels = picture.decibels(from: try full.resampled(to: picture.size))
        // A picture of so few bytes has strong filters. What isn't filtered shows most at 1/4.5.
        #expect(decibels > (box.width == 200 ? 42 : 45), "to \(box.width): \(decibels) dB")
      }
    }
    // Averages begin with whole samples of chroma.
    let odd = AVIF.still(AVIF.large, [AVIF.clap(3, 2, 895, 601, of: AVIF.large.size)])
    #expect(try Decode.thumbnails(odd, [ThumbnailBox(50)]).get().report.denominator == 1)
  }

  @Test("a profile converts the colours, and beats what nclx says; a broken one is ignored with a warning")
  func profilesAreApplied() throws {
    func tagged(_ profile: [UInt8], _ kind: String = "prof") -> [UInt8] {
      AVIF.still(
        AVIF.color,
        [AVIF.Property(AVIF.box("colr", AVIF.name(kind) + profile)), AVIF.nclx(1, 16, 6, isFull: false)])
    }
    let profile = Fixture.profile(Int(NHT_ADOBE_RGB))
    let boxes = [ThumbnailBox(30)]
    var plain = DecodeOptions()
    plain.convertColors = false
    let unconverted = try #require(Decode.thumbnails(tagged(profile), boxes, plain).picture).bytes
    let converted = try #require(Decode.thumbnails(tagged(profile), boxes).picture).bytes
    #expect(converted != unconverted)
    #expect(Decode.thumbnails(tagged(profile, "rICC"), boxes).picture?.bytes == converted)
    #expect(Decode.pieces(tagged(profile), 77, boxes).picture?.bytes == converted)
    #expect(
      unconverted
        == Decode.thumbnails(AVIF.still(AVIF.color, [AVIF.nclx(1, 13, 6, isFull: false)]), boxes).picture?
        .bytes)
    let broken = try Decode.thumbnails(tagged([1, 2, 3]), boxes).get()
    #expect(broken.warnings == ["an unusable ICC profile was ignored"] && broken.report.warningCount == 1)
  }

  @Test("PQ and HLG of any primaries become sRGB as in Chromium")
  func lightIsMapped() throws {
    // What Chromium 156 shows.
    let shown: [(transfer: Int, primaries: Int, pixel: [UInt8])] = [
      (16, 9, [255, 0, 12]), (16, 1, [255, 97, 51]), (16, 12, [255, 74, 14]),
      (18, 9, [185, 84, 67]), (18, 1, [155, 95, 72]), (18, 12, [166, 91, 67]),
    ]
    for (transfer, primaries, pixel) in shown {
      let made = try first(AVIF.plainDeep, [AVIF.nclx(primaries, transfer, 0, isFull: true)])
      #expect(zip(made, pixel).allSatisfy { abs(Int($0) - Int($1)) <= 1 }, "\(transfer) \(primaries) \(made)")
    }
  }

  @Test("a picture of many pixels is refused before it is decoded, and so is one that needs too much memory")
  func bombsAreRefused() throws {
    var bomb = AVIF.File([AVIF.Item(AVIF.color)])
    bomb.items[0].properties[0] = AVIF.Property(AVIF.ispe(ImageSize(width: 20_000, height: 20_000)))
    #expect(Decode.thumbnails(bomb.bytes, [ThumbnailBox(64)]).fault?.kind == .tooManyPixels)
    var options = DecodeOptions()
    options.limits.memory = 3 << 20
    let fault = Decode.thumbnails(AVIF.still(AVIF.large), [ThumbnailBox(64)], options).fault
    #expect(fault?.kind == .tooManyPixels)
    #expect(fault?.message.hasPrefix("an AVIF of 901x603 needs ") == true, "\(fault as Any)")
    // A tile counts, however small the grid is.
    var grid = AVIF.grid(AVIF.color, rows: 1, columns: 1, ImageSize(width: 60, height: 60))
    grid.items[1].properties[0] = AVIF.Property(AVIF.ispe(ImageSize(width: 20_000, height: 20_000)))
    #expect(Decode.thumbnails(grid.bytes, [ThumbnailBox(64)]).fault?.kind == .tooManyPixels)
    // The announced samples are fewer than the bitstream's.
    var small = AVIF.deep
    small.config[2] = 0x1C
    options.limits.memory = 2_700_000
    let outcome = Decode.thumbnails(AVIF.still(small), [ThumbnailBox(8)], options)
    #expect(outcome.fault == nil || outcome.fault?.kind == .tooManyPixels, "\(outcome)")
  }
}
