import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("Decoding of JPEGs") struct JPEGDecodeTests {
  /// Mean difference from the smooth picture.
  private func distance(_ picture: PixelBuffer, _ expected: [UInt8], channels: Int = 3) -> Double {
    let bytes = picture.bytes
    var sum = 0
    for i in 0..<picture.width * picture.height {
      for c in 0..<3 {
        sum += abs(Int(bytes[4 * i + c]) - Int(expected[channels * i + min(c, channels - 1)]))
      }
    }
    return Double(sum) / Double(picture.width * picture.height * 3)
  }

  @Test(
    "colour and grey JPEGs of six samplings are decoded close to their source, without warnings",
    arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1), (4, 2)] as [(Int32, Int32)])
  func everySamplingDecodes(_ horizontal: Int32, _ vertical: Int32) throws {
    for color in [Int(NHT_YCC), Int(NHT_GRAY)] {
      let jpeg = Fixture.jpeg(61, 43, color: color, sampling: (horizontal, vertical))
      let result = try Decode.whole(jpeg).get()
      let picture = try #require(result.pictures.first)
      #expect(picture.isOpaque && picture.size == ImageSize(width: 61, height: 43))
      let expected = color == Int(NHT_GRAY) ? Fixture.gray(61, 43) : Fixture.rgb(61, 43)
      // Colour at a quarter of the width loses what is steep in the picture.
      #expect(distance(picture, expected, channels: color == Int(NHT_GRAY) ? 1 : 3) < 5)
      #expect(result.warnings.isEmpty)
    }
  }

  @Test("progressive, arithmetic, restart and multi-scan JPEGs decode to the baseline's pixels")
  func everyCodingGivesTheSamePicture() throws {
    let plain = try #require(Decode.whole(Fixture.jpeg(61, 43)).picture)
    let changes: [(inout nht_jpeg_options) -> Void] = [
      { $0.is_progressive = 1 }, { $0.is_arithmetic = 1 }, { $0.restart_rows = 1 }, { $0.separate_scans = 1 },
      {
        $0.is_arithmetic = 1
        $0.is_progressive = 1
      },
    ]
    for change in changes {
      let other = try #require(Decode.whole(Fixture.jpeg(61, 43, change)).picture)
      #expect(other.largestDifference(from: plain) == 0)
    }
    let rgb = try #require(Decode.whole(Fixture.jpeg(61, 43, color: Int(NHT_RGB), sampling: (1, 1))).picture)
    #expect(distance(rgb, Fixture.rgb(61, 43)) < 3)
  }

  @Test(
    "JPEGs of quality 1 to 100, intact or damaged, give the same in pieces as at once",
    arguments: [1, 20, 75, 93, 100] as [Int32])
  func piecesGiveWhatTheWholeGives(_ quality: Int32) {
    let boxes = [[], [ThumbnailBox(90)], [ThumbnailBox(30)]]
    var random = Random(seed: UInt64(quality))
    for (number, sampling) in ([(1, 1), (2, 1), (2, 2)] as [(Int32, Int32)]).enumerated() {
      let noise = Fixture.noise(187 * 141 * 3, seed: UInt64(number + 1))
      let samples = zip(noise, Fixture.rgb(187, 141)).map { grain, level -> UInt8 in
        let sum: Int = Int(grain) + 2 * Int(level)
        return UInt8(sum / 3)
      }
      let jpeg = Fixture.jpeg(187, 141, sampling: sampling, quality: quality, samples: samples)
      for boxes in boxes { Self.expectSame(jpeg, boxes, 512) }
      for _ in 0..<12 {
        var damaged = jpeg
        for _ in 0..<1 + random.below(3) {
          let at = damaged.count / 3 + random.below(damaged.count * 2 / 3)
          damaged[at] = [0xFF, 0, damaged[at] ^ 16, UInt8(random.below(256))][random.below(4)]
        }
        if random.below(4) == 0 { damaged.removeLast(random.below(damaged.count / 2)) }
        Self.expectSame(damaged, boxes[random.below(3)], 700)
      }
    }
  }

  private static func expectSame(_ jpeg: [UInt8], _ boxes: [ThumbnailBox], _ size: Int) {
    for allowDamaged in [false, true] {
      var options = DecodeOptions()
      options.allowDamaged = allowDamaged
      let whole = boxes.isEmpty ? Decode.whole(jpeg, options) : Decode.thumbnails(jpeg, boxes, options)
      #expect(Decode.pieces(jpeg, size, boxes, options).summary == whole.summary)
    }
  }

  @Test(
    "an ink value of 255 means no ink with Adobe's marker, and full ink without it",
    arguments: [Int(NHT_CMYK), Int(NHT_YCCK)])
  func inkIsReadBothWays(_ color: Int) throws {
    let ink = Fixture.cmyk(40, 30)
    for adobe: Int32 in [0, 1] where adobe == 1 || color == Int(NHT_CMYK) {
      let jpeg = Fixture.jpeg(40, 30, color: color, sampling: (1, 1)) { $0.write_adobe = adobe }
      let picture = try #require(Decode.whole(jpeg).picture)
      // With Adobe's marker 255 is no ink, without it 255 is full ink.
      let light = adobe == 1 ? ink : ink.map { 255 - $0 }
      let expected = (0..<40 * 30).flatMap { (pixel: Int) -> [UInt8] in
        let black = Int(light[4 * pixel + 3])
        return (0..<3).map { (channel: Int) -> UInt8 in UInt8(Int(light[4 * pixel + channel]) * black / 255) }
      }
      #expect(distance(picture, expected) < 3)
    }
  }

  @Test(
    "a JPEG's EXIF orientation is applied to the picture, its thumbnail and its crop",
    arguments: Orientation.allCases)
  func orientationIsAppliedOnce(_ orientation: Orientation) throws {
    let upright = try #require(Decode.whole(Fixture.jpeg(48, 32)).picture)
    let jpeg = Fixture.inserting(Fixture.exif(orientation.rawValue), into: Fixture.jpeg(48, 32))
    let result = try Decode.whole(jpeg).get()
    let picture = try #require(result.pictures.first)
    #expect(picture.size == result.originalSize)
    for (x, y) in [(0, 0), (47, 0), (0, 31), (47, 31), (10, 3)] {
      // Where EXIF says that the stored pixel has to be shown.
      let (w, h) = (48, 32)
      let (shownX, shownY): (Int, Int) =
        switch orientation {
        case .upright: (x, y)
        case .mirrored: (w - 1 - x, y)
        case .rotated180: (w - 1 - x, h - 1 - y)
        case .flipped: (x, h - 1 - y)
        case .transposed: (y, x)
        case .rotated90: (h - 1 - y, x)
        case .transversed: (h - 1 - y, w - 1 - x)
        case .rotated270: (y, w - 1 - x)
        }
      let shown = (shownY * picture.width + shownX) * 4
      let stored = (y * 48 + x) * 4
      #expect(picture.bytes[shown..<shown + 4] == upright.bytes[stored..<stored + 4])
    }
    let box = ThumbnailBox(width: 24, height: 24)
    let thumb = try #require(Decode.thumbnails(jpeg, [box]).picture)
    #expect(
      thumb.size
        == (orientation.swapsSides ? ImageSize(width: 16, height: 24) : ImageSize(width: 24, height: 16)))
    // A cut shows the same part of the upright picture, whichever way it is stored.
    let fill = ThumbnailBox(width: 16, height: 16, fit: .cover)
    let cut = try #require(Decode.thumbnails(jpeg, [fill]).picture)
    let reference = try #require(Decode.thumbnails(Fixture.jpeg(48, 32), [fill]).picture)
    #expect(cut.largestDifference(from: try reference.oriented(orientation)) <= 1)
  }

  @Test("a cut JPEG is refused as `truncated` with its place, but decoded if it lacks only its end marker")
  func truncationIsAnErrorWithItsPlace() throws {
    let jpeg = Fixture.jpeg(64, 64, quality: 90)
    for count in stride(from: 4, to: jpeg.count - 2, by: 13) {
      let fault = try #require(Decode.whole(Array(jpeg[..<count])).fault, "\(count) of \(jpeg.count) bytes")
      #expect(fault.kind == .truncated)
      #expect((0...count).contains(try #require(fault.offset)))
    }
    // Only the end marker is missing: every pixel is there.
    #expect(Decode.whole(Array(jpeg.dropLast(2))).picture != nil)
  }

  @Test("a cut progressive JPEG is refused as `truncated`")
  func progressiveTruncationIsAnError() throws {
    let jpeg = Fixture.jpeg(64, 64, quality: 90) { $0.is_progressive = 1 }
    for count in stride(from: 4, to: jpeg.count - 60, by: 13) {
      #expect(Decode.whole(Array(jpeg[..<count])).fault?.kind == .truncated)
    }
  }

  @Test("with `allowDamaged`, a truncated JPEG gives a partial picture with right first rows")
  func thePartThatDecodedComesOnRequest() throws {
    var options = DecodeOptions()
    options.allowDamaged = true
    let jpeg = Fixture.jpeg(64, 64, quality: 90)
    let whole = try #require(Decode.whole(jpeg).picture)
    let result = try Decode.whole(Array(jpeg[..<(jpeg.count * 3 / 4)]), options).get()
    #expect(result.report.isPartial && result.report.fault?.kind == .truncated)
    let picture = try #require(result.pictures.first)
    #expect(picture.bytes[..<(64 * 4 * 8)] == whole.bytes[..<(64 * 4 * 8)])
    #expect(picture.bytes != whole.bytes)
  }

  @Test("a JPEG with damage in the middle is refused as `corrupt`, or partial with `allowDamaged`")
  func damageInTheMiddleIsCorrupt() throws {
    var jpeg = Fixture.jpeg(128, 128, quality: 90)
    let middle = jpeg.count / 2
    for i in middle..<middle + 40 { jpeg[i] = i % 2 == 0 ? 0xFF : 0xD9 }
    #expect(Decode.whole(jpeg).fault?.kind == .corrupt)
    var options = DecodeOptions()
    options.allowDamaged = true
    #expect(try Decode.whole(jpeg, options).get().report.isPartial)
  }

  @Test("stray bytes before a JPEG's first segment are `notAnImage`, after it they are a warning")
  func strayBytesAreAWarning() throws {
    let jpeg = Fixture.inserting([0, 1, 2, 3, 4], into: Fixture.jpeg(16, 16))
    // libjpeg and the sniffer want a marker at once; stray bytes come later.
    #expect(Decode.whole(jpeg).fault?.kind == .notAnImage)
    let later = Array(Fixture.jpeg(16, 16))
    let stray = Array(later[..<20]) + [0, 1, 2, 3] + Array(later[20...])
    let result = try Decode.whole(stray).get()
    #expect(result.report.warningCount == 1 && result.warnings.count == 1 && !result.report.isPartial)
  }

  @Test("for a fifth of the width, `best` decodes a JPEG at half its size and `fast` at a quarter")
  func fastAndBestChooseTheirScale() throws {
    let jpeg = Fixture.jpeg(640, 480)
    let best = try Decode.thumbnails(jpeg, [ThumbnailBox(128)]).get()
    let fast = try Decode.thumbnails(jpeg, [ThumbnailBox(128, scaling: .fast)]).get()
    #expect(best.report.denominator == 2 && fast.report.denominator == 4)
    let whole = try Decode.thumbnails(jpeg, [ThumbnailBox(640)]).get()
    #expect(whole.report.denominator == 1)
    #expect(whole.pictures[0].largestDifference(from: try #require(Decode.whole(jpeg).picture)) == 0)
  }

  @Test("a JPEG whose colours have a quarter of the columns or rows is reduced less")
  func narrowColorsAreReducedLess() throws {
    for (horizontal, vertical, greatest): (Int32, Int32, Int) in [
      (4, 1, 4), (1, 4, 4), (4, 2, 8), (2, 4, 8), (2, 1, 8), (2, 2, 8),
    ] {
      let jpeg = Fixture.jpeg(1001, 667, sampling: (horizontal, vertical))
      let small = try Decode.thumbnails(jpeg, [ThumbnailBox(40)]).get()
      #expect(small.report.denominator == greatest, "\(horizontal)x\(vertical)")
      #expect(Decode.pieces(jpeg, 500, [ThumbnailBox(40)]).picture?.bytes == small.pictures[0].bytes)
    }
  }

  @Test(
    "a JPEG's thumbnail is within 6 levels of the whole picture resampled to its size",
    arguments: [(1, 1), (2, 1), (1, 2), (2, 2), (4, 1)] as [(Int32, Int32)])
  func scaledPicturesLieWhereTheyShould(_ horizontal: Int32, _ vertical: Int32) throws {
    // A picture whose sides are no multiples, reduced: no shift against reducing it after a full decode.
    let jpeg = Fixture.jpeg(1001, 667, sampling: (horizontal, vertical))
    let whole = try #require(Decode.whole(jpeg).picture)
    for side in [60, 100, 250] {
      let thumb = try #require(Decode.thumbnails(jpeg, [ThumbnailBox(side)]).picture)
      let reference = try whole.resampled(to: thumb.size)
      // A quarter of the colour, spread smoothly or not, shows at steep places.
      #expect(thumb.largestDifference(from: reference) <= (horizontal == 4 ? 6 : 3))
    }
  }

  @Test("a JPEG with random bytes changed gives the same pixels or fault in pieces as at once")
  func mutatedJPEGsNeverTrapAndPiecesAgree() {
    var random = Random(seed: 5)
    for round in 0..<300 {
      var jpeg = Fixture.jpeg(40, 40, sampling: round % 3 == 0 ? (1, 1) : (2, 2)) {
        $0.is_progressive = round % 2 == 0 ? 1 : 0
        $0.is_arithmetic = round % 5 == 0 ? 1 : 0
        $0.restart_rows = round % 7 == 0 ? 1 : 0
      }
      for _ in 0..<1 + random.below(6) { jpeg[random.below(jpeg.count)] = UInt8(random.below(256)) }
      var options = DecodeOptions()
      options.allowDamaged = round % 4 == 0
      let whole = Decode.thumbnails(jpeg, [ThumbnailBox(20)], options)
      let pieces = Decode.pieces(jpeg, 1 + random.below(50), [ThumbnailBox(20)], options)
      #expect(
        whole.summary == pieces.summary,
        "round \(round) \(String(describing: pieces.fault)) \(String(describing: whole.fault))")
    }
  }

  @Test("damage near the end of a JPEG, and a missing part of it, give the same in pieces as at once")
  func damagedEnd() {
    var random = Random(seed: 9)
    for round in 0..<200 {
      var jpeg = Fixture.jpeg(300, 280, sampling: round % 3 == 0 ? (1, 1) : (2, 2), quality: 95) {
        $0.restart_rows = round % 4 == 0 ? 1 : 0
      }
      if round % 2 == 0 {
        let gap = jpeg.count - 3 - random.below(jpeg.count / 2)
        jpeg.removeSubrange(gap..<min(jpeg.count - 2, gap + 1 + random.below(3000)))
      }
      for _ in 0..<random.below(4) {
        jpeg[jpeg.count - 3 - random.below(min(5000, jpeg.count / 2))] = UInt8(random.below(256))
      }
      var options = DecodeOptions()
      options.allowDamaged = round % 3 == 0
      let boxes = round % 5 == 0 ? [ThumbnailBox(200), ThumbnailBox(20)] : [ThumbnailBox(100)]
      let whole = Decode.thumbnails(jpeg, boxes, options)
      let pieces = Decode.pieces(jpeg, 1 + random.below(9000), boxes, options)
      #expect(
        whole.summary == pieces.summary,
        "round \(round) \(String(describing: pieces.fault)) \(String(describing: whole.fault))")
    }
  }

  @Test("a byte behind a JPEG's end marker changes no pixel", arguments: [16, 100, 220, 640])
  func byteBehindTheEnd(_ side: Int) throws {
    for scans in [false, true] {
      let jpeg = Fixture.jpeg(side, side, quality: 90) { $0.is_progressive = scans ? 1 : 0 }
      for boxes in [[ThumbnailBox(side)], [ThumbnailBox(side / 4), ThumbnailBox(side)]] {
        // libjpeg gets the rest of the first one in a longer buffer (`nhs_jpeg_extend`).
        let plain = try Decode.thumbnails(jpeg, boxes).get()
        let longer = try Decode.thumbnails(jpeg + [0], boxes).get()
        #expect(plain.pictures.map(\.bytes) == longer.pictures.map(\.bytes))
        #expect(plain.report.bytesUsed == longer.report.bytesUsed)
      }
    }
  }
}
