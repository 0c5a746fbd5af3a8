import Testing

@testable import NuthatchImaging

@Suite("Decoding of BMPs") struct BMPDecodeTests {
  private func check(_ bitmap: BitmapFixture, _ name: String, alpha: Bool = false, within most: Int = 0)
    throws
  {
    let outcome = Decode.whole(bitmap.bmp)
    let picture = try #require(outcome.picture, "\(name): \(String(describing: outcome.fault))")
    let worst = zip(picture.bytes, bitmap.expected(alpha: alpha)).reduce(0) {
      max($0, abs(Int($1.0) - Int($1.1)))
    }
    #expect(picture.size == bitmap.size && worst <= most, "\(name)")
    #expect(picture.isOpaque == !alpha, "\(name)")
  }

  @Test("a BMP of each depth is decoded, of any width, with its first row at the bottom or at the top")
  func depths() throws {
    for bits in [1, 2, 4, 8, 16, 24, 32] {
      for (width, height) in [(1, 1), (2, 3), (7, 5), (8, 2), (33, 21), (3, 40)] {
        for isTopDown in [false, true] {
          var bitmap = BitmapFixture(width, height, bits: bits)
          bitmap.isTopDown = isTopDown
          try check(bitmap, "\(bits) bits, \(width)x\(height), \(isTopDown)")
        }
      }
    }
  }

  @Test("a BMP with each kind of header is decoded", arguments: [12, 16, 40, 52, 56, 64, 108, 124])
  func headers(length: Int) throws {
    for bits in [1, 4, 8, 24] {
      var bitmap = BitmapFixture(19, 11, bits: bits)
      bitmap.headerBytes = length
      try check(bitmap, "\(bits) bits")
      // Without a place of the pixels, or with one that leaves the colour table out, they follow the table.
      bitmap.saidOffset = 0
      try check(bitmap, "\(bits) bits, no offset")
      bitmap.saidOffset = 14 + length
      try check(bitmap, "\(bits) bits, offset of the table")
      bitmap.saidOffset = nil
      bitmap.gap = 37
      try check(bitmap, "\(bits) bits, gap")
    }
  }

  @Test("a BMP of runs is decoded; skipped pixels have the first colour")
  func runs() throws {
    for bits in [4, 8] {
      for (width, height) in [(1, 1), (5, 4), (40, 30), (301, 9)] {
        for isTopDown in [false, true] {
          var bitmap = BitmapFixture(width, height, bits: bits)
          for place in stride(from: 3, to: bitmap.values.count - 3, by: 17) {
            for step in 0..<3 { bitmap.values[place + step] = 0 }
          }
          (bitmap.compression, bitmap.isTopDown) = (bits == 8 ? 1 : 2, isTopDown)
          try check(bitmap, "\(bits) bits, \(width)x\(height)")
        }
      }
    }
  }

  private func ofRuns(_ width: Int, _ height: Int, _ runs: [UInt8]) -> Decode.Outcome {
    var bitmap = BitmapFixture(width, height, bits: 8)
    bitmap.compression = 1
    return Decode.whole(Array(bitmap.bmp.dropLast(bitmap.pixels.count)) + runs)
  }

  @Test("runs that leave the picture are cut off, and an early end leaves the first colour")
  func oddRuns() throws {
    func indices(_ outcome: Decode.Outcome) throws -> [Int] {
      let bytes = try outcome.get().pictures[0].bytes
      // Red is five times the index.
      return stride(from: 0, to: bytes.count, by: 4).map { Int(bytes[$0]) / 5 }
    }
    #expect(try indices(ofRuns(3, 2, [9, 1, 0, 0, 3, 2, 0, 1])) == [2, 2, 2, 1, 1, 1])
    #expect(try indices(ofRuns(3, 2, [0, 5, 1, 2, 3, 4, 5, 0, 0, 0, 3, 2, 0, 1])) == [2, 2, 2, 1, 2, 3])
    #expect(try indices(ofRuns(3, 2, [1, 1, 0, 1])) == [0, 0, 0, 1, 0, 0])
    #expect(try indices(ofRuns(3, 2, [0, 2, 9, 9, 1, 1, 0, 1])) == [0, 0, 0, 0, 0, 0])
    #expect(try indices(ofRuns(3, 2, [0, 2, 1, 1, 2, 7, 0, 1])) == [0, 7, 7, 0, 0, 0])
    #expect(try indices(ofRuns(3, 2, [3, 1, 0, 0, 3, 2])) == [2, 2, 2, 1, 1, 1])
    for cut in [[], [3], [3, 1], [3, 1, 0, 0, 2, 2], [3, 1, 0, 0, 0, 2, 1], [0, 3, 1, 2]] as [[UInt8]] {
      #expect(ofRuns(3, 2, cut).fault?.kind == .truncated, "\(cut)")
    }
  }

