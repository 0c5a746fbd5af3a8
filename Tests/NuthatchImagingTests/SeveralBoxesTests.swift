import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("Several thumbnails of one picture") struct SeveralBoxesTests {
  private static let width = 403
  private static let height = 310
  /// One for each scale that a JPEG can be decoded at, and a few that share one.
  private static let boxes = [
    ThumbnailBox(20), ThumbnailBox(50), ThumbnailBox(100), ThumbnailBox(200),
    ThumbnailBox(110, scaling: .fast),
    ThumbnailBox(width: 60, height: 50, fit: .cover), ThumbnailBox(width: 40, height: 90, fit: .stretch),
    ThumbnailBox(500, enlarge: true),
  ]

  /// Full of hard edges between saturated colours, which averages of finished pixels get wrong: they were
  /// clamped, and colours of half the resolution widened, before.
  private static let harsh: [UInt8] = {
    let noise = Fixture.noise((width / 3 + 1) * (height / 3 + 1) * 3, seed: 3)
    var samples: [UInt8] = []
    for y in 0..<height {
      for x in 0..<width {
        let at = (y / 3 * (width / 3 + 1) + x / 3) * 3
        for c in 0..<3 { samples.append(noise[at + c] < 128 ? 0 : 255) }
      }
    }
    return samples
  }()

  private static func jpeg(
    color: Int = Int(NHT_YCC), sampling: (Int32, Int32) = (2, 2),
    _ change: (inout nht_jpeg_options) -> Void = { _ in }
  ) -> [UInt8] {
    let channels = color == Int(NHT_GRAY) ? 1 : color >= Int(NHT_CMYK) ? 4 : 3
    let samples = (0..<width * height * channels).map { harsh[$0 % harsh.count] }
    return Fixture.jpeg(
      width, height, color: color, sampling: sampling, quality: 90, samples: samples, change)
  }

  private static let pictures: [(String, [UInt8])] = {
    let progressive = jpeg { $0.is_progressive = 1 }
    let alpha = Fixture.noise(width * height * 4, seed: 5, smooth: true)
    return [
      ("4:2:0", jpeg()), ("4:4:4", jpeg(sampling: (1, 1))), ("4:2:2", jpeg(sampling: (2, 1))),
      ("4:4:0", jpeg(sampling: (1, 2))), ("4:1:1", jpeg(sampling: (4, 1))),
      ("gray", jpeg(color: Int(NHT_GRAY), sampling: (1, 1))),
      ("gray, two rows of blocks", jpeg(color: Int(NHT_GRAY), sampling: (1, 2))),
      ("RGB", jpeg(color: Int(NHT_RGB), sampling: (1, 1))),
      ("CMYK", jpeg(color: Int(NHT_CMYK), sampling: (1, 1))),
      ("YCCK", jpeg(color: Int(NHT_YCCK))), ("progressive", progressive),
      ("progressive YCCK", jpeg(color: Int(NHT_YCCK)) { $0.is_progressive = 1 }),
      ("separate scans", jpeg { $0.separate_scans = 1 }), ("arithmetic", jpeg { $0.is_arithmetic = 1 }),
      ("progressive arithmetic", jpeg { ($0.is_arithmetic, $0.is_progressive) = (1, 1) }),
      ("restarts", jpeg { $0.restart_rows = 1 }),
      ("turned", Fixture.inserting(Fixture.exif(6), into: jpeg())),
      ("profile", Fixture.inserting(Fixture.iccSegments(Fixture.profile(Int(NHT_ADOBE_RGB))), into: jpeg())),
      ("ends early", Array(jpeg().dropLast(9000))),
      ("progressive, ends early", Array(progressive.prefix(progressive.count / 2))),
      ("progressive, ends in its first scan", Array(progressive.prefix(progressive.count / 20))),
      ("progressive, few scans", scans(3, of: progressive)),
      ("damaged", damaged(jpeg { $0.restart_rows = 2 })), ("progressive, damaged", damaged(progressive)),
      ("png", Fixture.png(width, height, samples: harsh)),
      ("png with alpha", Fixture.png(width, height, type: 6, samples: alpha)),
      ("interlaced png", Fixture.png(width, height, samples: harsh) { $0.is_interlaced = 1 }),
    ]
  }()

  /// Without its later scans, but with its end.
  private static func scans(_ count: Int, of jpeg: [UInt8]) -> [UInt8] {
    let starts = jpeg.indices.dropLast().filter { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA }
    let end = jpeg[..<starts[count]].indices.last { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC4 } ?? 0
    return Array(jpeg[..<end]) + [0xFF, 0xD9]
  }

  private static func damaged(_ jpeg: [UInt8]) -> [UInt8] {
    var jpeg = jpeg
    for at in stride(from: jpeg.count / 3, to: jpeg.count - 2, by: jpeg.count / 7) { jpeg[at] ^= 0x5A }
    return jpeg
  }

  @Test(
    "thumbnails that are made together equal those made alone, at once and in pieces",
    arguments: pictures.indices)
  func severalBoxesGiveTheSameAsEachAlone(_ index: Int) throws {
    let (name, bytes) = Self.pictures[index]
    for earlyStop in [true, false] {
      var options = DecodeOptions()
      options.allowDamaged = true
      options.earlyStop = earlyStop
      let alone = try Self.boxes.map { box in
        try #require(Decode.thumbnails(bytes, [box], options).picture, "\(name), \(box)")
      }
      let boxes = Self.boxes
      let outcomes =
        [Decode.thumbnails(bytes, boxes, options)]
        + [61, 5000].map {
          Decode.pieces(bytes, $0, boxes, options)
        }
      for outcome in outcomes {
        let together = try outcome.get()
        #expect(together.pictures.count == boxes.count)
        for (place, picture) in together.pictures.enumerated() {
          let apart = picture.bytes == alone[place].bytes ? 0 : picture.largestDifference(from: alone[place])
          #expect(apart == 0, "\(name), \(boxes[place]), early stop \(earlyStop)")
        }
      }
    }
  }

  @Test("thumbnails come in the order of their boxes, also if a box is repeated")
  func theOrderOfBoxesIsKept() throws {
    let jpeg = Self.jpeg()
    let boxes = [3, 0, 2, 1, 0].map { Self.boxes[$0] }
    let sizes = try Decode.thumbnails(jpeg, boxes).get().pictures.map(\.width)
    #expect(sizes == [200, 20, 100, 50, 20])
  }

  @Test("several thumbnails use as many scans and bytes of a JPEG as a large one alone")
  func smallOnesDontMakeTheInputBeReadAgain() throws {
    let jpeg = Self.jpeg { $0.is_progressive = 1 }
    let large = try Decode.thumbnails(jpeg, [Self.boxes[3]]).get().report
    let all = try Decode.thumbnails(jpeg, Self.boxes).get().report
    #expect(all.scansUsed == large.scansUsed && all.bytesUsed == large.bytesUsed)
    let small = try Decode.thumbnails(jpeg, [Self.boxes[0]]).get().report
    #expect(small.stoppedEarly && small.bytesUsed < large.bytesUsed)
  }

  @Test("two smaller thumbnails beside one of 1024 pixels need less than 8 MiB more")
  func memoryOfSeveralScalesIsLittleMore() throws {
    for bytes in [Self.jpeg(), Self.jpeg { $0.is_progressive = 1 }] {
      guard case .found(var info) = Decode.probe(bytes) else { throw FaultWord(word: "no picture") }
      info.size = ImageSize(width: 4000, height: 3000)
      func need(_ sides: [Int]) throws -> Int {
        try Thumbnailer.memoryNeed(info, boxes: sides.map { ThumbnailBox($0) })
      }
      let one = try need([1024])
      let all = try need([1024, 512, 256])
      #expect(all > one && all < one + (8 << 20))
    }
  }

  @Test("the limits of memory and of scans hold for several thumbnails, too")
  func limitsHoldForAllScalesTogether() throws {
    var options = DecodeOptions()
    options.limits.memory = 1 << 20
    let progressive = Self.jpeg { $0.is_progressive = 1 }
    #expect(Decode.thumbnails(progressive, Self.boxes, options).fault?.kind == .tooManyPixels)
    options.limits.memory = 256 << 20
    options.limits.scans = 3
    #expect(Decode.thumbnails(progressive, Self.boxes, options).fault?.kind == .tooLarge)
  }

  @Test("no box, a box of 0 pixels and 65 boxes are refused as `invalid`")
  func boxesMakeSense() {
    let png = Fixture.png(10, 10)
    #expect(Decode.thumbnails(png, []).fault?.kind == .invalid)
    #expect(Decode.thumbnails(png, [ThumbnailBox(0)]).fault?.kind == .invalid)
    #expect(Decode.thumbnails(png, Array(repeating: ThumbnailBox(4), count: 65)).fault?.kind == .invalid)
  }

  @Test("each thumbnail has the size that the fit and `enlarge` of its box give")
  func thumbnailsHaveTheirSize() throws {
    let jpeg = Fixture.jpeg(100, 40)
    let boxes = [
      ThumbnailBox(50), ThumbnailBox(width: 30, height: 30, fit: .cover),
      ThumbnailBox(width: 33, height: 20, fit: .stretch), ThumbnailBox(200), ThumbnailBox(200, enlarge: true),
    ]
    let sizes = try Decode.thumbnails(jpeg, boxes).get().pictures.map(\.size)
    #expect(
      sizes == [
        ImageSize(width: 50, height: 20), ImageSize(width: 30, height: 30), ImageSize(width: 33, height: 20),
        ImageSize(width: 100, height: 40), ImageSize(width: 200, height: 80),
      ])
  }
}
