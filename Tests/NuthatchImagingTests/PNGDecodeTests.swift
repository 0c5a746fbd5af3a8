import Glibc
import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("Decoding of PNGs") struct PNGDecodeTests {
  private static let kinds: [(Int32, Int32)] = [
    (0, 1), (0, 2), (0, 4), (0, 8), (0, 16), (2, 8), (2, 16), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (4, 16),
    (6, 8), (6, 16),
  ]

  /// One sample of a row, as PNG packs them.
  private func sample(_ row: ArraySlice<UInt8>, _ index: Int, _ depth: Int) -> Int {
    let bit = index * depth
    if depth == 16 {
      return Int(row[row.startIndex + index * 2]) << 8 | Int(row[row.startIndex + index * 2 + 1])
    }
    let shift = 8 - depth - bit % 8
    return Int(row[row.startIndex + bit / 8] >> UInt8(shift)) & (1 << depth - 1)
  }

  /// What the format's standard says that a pixel is.
  private func expected(_ samples: [Int], type: Int32, depth: Int, trns: Bool) -> [Int] {
    let top = 1 << depth - 1
    func level(_ sample: Int) -> Int { (sample * 255 * 2 + top) / (2 * top) }
    switch type {
    case 0:
      return [level(samples[0]), level(samples[0]), level(samples[0]), trns && samples[0] == 1 ? 0 : 255]
    case 2: return samples.map(level) + [trns && samples == [1, 2, 3] ? 0 : 255]
    case 3:
      let i = samples[0]
      return [i, 255 - i, i * 7 & 255, trns && i < (depth == 1 ? 2 : 4) ? i * 50 : 255]
    case 4: return [level(samples[0]), level(samples[0]), level(samples[0]), level(samples[1])]
    default: return samples.map(level)
    }
  }

  @Test(
    "a PNG of each colour type and depth decodes to the standard's pixels, within a level at 16 bits",
    arguments: kinds.indices)
  func everyKindHasItsPixels(_ index: Int) throws {
    let (type, depth) = Self.kinds[index]
    let channels = [1, 0, 3, 1, 2, 0, 4][Int(type)]
    let (width, height) = (37, 19)
    let rowBytes = (width * channels * Int(depth) + 7) / 8
    let data = Fixture.noise(rowBytes * height, seed: UInt64(index))
    for trns in [false, true] where !trns || type < 4 {
      for interlaced in [false, true] {
        let png = Fixture.png(width, height, type: type, depth: depth, samples: data) {
          $0.is_interlaced = interlaced ? 1 : 0
          $0.has_trns = trns ? 1 : 0
        }
        let picture = try #require(Decode.whole(png).picture)
        #expect(picture.isOpaque == (!trns && type < 4))
        var worst = 0
        let bytes = picture.bytes
        for y in 0..<height {
          let row = data[y * rowBytes..<(y + 1) * rowBytes]
          for x in 0..<width {
            let samples = (0..<channels).map { sample(row, x * channels + $0, Int(depth)) }
            let pixel = expected(samples, type: type, depth: Int(depth), trns: trns)
            for c in 0..<4 { worst = max(worst, abs(pixel[c] - Int(bytes[(y * width + x) * 4 + c]))) }
          }
        }
        #expect(worst <= (depth == 16 ? 1 : 0), "type \(type), depth \(depth), tRNS \(trns), \(interlaced)")
      }
    }
  }

  @Test("a PNG with gamma 1 is converted to 1/2.2, and one with gamma 1/2.2 keeps its levels")
  func gammaLeadsToSRGB() throws {
    let ramp = (0..<256).map { UInt8($0) }
    func decode(_ gamma: Int32) throws -> [UInt8] {
      let png = Fixture.png(256, 1, type: 0, samples: ramp) { $0.gamma = gamma }
      return try #require(Decode.whole(png).picture).bytes
    }
    let plain = try decode(45455)
    let linear = try decode(100_000)
    for i in 0..<256 {
      #expect(plain[4 * i] == UInt8(i))
      let bright = 255 * pow(Double(i) / 255, 1 / 2.2)
      #expect(abs(Double(linear[4 * i]) - bright) <= 1)
    }
  }

  @Test("a PNG that is cut is refused as `truncated`, or partial with `allowDamaged`")
  func partsAndTruncation() throws {
    let png = Fixture.png(200, 200, samples: Fixture.noise(200 * 200 * 3, seed: 2))
    let whole = try #require(Decode.whole(png).picture)
    let half = Array(png[..<(png.count / 2)])
    #expect(Decode.whole(half).fault?.kind == .truncated)
    var options = DecodeOptions()
    options.allowDamaged = true
    let part = try Decode.whole(half, options).get()
    #expect(part.report.isPartial && part.report.fault?.kind == .truncated)
    #expect(part.pictures[0].bytes[..<(200 * 4 * 80)] == whole.bytes[..<(200 * 4 * 80)])
    #expect(Decode.whole(Array(png.dropLast(12))).fault?.kind == .truncated)
    // What follows the picture is no concern of the picture.
    #expect(Decode.whole(png + [1, 2, 3]).picture != nil)
  }

  @Test("a PNG whose data doesn't match its checksum is refused as `corrupt`")
  func aWrongChecksumIsCorrupt() throws {
    var png = Fixture.png(50, 50) { $0.idat_bytes = 512 }
    png[png.count - 20] ^= 1
    #expect(Decode.whole(png).fault?.kind == .corrupt)
  }

  @Test("a PNG in IDAT chunks of 6, 7 or 100 bytes decodes to the same pixels as in large ones")
  func manySmallChunksAreRead() throws {
    let samples = Fixture.noise(64 * 64 * 3, seed: 9)
    let whole = try #require(Decode.whole(Fixture.png(64, 64, samples: samples)).picture)
    for size: Int32 in [6, 7, 100] {
      let png = Fixture.png(64, 64, samples: samples) { $0.idat_bytes = size }
      #expect(try #require(Decode.whole(png).picture).largestDifference(from: whole) == 0)
    }
  }
}