  @Test("masks of any place and width are applied, with alpha where there is a mask for it")
  func masks() throws {
    let all: [(bits: Int, masks: [UInt32])] = [
      (16, [0xF800, 0x7E0, 0x1F, 0]), (16, [0xF00, 0xF0, 0xF, 0xF000]), (16, [0x7C00, 0x3E0, 0x1F, 0x8000]),
      (16, [0x1, 0x2, 0x4, 0]), (32, [0xFF, 0xFF00, 0xFF_0000, 0xFF00_0000]),
      (32, [0xFF00_0000, 0xFF_0000, 0xFF00, 0xFF]), (32, [0xFF00_0000, 0xFF_0000, 0xFF00, 0]),
      (32, [0x3FF0_0000, 0xF_FC00, 0x3FF, 0xC000_0000]), (24, [0xFF, 0xFF00, 0xFF_0000, 0]),
    ]
    for (bits, masks) in all {
      for (length, compression) in [(40, 3), (40, 6), (52, 3), (56, 3), (108, 3), (124, 3)] {
        var bitmap = BitmapFixture(13, 9, bits: bits)
        (bitmap.headerBytes, bitmap.compression) = (length, compression)
        let hasFourth = compression == 6 || length >= 56
        bitmap.masks = hasFourth ? masks : Array(masks[..<3])
        try check(bitmap, "\(bits), \(masks), \(length)", alpha: hasFourth && masks[3] != 0, within: 1)
      }
    }
  }

  @Test("a BMP whose alpha is 0 everywhere is opaque")
  func noAlpha() throws {
    var bitmap = BitmapFixture(13, 9, bits: 32)
    (bitmap.headerBytes, bitmap.compression) = (124, 3)
    bitmap.masks = [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000]
    bitmap.values = bitmap.values.map { $0 & 0xFF_FFFF }
    try check(bitmap, "no alpha")
  }

  @Test("a colour table may be short or too long, and indices beyond it are black")
  func tables() throws {
    for (count, said) in [(3, 3), (200, 200), (256, 1000), (300, 300), (256, 0x7FFF_FFFF)] {
      var bitmap = BitmapFixture(40, 9, bits: 8)
      (bitmap.colorCount, bitmap.saidColors) = (count, said)
      try check(bitmap, "\(count), \(said)")
    }
  }

  @Test("a BMP that is cut is `truncated`; with `allowDamaged` its rows are shown")
  func truncation() throws {
    var options = DecodeOptions()
    options.allowDamaged = true
    for isTopDown in [false, true] {
      var bitmap = BitmapFixture(20, 10, bits: 24)
      bitmap.isTopDown = isTopDown
      let bytes = Array(bitmap.bmp.dropLast(4 * 60 + 5))
      let fault = Decode.whole(bytes).fault
      #expect(fault?.kind == .truncated)
      #expect(fault?.message == "the bitmap ends after 5 of its 10 rows", "\(fault?.message ?? "")")
      let part = try Decode.whole(bytes, options).get()
      #expect(part.report.isPartial && part.report.fault?.kind == .truncated)
      let shown = part.pictures[0].bytes
      let rows = isTopDown ? 0..<5 * 80 : 5 * 80..<10 * 80
      #expect(Array(shown[rows]) == Array(bitmap.expected()[rows]))
      #expect(Decode.whole(Array(bitmap.bmp[..<54]), options).fault?.kind == .truncated)
      #expect(Decode.whole(Array(bitmap.bmp[..<50]), options).fault?.kind == .truncated)
    }
    // The bytes that fill the last row up may be missing.
    let odd = BitmapFixture(5, 3, bits: 8)
    #expect(Decode.whole(Array(odd.bmp.dropLast(3))).picture?.bytes == odd.expected())
  }

