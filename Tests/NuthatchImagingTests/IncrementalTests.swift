import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("Pictures that arrive in pieces") struct IncrementalTests {
  private static let box = [ThumbnailBox(24)]

  private static let pictures: [(String, [UInt8])] = [
    ("baseline", Fixture.jpeg(90, 70)),
    ("progressive", Fixture.jpeg(90, 70) { $0.is_progressive = 1 }),
    ("separate scans", Fixture.jpeg(90, 70) { $0.separate_scans = 1 }),
    ("arithmetic", Fixture.jpeg(90, 70) { $0.is_arithmetic = 1 }),
    ("restarts", Fixture.jpeg(90, 70) { $0.restart_rows = 1 }),
    ("ink", Fixture.jpeg(90, 70, color: Int(NHT_YCCK))),
    ("png", Fixture.png(90, 70)),
    ("interlaced png", Fixture.png(90, 70) { $0.is_interlaced = 1 }),
    ("gif", GIFFixture(90, 70).bytes),
    ("interlaced gif", interlacedGIF.bytes),
    ("bmp", BitmapFixture(90, 70, bits: 24).bmp),
    ("bmp of runs", runs.bmp),
    ("icon", BitmapFixture(90, 70, bits: 4).icon),
    ("icon of a png", ICOFixture([.init(90, 70, bits: 32, Fixture.png(90, 70, type: 6))]).bytes),
  ]

  private static var interlacedGIF: GIFFixture {
    var gif = GIFFixture(90, 70)
    (gif.isInterlaced, gif.transparent, gif.after) = (true, 3, gif.furtherFrame + [0x3B])
    return gif
  }

  private static var runs: BitmapFixture {
    var bitmap = BitmapFixture(90, 70, bits: 8)
    bitmap.compression = 1
    return bitmap
  }

  @Test("pieces of 1 to 1024 bytes give the same pixels as the whole file", arguments: pictures.indices)
  func piecesOfAnySizeGiveTheSamePixels(_ index: Int) {
    let (name, bytes) = Self.pictures[index]
    for boxes in [Self.box, []] {
      let whole = boxes.isEmpty ? Decode.whole(bytes) : Decode.thumbnails(bytes, boxes)
      #expect(whole.picture != nil)
      for size in [1, 3, 100, 1024] {
        #expect(Decode.pieces(bytes, size, boxes).summary == whole.summary, "\(name), pieces of \(size)")
      }
    }
  }

  @Test(
    "a prefix of a file gives the same pixels or fault byte by byte as at once",
    arguments: pictures.indices)
  func everyPrefixByteByByteEqualsAtOnce(_ index: Int) {
    let (name, bytes) = Self.pictures[index]
    for allowDamaged in [false, true] {
      var options = DecodeOptions()
      options.allowDamaged = allowDamaged
      for count in stride(from: 0, through: bytes.count, by: allowDamaged ? 67 : 41) {
        let prefix = Array(bytes[..<count])
        let whole = Decode.thumbnails(prefix, Self.box, options)
        #expect(
          Decode.pieces(prefix, 1, Self.box, options).summary == whole.summary, "\(name), \(count) bytes")
      }
    }
  }

  @Test("a small thumbnail of a progressive JPEG is made of less than a quarter of the file")
  func aProgressivePictureHasEnoughEarly() throws {
    let noise = Fixture.noise(640 * 480 * 3, seed: 3)
    let smooth = Fixture.rgb(640, 480)
    let samples = zip(noise, smooth).map { grain, level -> UInt8 in
      let sum: Int = Int(grain) / 8 + Int(level)
      return UInt8(sum * 7 / 8)
    }
    let jpeg = Fixture.jpeg(640, 480, quality: 90, samples: samples) { $0.is_progressive = 1 }
    let decoder = IncrementalThumbnailer(boxes: [ThumbnailBox(40)])
    var used = 0
    try jpeg.withUnsafeBytes { bytes in
      for at in stride(from: 0, to: bytes.count, by: 512) {
        used = min(bytes.count, at + 512)
        let piece = UnsafeRawBufferPointer(rebasing: bytes[at..<used])
        if try decoder.feed(piece) == .enough { break }
      }
    }
    let result = try decoder.finish()
    #expect(result.report.stoppedEarly && result.report.denominator == 8)
    #expect(used < jpeg.count / 4)
    #expect(result.report.bytesUsed <= used && result.report.bytesUsed > used - 1024)

    var patient = DecodeOptions()
    patient.earlyStop = false
    let all = try Decode.thumbnails(jpeg, [ThumbnailBox(40)], patient).get()
    #expect(!all.report.stoppedEarly && all.report.scansUsed == 10 && all.report.bytesUsed >= jpeg.count - 2)
    #expect(result.pictures[0].largestDifference(from: all.pictures[0]) <= 6)
    let atOnce = try Decode.thumbnails(jpeg, [ThumbnailBox(40)]).get()
    #expect(atOnce.report == result.report)
    #expect(atOnce.pictures[0].largestDifference(from: result.pictures[0]) == 0)
  }

  @Test("fill bytes within a JPEG's scan decode the same in pieces as at once")
  func fillBytesAmongPixelsDecodeTheSameInPieces() {
    // libjpeg-turbo's two ways of decoding treat them differently.
    let jpeg = Fixture.jpeg(100, 75, color: Int(NHT_GRAY), sampling: (1, 1))
    var options = DecodeOptions()
    options.allowDamaged = true
    let start = jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA } ?? 0
    for place in stride(from: start + 12, to: jpeg.count - 10, by: 31) {
      var filled = jpeg
      filled.replaceSubrange(place..<place, with: [0xFF, 0xFF, 0xFF, 0])
      let whole = Decode.thumbnails(filled, Self.box, options)
      for size in [1, 2, 700] {
        #expect(Decode.pieces(filled, size, Self.box, options).summary == whole.summary, "\(place), \(size)")
      }
    }
  }

  @Test("a JPEG with two huge frame headers is refused as `tooManyPixels`, at once and in pieces")
  func tooManyPixelsComeBeforeOtherFaults() {
    var jpeg = Fixture.jpeg(16, 16)
    let frame = jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC0 } ?? 0
    jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
    let twice = Array(jpeg[..<(frame + 19)]) + Array(jpeg[frame...])
    for outcome in [Decode.thumbnails(twice, Self.box)]
      + [1, 9, 5000].map({ Decode.pieces(twice, $0, Self.box) })
    {
      #expect(outcome.fault?.kind == .tooManyPixels)
    }
  }

  @Test("a progressive JPEG that is decoded at full size uses all its scans")
  func noStopWhereEveryScanMatters() throws {
    let jpeg = Fixture.jpeg(64, 64) { $0.is_progressive = 1 }
    let whole = try Decode.whole(jpeg).get()
    #expect(!whole.report.stoppedEarly && whole.report.scansUsed == 10)
  }

  @Test("pieces of HTML are refused each time as `notAnImage`, bytes beyond the limit as `tooLarge`")
  func faultsAndMisuseAreTyped() {
    let decoder = IncrementalThumbnailer(boxes: Self.box)
    let html = Array("<html>nothing here</html>".utf8)
    for _ in 0..<2 {
      let outcome = html.withUnsafeBytes { bytes in
        Decode.capture { () throws(ImageFault) in try decoder.feed(bytes) }
      }
      #expect(outcome == .failure(ImageFault(.notAnImage, "the bytes are not a picture", at: 0)))
    }
    #expect(throws: ImageFault(.notAnImage, "the bytes are not a picture", at: 0)) {
      _ = try decoder.finish()
    }
    #expect(Decode.pieces([], 1, Self.box).fault?.kind == .notAnImage)
    var options = DecodeOptions()
    options.limits.bytes = 100
    #expect(Decode.pieces(Fixture.png(50, 50), 10, Self.box, options).fault?.kind == .tooLarge)
  }
}