/// ISA-L and libpng must agree: on pixels, and on what is a fault.
@Suite("Decoding of PNGs by ISA-L and by libpng") struct PNGTwinTests {
  private struct Outcome: Equatable {
    var bytes: [UInt8] = []
    var kind: ImageFault.Kind?
  }

  private func decode(_ png: [UInt8], libpng: Bool) -> (Outcome, usedISAL: Bool) {
    Decode.withExactCopy(of: png) { bytes in
      var used = false
      let result = Decode.capture { () throws(ImageFault) -> [UInt8] in
        let info = try Thumbnailer.info(from: ImageProbe.probe(bytes))
        let decoder = try PNGRowDecoder(bytes, options: DecodeOptions(), forceLibpng: libpng)
        defer { used = decoder.info.uses_isal != 0 }
        return try decoder.decode([StoredPlan(whole: info)], options: DecodeOptions())[0].bytes
      }
      switch result {
      case .success(let bytes): return (Outcome(bytes: bytes), used)
      case .failure(let fault): return (Outcome(kind: fault.kind), used)
      }
    }
  }

  private static let kinds: [Int32] = [0, 2, 3, 4, 6]

  @Test("ISA-L and libpng decode a PNG of any size, filter and level to the same pixels", arguments: kinds)
  func bothGiveTheSamePixels(_ type: Int32) throws {
    for filters: Int32 in [0, 0x08, 0x10, 0x20, 0x40, 0x80, 0xF8] {
      for (width, height) in [(1, 1), (1, 9), (2, 20), (3, 8), (5, 3), (64, 40), (301, 77)] {
        for level: Int32 in [0, 1, 9] {
          let png = Fixture.png(width, height, type: type) {
            $0.filters = filters
            $0.level = level
            $0.has_trns = type == 3 ? 1 : 0
          }
          let fast = decode(png, libpng: false)
          #expect(fast.0 == decode(png, libpng: true).0 && fast.0.kind == nil)
          if width == 301 && level != 0 { #expect(fast.usedISAL) }
        }
      }
    }
  }

  @Test("a damaged PNG gives libpng's pixels or fault, also if ISA-L decodes it", arguments: kinds)
  func bothGiveTheSameVerdicts(_ type: Int32) {
    var random = Random(seed: UInt64(type) + 100)
    var accepted = 0
    var verdictsOfISAL = 0
    for round in 0..<1000 {
      let width = 1 + random.below(120)
      var png = Fixture.png(width, 1 + random.below(60), type: type) {
        $0.level = Int32(round % 10)
        $0.idat_bytes = round % 3 == 0 ? Int32(20 + random.below(200)) : 0
        $0.filters = round % 4 == 0 ? 0xF8 : 0
      }
      mutate(&png, &random)
      let fast = decode(png, libpng: false)
      let slow = decode(png, libpng: true)
      if fast.usedISAL { verdictsOfISAL += 1 }
      if slow.0.kind == nil { accepted += 1 }
      // ISA-L looks further ahead, so it may call corrupt what libpng finds cut off; the front door asks libpng.
      #expect(fast.0.bytes == slow.0.bytes, "round \(round): \(String(describing: fast.0.kind))")
      #expect(Decode.whole(png).fault?.kind == slow.0.kind, "round \(round)")
    }
    #expect(accepted > 60 && verdictsOfISAL > 500, "\(accepted) and \(verdictsOfISAL)")
  }

  /// Changes bytes behind the header; mostly with the checksums of chunks put right again, so that the pixels'
  /// own stream is what is judged.
  private func mutate(_ png: inout [UInt8], _ random: inout Random) {
    // libpng writes a smaller window for small pictures; a larger one is just as right, and is ISA-L's.
    if let data = png.indices.first(where: { png[$0...].starts(with: "IDAT".utf8) }) {
      png.replaceSubrange(data + 4..<data + 6, with: [0x78, 0x01])
      repairChecksums(&png)
    }
    switch random.below(8) {
    case 0: png.removeLast(random.below(png.count - 40))
    case 1: png += Fixture.noise(random.below(50), seed: random.next())
    case 2: png.remove(at: 33 + random.below(png.count - 33))
    default:
      for _ in 0..<1 + random.below(3) {
        png[33 + random.below(png.count - 33)] ^= 1 << UInt8(random.below(8))
      }
    }
    if random.below(4) > 0 { repairChecksums(&png) }
  }

  private func repairChecksums(_ png: inout [UInt8]) {
    var at = 33
    while at + 12 <= png.count {
      let length = png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard at + 12 + length <= png.count else { return }
      let crc = Fixture.bigEndian(Fixture.crc(Array(png[at + 4..<at + 8 + length])))
      png.replaceSubrange(at + 8 + length..<at + 12 + length, with: crc)
      at += 12 + length
    }
  }
}