  @Test("a BMP with hostile numbers is refused by name, and never decoded")
  func hostile() {
    func fault(_ change: (inout [UInt8]) -> Void) -> ImageFault? {
      var bytes = BitmapFixture(20, 10, bits: 8).bmp
      change(&bytes)
      let fault = Decode.thumbnails(bytes, [ThumbnailBox(9)]).fault
      #expect(Decode.pieces(bytes, 3, [ThumbnailBox(9)]).fault?.kind == fault?.kind)
      return fault
    }
    func set(_ at: Int, _ value: Int, _ count: Int = 4) -> ImageFault? {
      fault { $0.replaceSubrange(at..<at + count, with: BitmapFixture.little(value, count)) }
    }
    // The offset of the pixels, width, height, bits, compression.
    #expect(set(10, 20)?.kind == .corrupt)
    #expect(set(10, -1)?.kind == .truncated)
    #expect(set(18, 0)?.kind == .corrupt && set(18, -5)?.kind == .corrupt && set(22, 0)?.kind == .corrupt)
    #expect(set(18, 0x7FFF_FFFF)?.kind == .tooManyPixels && set(22, 0x7FFF_FFFF)?.kind == .tooManyPixels)
    #expect(set(22, -0x8000_0000)?.kind == .corrupt)
    #expect(set(28, 64, 2)?.kind == .unsupportedFormat("bmp-64bit"))
    #expect(set(28, 0, 2)?.kind == .unsupportedFormat("bmp-0bit"))
    #expect(set(30, 2)?.kind == .corrupt && set(30, 3)?.kind == .corrupt && set(30, 99)?.kind == .corrupt)
    #expect(set(30, 4)?.kind == .unsupportedFormat("bmp-jpeg"))
    #expect(set(30, 5)?.kind == .unsupportedFormat("bmp-png"))
    #expect(set(30, 12)?.kind == .unsupportedFormat("bmp-cmyk"))
    // Runs need a byte a pixel.
    var runs = BitmapFixture(20, 10, bits: 8)
    runs.compression = 1
    var bytes = runs.bmp
    bytes.replaceSubrange(18..<26, with: BitmapFixture.little(9000, 4) + BitmapFixture.little(9000, 4))
    var options = DecodeOptions()
    options.limits.memory = 32 << 20
    #expect(Decode.thumbnails(bytes, [ThumbnailBox(9)], options).fault?.kind == .tooManyPixels)
  }

  @Test("a damaged BMP or icon gives the same pixels or fault in pieces as at once")
  func randomDamage() {
    var random = Random(seed: 14)
    var options = DecodeOptions()
    options.limits.pixels = 1 << 20
    for round in 0..<600 {
      var bitmap = BitmapFixture(
        1 + random.below(20), 1 + random.below(20), bits: [1, 4, 8, 16, 24, 32][round % 6])
      if bitmap.bits == 4 || bitmap.bits == 8 {
        bitmap.compression = [0, bitmap.bits == 8 ? 1 : 2][round / 6 % 2]
      }
      var bytes = round % 2 == 0 ? bitmap.bmp : bitmap.icon
      for _ in 0..<1 + random.below(4) {
        bytes[6 + random.below(min(80, bytes.count - 6))] = UInt8(random.below(256))
      }
      if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count / 2)) }
      options.allowDamaged = round % 3 == 0
      let boxes = [ThumbnailBox(9), ThumbnailBox(30)]
      let pieces = Decode.pieces(bytes, 1 + random.below(30), boxes, options)
      #expect(pieces.summary == Decode.thumbnails(bytes, boxes, options).summary, "round \(round)")
    }
  }
}

