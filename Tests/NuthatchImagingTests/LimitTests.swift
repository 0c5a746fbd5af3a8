import Glibc
import ImagingFixtures
import Testing

@testable import NuthatchImaging

/// Processor time in milliseconds, of a build for debugging under a sanitizer; decoding one would take minutes. An
/// optimised build takes less than 1.
private let refusedBombTime = 1000.0

/// Bombs are refused before they cost anything.
@Suite("Limits of decoding") struct LimitTests {
  private func milliseconds(_ body: () -> Void) -> Double {
    var start = timespec()
    var end = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start)
    body()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end)
    return Double(end.tv_sec - start.tv_sec) * 1e3 + Double(end.tv_nsec - start.tv_nsec) / 1e6
  }

  private func header(_ width: UInt32, _ height: UInt32) -> [UInt8] {
    let body = Fixture.bigEndian(width) + Fixture.bigEndian(height) + [8, 2, 0, 0, 0]
    return Array(Fixture.png(1, 1)[..<8]) + Fixture.chunk("IHDR", body)
  }

  @Test("a PNG of 50,000 x 50,000 is refused as `tooManyPixels` in under a second")
  func aHugePNGIsRefusedAtOnce() {
    let zeros = Fixture.zlib([UInt8](repeating: 0, count: 1 << 20))
    let bomb = header(50_000, 50_000) + Fixture.chunk("IDAT", zeros) + Fixture.chunk("IEND", [])
    var outcome: Decode.Outcome?
    let time = milliseconds { outcome = Decode.thumbnails(bomb, [ThumbnailBox(256)]) }
    #expect(outcome?.fault?.kind == .tooManyPixels)
    #expect(time < refusedBombTime)
    #expect(Decode.pieces(bomb, 33, [ThumbnailBox(256)]).fault?.kind == .tooManyPixels)
  }

  @Test("a PNG with a side above 1,000,000 is refused as `tooManyPixels`, with a side of 0 as `corrupt`")
  func absurdSidesAreRefused() {
    for (width, height) in [
      (0x7FFF_FFFF, 1), (1, 0x7FFF_FFFF), (0x7FFF_FFFF, 0x7FFF_FFFF), (100_000_000, 1), (1, 1_000_001),
    ] {
      let bomb = header(UInt32(width), UInt32(height)) + Fixture.chunk("IDAT", [0x78, 0x9C])
      let fault = Decode.thumbnails(bomb, [ThumbnailBox(256)]).fault
      #expect(fault?.kind == .tooManyPixels, "\(width)x\(height): \(String(describing: fault))")
    }
    let zero = header(0, 5) + Fixture.chunk("IDAT", [0x78, 0x9C])
    #expect(Decode.thumbnails(zero, [ThumbnailBox(256)]).fault?.kind == .corrupt)
  }

  @Test("a PNG whose text chunk expands to 50 MiB is decoded in under a second")
  func aTextBombIsPassedOver() throws {
    let text = Array("Comment\0\0".utf8) + Fixture.zlib([UInt8](repeating: 0x20, count: 50 << 20))
    let png = Fixture.png(16, 16)
    let bomb = Array(png[..<33]) + Fixture.chunk("zTXt", text) + Array(png[33...])
    var outcome: Decode.Outcome?
    let time = milliseconds { outcome = Decode.whole(bomb) }
    #expect(outcome?.picture?.bytes == Decode.whole(png).picture?.bytes)
    #expect(time < refusedBombTime)
  }

  @Test("a PNG whose profile expands to 50 MiB is decoded with a warning")
  func aProfileBombIsIgnored() throws {
    let profile = Array("x\0\0".utf8) + Fixture.zlib([UInt8](repeating: 0, count: 50 << 20))
    let png = Fixture.png(16, 16)
    let bomb = Array(png[..<33]) + Fixture.chunk("iCCP", profile) + Array(png[33...])
    let result = try Decode.whole(bomb).get()
    #expect(result.report.warningCount > 0)
  }

  @Test("a progressive JPEG of 65,535 x 65,535 is refused as `tooManyPixels` in under a second")
  func aHugeProgressiveJPEGIsRefusedAtOnce() {
    var jpeg = Fixture.jpeg(16, 16, sampling: (1, 1)) { $0.is_progressive = 1 }
    let frame = jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC2 } ?? 0
    jpeg.replaceSubrange(frame + 5..<frame + 9, with: [0xFF, 0xFF, 0xFF, 0xFF])
    var outcome: Decode.Outcome?
    let time = milliseconds { outcome = Decode.thumbnails(jpeg, [ThumbnailBox(256)]) }
    #expect(outcome?.fault?.kind == .tooManyPixels)
    #expect(time < refusedBombTime)
  }

  /// A progressive JPEG whose last scan is there that many times more.
  private func scanBomb(_ jpeg: [UInt8], _ count: Int) -> [UInt8] {
    let last = jpeg.indices.last { $0 + 1 < jpeg.count && jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA } ?? 0
    let scan = Array(jpeg[last..<jpeg.count - 2])
    var bomb = Array(jpeg.dropLast(2))
    for _ in 0..<count { bomb += scan }
    return bomb + [0xFF, 0xD9]
  }

  @Test("a JPEG with more scans or blocks of scans than the limits is refused as `tooLarge`")
  func scansHaveALimit() {
    // The refinement bits stay missing in the first component, so that no scan is enough.
    let jpeg = Fixture.jpeg(16, 16, color: Int(NHT_GRAY), sampling: (1, 1)) { $0.is_progressive = 1 }
    let first = jpeg.indices.first { jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xDA } ?? 0
    let next = jpeg.indices.first { $0 > first + 4 && jpeg[$0] == 0xFF && jpeg[$0 + 1] == 0xC4 } ?? 0
    let short = Array(jpeg[..<next]) + [0xFF, 0xD9]
    var options = DecodeOptions()
    options.limits.scans = 400
    #expect(Decode.whole(scanBomb(short, 390), options).picture != nil)
    #expect(Decode.whole(scanBomb(short, 410), options).fault?.kind == .tooLarge)
    options.limits.scanBlocks = 100
    #expect(Decode.whole(scanBomb(short, 100), options).fault?.kind == .tooLarge)
  }

  @Test("a picture that needs more memory than the limit is refused as `tooManyPixels`")
  func memoryHasALimit() {
    var options = DecodeOptions()
    options.limits.memory = 1 << 20
    #expect(Decode.whole(Fixture.png(600, 600), options).fault?.kind == .tooManyPixels)
    let progressive = Fixture.jpeg(900, 700) { $0.is_progressive = 1 }
    #expect(Decode.thumbnails(progressive, [ThumbnailBox(200)], options).fault?.kind == .tooManyPixels)
    #expect(Decode.thumbnails(Fixture.jpeg(900, 700), [ThumbnailBox(200)], options).picture != nil)
    // At an eighth the means of its blocks do.
    #expect(Decode.thumbnails(progressive, [ThumbnailBox(16)], options).picture != nil)
  }

  @Test("a refusal for memory says the picture's size, the need, the limit and the group's memory")
  func refusalsSayTheNumbers() throws {
    var options = DecodeOptions()
    options.limits.memory = 1 << 20
    options.limits.groupMemory = 8 << 20
    func message(_ bytes: [UInt8]) -> String? {
      Decode.thumbnails(bytes, [ThumbnailBox(500)], options).fault?.message
    }
    // 114 x 88 blocks of brightness, 57 x 44 of each colour, 128 bytes each, and the rows.
    let progressive = try #require(message(Fixture.jpeg(900, 700) { $0.is_progressive = 1 }))
    #expect(progressive.hasPrefix("a progressive JPEG of 900x700 needs "), "\(progressive)")
    #expect(progressive.contains(" of memory to decode, more than the 1.0 MiB that it may take, of 8.0 MiB "))
    #expect(progressive.hasSuffix(" that the process's control group has"))
    let words = progressive.split(separator: " ")
    let need = try #require(words.dropFirst(6).first.flatMap { Double($0) })
    #expect(need > 1.8 + 0.5 && need < 8, "\(progressive)")
    let interlaced = try #require(message(Fixture.png(600, 600) { $0.is_interlaced = 1 }))
    #expect(interlaced.hasPrefix("an interlaced PNG of 600x600 needs "), "\(interlaced)")
    #expect(
      message(Fixture.jpeg(900, 700) { $0.separate_scans = 1 })?.hasPrefix("a JPEG of several scans") == true)
    #expect(ImageLimits.mebibytes(0) == "0.0 MiB" && ImageLimits.mebibytes(-1) == "0.0 MiB")
    #expect(ImageLimits.mebibytes(1 << 20) == "1.0 MiB")
    #expect(ImageLimits.mebibytes((72 << 20) + (900 << 10)) == "72.8 MiB")
    #expect(ImageLimits.mebibytes(.max).hasSuffix(" MiB"))
  }

  @Test(
    "a small thumbnail of a progressive JPEG can be made in the memory that `memoryNeed` says",
    arguments: [NHT_GRAY, NHT_YCC, NHT_RGB, NHT_CMYK, NHT_YCCK].map { Int($0) })
  func meansOfBlocksAreForeseen(color: Int) throws {
    // Narrow: rows take little beside the whole.
    let (width, height) = (160, 2400)
    let box = ThumbnailBox(width: 8, height: 16, fit: .stretch)
    let channels = color == Int(NHT_GRAY) ? 1 : color >= Int(NHT_CMYK) ? 4 : 3
    let samples = [UInt8](repeating: 99, count: width * height * channels)
    let isColours = color == Int(NHT_YCC)
    let all: [(Int32, Int32)] = [(1, 1), (2, 2), (2, 1), (1, 2), (4, 1), (4, 2)]
    for sampling in all.prefix(isColours ? 6 : color == Int(NHT_GRAY) ? 1 : 2) {
      let bytes = Fixture.jpeg(width, height, color: color, sampling: sampling, samples: samples) {
        $0.is_progressive = 1
      }
      guard case .found(let info) = Decode.probe(bytes) else { throw FaultWord(word: "no picture") }
      let need = try Thumbnailer.memoryNeed(info, boxes: [box])
      var options = DecodeOptions()
      // libjpeg fails when it wants more.
      options.limits.memory = need
      let name = "\(color) \(sampling)"
      #expect(Decode.thumbnails(bytes, [box], options).picture != nil, "\(name)")
      #expect(try Thumbnailer.memoryNeed(info, boxes: [ThumbnailBox(500)]) > info.wholePictureBytes)
      let isSubsampled = sampling.0 % 2 == 0 && sampling.1 % 2 == 0 && channels > 1
      #expect((info.meansBytes != nil) == (isColours || !isSubsampled), "\(name)")
      #expect((info.meansBytes ?? 0) < info.wholePictureBytes / 25, "\(name)")
    }
  }

  @Test("a JPEG with a profile is converted with 1 MiB for the profile, and refused with less")
  func profilesNeedNotHaveAllThatTheyMayWant() throws {
    let profile = Fixture.profile(Int(NHT_ADOBE_RGB))
    let plain = Fixture.jpeg(300, 200)
    let tagged = Fixture.inserting(Fixture.iccSegments(profile), into: plain)
    guard case .found(let info) = Decode.probe(tagged), case .found(let without) = Decode.probe(plain) else {
      throw FaultWord(word: "no picture")
    }
    let boxes = [ThumbnailBox(50)]
    let need = try Thumbnailer.memoryNeed(without, boxes: boxes)
    #expect(try Thumbnailer.memoryNeed(info, boxes: boxes) == need + (16 << 20))
    let converted = try #require(Decode.thumbnails(tagged, boxes).picture).bytes
    var options = DecodeOptions()
    options.limits.memory = need + (1 << 20)
    #expect(Decode.thumbnails(tagged, boxes, options).picture?.bytes == converted)
    options.limits.memory = need + (1 << 20) - 1
    #expect(Decode.thumbnails(tagged, boxes, options).fault?.kind == .tooManyPixels)
    // A profile for which there is too little isn't left out: the colours would be others.
    var warnings: [String] = []
    for most in [0, 1000, 20_000] {
      let fault = profile.withUnsafeBytes { bytes in
        do throws(ImageFault) {
          _ = try ColorConverter.make(bytes, for: .rgb, most: most, warnings: &warnings)
          return nil as ImageFault?
        } catch {
          return error
        }
      }
      #expect(fault?.kind == .outOfMemory && warnings.isEmpty, "\(most)")
    }
  }

  @Test("a picture of more bytes than the limit is refused as `tooLarge`")
  func bytesHaveALimit() {
    var options = DecodeOptions()
    options.limits.bytes = 100
    #expect(Decode.whole(Fixture.png(60, 60), options).fault?.kind == .tooLarge)
  }

  @Test("`memoryNeed` counts a progressive JPEG's coefficients and a PNG's pixels, and doesn't overflow")
  func needsAreKnownBeforehand() throws {
    func need(_ bytes: [UInt8], _ boxes: [ThumbnailBox]) throws -> Int {
      guard case .found(let info) = Decode.probe(bytes) else { return 0 }
      return try Thumbnailer.memoryNeed(info, boxes: boxes)
    }
    let baseline = try need(Fixture.jpeg(800, 600), [ThumbnailBox(64)])
    let progressive = try need(Fixture.jpeg(800, 600) { $0.is_progressive = 1 }, [ThumbnailBox(64)])
    #expect(progressive > baseline + 800 * 600 * 3 / 2 * 2)
    #expect(try need(Fixture.png(800, 600), []) > 800 * 600 * 4)
    var info = ImageInfo(
      format: .png, size: ImageSize(width: 1 << 31 - 1, height: 1 << 31 - 1), color: .rgba, depth: 16)
    info.isProgressive = true
    info.wholePictureBytes = Int.max
    #expect(try Thumbnailer.memoryNeed(info, boxes: []) == Int.max)
  }
}
