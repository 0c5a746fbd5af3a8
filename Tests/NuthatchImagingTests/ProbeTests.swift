import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("The probe of a picture's header") struct ProbeTests {
  private func info(_ bytes: [UInt8]) throws -> ImageInfo {
    for pieces in [1, 2, 7, 64] { #expect(Decode.probe(bytes, pieces: pieces) == Decode.probe(bytes)) }
    guard case .found(let info) = Decode.probe(bytes) else {
      Issue.record("the probe says \(Decode.probe(bytes))")
      throw ImageFault(.internal, "no information")
    }
    return info
  }

  @Test("the probe finds a JPEG's size, colours and coding, and the bytes of its coefficients")
  func jpegsTellTheirKind() throws {
    let ycc = try info(Fixture.jpeg(33, 21))
    #expect(ycc.format == .jpeg && ycc.size == ImageSize(width: 33, height: 21) && ycc.color == .ycbcr)
    #expect(!ycc.isProgressive && ycc.wholePictureBytes == 0 && !ycc.hasICC && !ycc.hasEXIF)
    let progressive = try info(Fixture.jpeg(33, 21) { $0.is_progressive = 1 })
    #expect(progressive.isProgressive)
    // Three by two groups of four blocks of luma and two of chroma, 128 bytes each.
    #expect(progressive.wholePictureBytes == 3 * 2 * 6 * 128)
    #expect(try info(Fixture.jpeg(8, 8, color: Int(NHT_GRAY), sampling: (1, 1))).color == .gray)
    #expect(try info(Fixture.jpeg(8, 8, color: Int(NHT_RGB))).color == .rgb)
    #expect(try info(Fixture.jpeg(8, 8, color: Int(NHT_CMYK))).color == .cmyk)
    #expect(try info(Fixture.jpeg(8, 8, color: Int(NHT_YCCK))).color == .ycck)
    #expect(try info(Fixture.jpeg(8, 8) { $0.separate_scans = 1 }).wholePictureBytes > 0)
  }

  /// What was found while the bytes came needn't be found again, and changes nothing.
  @Test("a decode that is given what the probe found gives the same pixels or fault")
  func whatIsKnownGivesTheSamePixels() throws {
    let jpeg = Fixture.jpeg(90, 60)
    let pictures = [
      jpeg, Fixture.png(90, 60), Fixture.jpeg(90, 60) { $0.is_progressive = 1 },
      Fixture.inserting(Fixture.exif(6), into: jpeg),
      Fixture.inserting(Fixture.iccSegments(Fixture.profile(Int(NHT_ADOBE_RGB))), into: jpeg),
    ]
    var tooLarge = DecodeOptions()
    tooLarge.limits.pixels = 90 * 60 - 1
    for bytes in pictures {
      let known = try info(bytes)
      for options in [DecodeOptions(), tooLarge] {
        let boxes = [ThumbnailBox(16), ThumbnailBox(50)]
        let alone = Decode.thumbnails(bytes, boxes, options)
        #expect(Decode.thumbnails(bytes, known: known, boxes, options).summary == alone.summary)
        #expect((alone.fault == nil) == (options == DecodeOptions()))
      }
    }
  }

  @Test(
    "the probe reads the orientation from EXIF in a JPEG or PNG, in both byte orders",
    arguments: Orientation.allCases)
  func orientationComesFromEXIF(_ orientation: Orientation) throws {
    for bigEndian in [true, false] {
      let exif = Fixture.exif(orientation.rawValue, bigEndian: bigEndian)
      let found = try info(Fixture.inserting(exif, into: Fixture.jpeg(20, 10)))
      #expect(found.orientation == orientation && found.hasEXIF)
      #expect(found.orientedSize.width == (orientation.swapsSides ? 10 : 20))
      let png = Fixture.png(20, 10)
      let tiff = Array(exif[10...])
      let withEXIF = Array(png[..<33]) + Fixture.chunk("eXIf", tiff) + Array(png[33...])
      #expect(try info(withEXIF).orientation == orientation)
    }
  }

  @Test("damaged EXIF doesn't fail the probe, and an invalid orientation counts as upright")
  func absurdEXIFIsIgnored() throws {
    let jpeg = Fixture.jpeg(20, 10)
    for value: UInt8 in [0, 9, 255] {
      #expect(try info(Fixture.inserting(Fixture.exif(value), into: jpeg)).orientation == .upright)
    }
    let whole = Fixture.exif(6)
    for count in 6..<whole.count - 4 {
      // Cut anywhere, and with every byte broken.
      let cut = Fixture.segment(0xE1, Array(whole[4..<4 + count]))
      #expect(try info(Fixture.inserting(cut, into: jpeg)).size.width == 20)
      var broken = whole
      broken[4 + count] ^= 0xFF
      #expect(try info(Fixture.inserting(broken, into: jpeg)).size.width == 20)
    }
  }

  @Test(
    "the probe finds a PNG's size, colours, depth, alpha and interlacing",
    arguments: [(0, 1), (0, 16), (2, 8), (2, 16), (3, 4), (4, 8), (6, 16)] as [(Int32, Int32)])
  func pngsTellTheirKind(_ type: Int32, _ depth: Int32) throws {
    let colors: [Int32: ImageInfo.Color] = [0: .gray, 2: .rgb, 3: .palette, 4: .grayAlpha, 6: .rgba]
    let found = try info(Fixture.png(9, 5, type: type, depth: depth) { $0.is_interlaced = 1 })
    #expect(found.color == colors[type] && found.depth == Int(depth) && found.isProgressive)
    #expect(found.size == ImageSize(width: 9, height: 5) && found.hasAlpha == (type == 4 || type == 6))
  }

  @Test("more bytes don't change the probe's answer, and the fault of a prefix is `truncated`")
  func everyPrefixNeedsMoreUntilItIsFound() {
    for bytes in [Fixture.jpeg(40, 30), Fixture.png(40, 30)] {
      var probe = ImageProbe()
      var answers: [ImageProbe.Answer] = []
      for byte in bytes { answers.append([byte].withUnsafeBytes { probe.feed($0) }) }
      let first = answers.firstIndex { $0 != .needMore } ?? answers.count
      #expect(answers[first...].allSatisfy { $0 == answers.last })
      for count in 3..<first {
        guard case .fault(let fault) = Decode.probe(Array(bytes[..<count])), count >= 8 else { continue }
        #expect(fault.kind == .truncated)
      }
    }
  }

  @Test("the probe knows a PNG's size and asks for more while a chunk of 2 GiB arrives")
  func largeSegmentsAreNotKept() {
    // A chunk of two gigabytes is passed over byte by byte in the caller's memory only.
    var probe = ImageProbe()
    let head = Array(Fixture.png(4, 4)[..<33]) + Fixture.bigEndian(0x7FFF_FFFF) + Array("zTXt".utf8)
    head.withUnsafeBytes { _ = probe.feed($0) }
    let piece = [UInt8](repeating: 0, count: 1 << 20)
    for _ in 0..<64 { #expect(piece.withUnsafeBytes { probe.feed($0) } == .needMore) }
    #expect(probe.size == ImageSize(width: 4, height: 4))
  }

  @Test("12-bit, lossless, hierarchical and 2-component JPEGs are unsupported formats with a name")
  func kindsThatAreNotDecodedAreNamed() {
    func jpeg(_ code: UInt8, precision: UInt8, components: UInt8 = 1) -> [UInt8] {
      let triples = (0..<components).flatMap { id -> [UInt8] in [id + 1, 0x11, 0] }
      return [0xFF, 0xD8] + Fixture.segment(code, [precision, 0, 8, 0, 8, components] + triples)
    }
    func kind(_ bytes: [UInt8]) -> ImageFault.Kind? {
      guard case .fault(let fault) = Decode.probe(bytes) else { return nil }
      return fault.kind
    }
    #expect(kind(jpeg(0xC1, precision: 12)) == .unsupportedFormat("jpeg-12bit"))
    #expect(kind(jpeg(0xC3, precision: 8)) == .unsupportedFormat("jpeg-lossless"))
    #expect(kind(jpeg(0xC5, precision: 8)) == .unsupportedFormat("jpeg-hierarchical"))
    #expect(kind(jpeg(0xC0, precision: 8, components: 2)) == .unsupportedFormat("jpeg-2components"))
    #expect(kind([0xFF, 0xD8, 0xFF, 0xD9]) == .corrupt)
  }

  @Test("the probe of a picture with random damage finds the same in pieces as at once")
  func randomBytesNeverTrap() {
    var random = Random(seed: 11)
    for seed in 0..<2000 as Range<UInt64> {
      var bytes = seed % 2 == 0 ? Fixture.jpeg(16, 16) : Fixture.png(16, 16)
      for _ in 0..<1 + random.below(20) {
        bytes[random.below(min(bytes.count, 400))] = UInt8(random.below(256))
      }
      #expect(Decode.probe(bytes, pieces: 1 + random.below(40)) == Decode.probe(bytes))
    }
  }
}