@Suite("Decoding of icons") struct ICODecodeTests {
  @Test("an icon's bitmap of each depth is decoded with its mask", arguments: [1, 2, 4, 8, 16, 24])
  func masks(bits: Int) throws {
    for (width, height) in [(1, 1), (16, 16), (33, 7)] {
      let bitmap = BitmapFixture(width, height, bits: bits)
      let picture = try #require(Decode.whole(bitmap.icon).picture)
      let worst = zip(picture.bytes, bitmap.expected(masked: true)).reduce(0) {
        max($0, abs(Int($1.0) - Int($1.1)))
      }
      #expect(picture.size == bitmap.size && worst <= 1 && !picture.isOpaque)
    }
  }

  @Test("alpha of 32 bits beats the mask, unless it is 0 everywhere")
  func alpha() throws {
    var bitmap = BitmapFixture(16, 16, bits: 32)
    #expect(Decode.whole(bitmap.icon).picture?.bytes == bitmap.expected(alpha: true))
    // Then the mask may be missing.
    let short = ICOFixture([.init(16, 16, bits: 32, Array(bitmap.dib.dropLast(64)))]).bytes
    #expect(Decode.whole(short).picture?.bytes == bitmap.expected(alpha: true))
    bitmap.values = bitmap.values.map { $0 & 0xFF_FFFF }
    #expect(Decode.whole(bitmap.icon).picture?.bytes == bitmap.expected(masked: true))
    #expect(Decode.whole(Array(bitmap.icon.dropLast(8))).fault?.kind == .truncated)
  }

  @Test("an icon's bitmap without a mask is opaque, as in browsers", arguments: [1, 2, 4, 8, 16, 24, 32])
  func noMask(bits: Int) throws {
    for (width, height) in [(1, 1), (16, 16), (33, 7)] {
      var bitmap = BitmapFixture(width, height, bits: bits)
      // Alpha of 0 everywhere says nothing.
      if bits == 32 { bitmap.values = bitmap.values.map { $0 & 0xFF_FFFF } }
      let mask = (width + 31) / 32 * 4 * height
      func icon(without count: Int) -> [UInt8] {
        ICOFixture([.init(width, height, bits: bits, Array(bitmap.dib.dropLast(count)))]).bytes
      }
      let outcome = Decode.whole(icon(without: mask))
      let picture = try #require(outcome.picture, "\(String(describing: outcome.fault))")
      let worst = zip(picture.bytes, bitmap.expected()).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
      #expect(picture.size == bitmap.size && worst <= 1 && picture.isOpaque)
      #expect(Decode.pieces(icon(without: mask), 3, []).summary == outcome.summary)
      // Without a part of what the directory names, the file is cut. A byte is the whole mask of the smallest one.
      for count in width == 1 ? [mask, mask + 4] : [mask - 1, mask, mask + 4] {
        let cut = Array(bitmap.icon.dropLast(count))
        let fault = Decode.whole(cut).fault
        #expect(fault?.kind == .truncated && fault?.offset == cut.count, "\(count)")
      }
    }
  }

  @Test("an icon's mask may end early if the directory says so: the rows without it are opaque")
  func shortMask() throws {
    var bitmap = BitmapFixture(16, 16, bits: 24)
    bitmap.mask = bitmap.mask.indices.map { $0 / 16 >= 8 && bitmap.mask[$0] }
    // As by writers that don't fill up the mask's rows to four bytes.
    let short = ICOFixture([.init(16, 16, bits: 24, Array(bitmap.dib.dropLast(32)))]).bytes
    #expect(Decode.whole(short).picture?.bytes == bitmap.expected(masked: true))
    #expect(Decode.pieces(short, 5, []).summary == Decode.whole(short).summary)
    let missing = ICOFixture([.init(16, 16, bits: 24, Array(bitmap.dib.dropLast(16 * 4 + 1)))]).bytes
    #expect(Decode.whole(missing).fault?.kind == .truncated)
  }

  @Test("a PNG in an icon is decoded, with its own size, also if the directory has another")
  func pngs() throws {
    for type: Int32 in [2, 3, 6] {
      let png = Fixture.png(70, 50, type: type)
      let icon = ICOFixture([.init(16, 16, bits: 32, png)]).bytes
      let outcome = try Decode.whole(icon).get()
      #expect(outcome.pictures[0].bytes == Decode.whole(png).picture?.bytes)
      #expect(outcome.info.format == .ico && outcome.info.size == ImageSize(width: 70, height: 50))
    }
    var broken = ICOFixture([.init(16, 16, bits: 32, Fixture.png(70, 50))]).bytes
    broken[22 + 60] ^= 0xFF
    #expect(Decode.whole(broken).fault?.kind == .corrupt)
  }

  @Test("the largest picture is taken, and of several the one with the most bits; the first of equals")
  func choice() throws {
    func entry(_ side: Int, _ bits: Int, said: Int? = nil, colors: Int = 0, seed: UInt64 = 6) -> (
      ICOFixture.Entry, [UInt8]
    ) {
      let bitmap = BitmapFixture(side, side, bits: bits, seed: seed)
      var entry = ICOFixture.Entry(side, side, bits: said ?? bits, bitmap.dib)
      entry.colors = colors
      return (entry, bitmap.expected(alpha: bits == 32, masked: bits != 32))
    }
    func chosen(_ entries: [(ICOFixture.Entry, [UInt8])], isCursor: Bool = false) -> Int? {
      var icon = ICOFixture(entries.map(\.0))
      icon.isCursor = isCursor
      let bytes = Decode.whole(icon.bytes).picture?.bytes
      return entries.firstIndex { $0.1 == bytes }
    }
    #expect(chosen([entry(16, 8), entry(32, 4), entry(16, 32)]) == 1)
    #expect(chosen([entry(16, 4), entry(16, 32), entry(16, 8)]) == 1)
    #expect(chosen([entry(16, 8), entry(16, 8, seed: 9)]) == 0)
    // A side of 256 is written as 0; a depth may be missing.
    #expect(chosen([entry(255, 8), entry(256, 1), entry(16, 32)]) == 1)
    #expect(chosen([entry(16, 4, said: 0, colors: 16), entry(16, 24, said: 0), entry(16, 8)]) == 1)
    // A cursor has the place of its tip instead.
    #expect(chosen([entry(16, 1, said: 90, colors: 2), entry(16, 8, said: 0)], isCursor: true) == 1)
  }

  @Test("an icon with a hostile directory is refused by name")
  func hostile() {
    let bitmap = BitmapFixture(16, 16, bits: 8)
    func fault(_ bytes: [UInt8]) -> ImageFault? {
      let fault = Decode.whole(bytes).fault
      #expect(Decode.pieces(bytes, 2, []).fault?.kind == fault?.kind)
      return fault
    }
    #expect(fault(ICOFixture([]).bytes)?.kind == .corrupt)
    #expect(fault(Array(bitmap.icon[..<15]))?.kind == .truncated)
    #expect(fault(Array(bitmap.icon[..<60]))?.kind == .truncated)
    #expect(fault(Array(bitmap.icon[..<600]))?.kind == .truncated)
    var entry = ICOFixture.Entry(16, 16, bits: 8, bitmap.dib)
    for (offset, kind) in [
      (0, .corrupt), (21, .corrupt), (23, .corrupt), (0x7FFF_FFFF, .truncated), (0xFFFF_FFFF, .truncated),
    ] as [(Int, ImageFault.Kind)] {
      entry.saidOffset = offset
      #expect(fault(ICOFixture([entry]).bytes)?.kind == kind, "\(offset)")
    }
    entry = ICOFixture.Entry(16, 16, bits: 8, Array("neither of the two".utf8))
    #expect(fault(ICOFixture([entry]).bytes)?.kind == .corrupt)
    // One row high, with its mask: nothing is left.
    var flat = bitmap.dib
    flat.replaceSubrange(8..<12, with: [1, 0, 0, 0])
    entry = ICOFixture.Entry(16, 16, bits: 8, flat)
    #expect(fault(ICOFixture([entry]).bytes)?.kind == .corrupt)
    var huge = bitmap.dib
    huge.replaceSubrange(4..<12, with: [255, 255, 255, 127, 255, 255, 255, 127])
    entry = ICOFixture.Entry(16, 16, bits: 8, huge)
    #expect(fault(ICOFixture([entry]).bytes)?.kind == .tooManyPixels)
  }
}
