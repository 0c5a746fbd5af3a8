import Testing

@testable import NuthatchImaging

@Suite("Decoding of GIFs") struct GIFDecodeTests {
  private func check(_ gif: GIFFixture, _ name: String) {
    let outcome = Decode.whole(gif.bytes)
    let isSame = outcome.picture?.bytes == gif.expected
    #expect(outcome.picture?.size == gif.canvas, "\(name): \(String(describing: outcome.fault))")
    #expect(isSame, "\(name)")
    let isOpaque = gif.transparent == nil && gif.size == gif.canvas
    #expect(outcome.picture?.isOpaque == isOpaque, "\(name)")
    #expect(Decode.pieces(gif.bytes, 13, []).summary == outcome.summary, "\(name)")
  }

  private static let sizes = [
    (1, 1), (1, 2), (2, 1), (3, 3), (7, 5), (8, 8), (5, 9), (16, 33), (33, 16), (101, 67), (1, 3000),
    (3000, 1),
  ]

  @Test(
    "a GIF of any size has the pixels of its first frame, interlaced or not, with one table or the other",
    arguments: sizes.indices)
  func pixels(_ index: Int) {
    let (width, height) = Self.sizes[index]
    for isInterlaced in [false, true] {
      for (globalColors, frameColors) in [(256, 0), (0, 256), (256, 256), (0, 0), (16, 0), (256, 2)] {
        for transparent in [nil, 0, 7] as [UInt8?] {
          var gif = GIFFixture(width, height)
          (gif.isInterlaced, gif.transparent) = (isInterlaced, transparent)
          (gif.globalColors, gif.frameColors) = (globalColors, frameColors)
          check(gif, "\(isInterlaced), \(globalColors), \(frameColors), \(String(describing: transparent))")
        }
      }
    }
  }

  @Test("a GIF with indices of 2 to 11 bits is decoded", arguments: 2...11)
  func indexBits(_ bits: Int) {
    for clears in [true, false] {
      var gif = GIFFixture(97, 61, indexBits: bits)
      gif.clears = clears
      check(gif, "\(bits) bits, \(clears)")
    }
  }

  @Test("noise and strings of up to 3,839 pixels are decoded, with a full table that is cleared or kept")
  func fullTables() {
    for clears in [true, false] {
      var noise = GIFFixture(300, 200)
      noise.indices = Fixture.noise(300 * 200, seed: 3)
      noise.clears = clears
      check(noise, "noise, \(clears)")
    }
    for (width, height) in [(3000, 2600), (40_000, 190), (7, 3)] {
      let picture = Decode.thumbnails(GIFFixture(run: width, height).bytes, [ThumbnailBox(20)]).picture
      let pixel: [UInt8] = [7, 49, 248, 255]
      let isRight = picture.map { $0.bytes == Array(repeating: pixel, count: $0.size.area).flatMap { $0 } }
      #expect(isRight == true, "\(width)x\(height)")
    }
  }

  @Test("blocks of 1 to 255 bytes, comments, and bytes between blocks make no difference")
  func blocks() {
    for size in [1, 2, 3, 4, 7, 254] {
      var gif = GIFFixture(40, 30)
      gif.blockBytes = size
      gif.before =
        [0, 0] + GIFFixture.comment(3) + GIFFixture.loop + [0x21, 0x01, 0] + [0x21, 0xF9, 1, 1, 0]
      check(gif, "blocks of \(size)")
    }
  }

  @Test("a frame that is smaller than the screen stands on a transparent canvas, which grows if it must")
  func canvas() {
    for isInterlaced in [false, true] {
      for (x, y, width, height) in [
        (0, 0, 60, 50), (3, 4, 60, 50), (30, 20, 60, 50), (0, 0, 10, 10), (0, 0, 0, 0), (9, 9, 0, 0),
        (0, 7, 40, 37),
      ] {
        var gif = GIFFixture(40, 30)
        gif.isInterlaced = isInterlaced
        gif.place = (x, y)
        gif.screen = ImageSize(width: width, height: height)
        check(gif, "\(x), \(y) of \(width)x\(height)")
      }
    }
  }

  @Test("the transparent index of an earlier control block stays if a later one has none")
  func controls() {
    var gif = GIFFixture(20, 10)
    gif.before = [0x21, 0xF9, 4, 1, 0, 0, 7, 0, 0x21, 0xF9, 4, 0, 0, 0, 9, 0]
    var wanted = gif
    wanted.transparent = 7
    #expect(Decode.whole(gif.bytes).picture?.bytes == wanted.expected)
  }

  @Test("the probe says size, interlacing, transparency and a loop of a GIF")
  func probe() throws {
    var gif = GIFFixture(20, 10)
    func info() throws -> ImageInfo {
      for size in [1, 3, 50] { #expect(Decode.probe(gif.bytes, pieces: size) == Decode.probe(gif.bytes)) }
      guard case .found(let info) = Decode.probe(gif.bytes) else { throw FaultWord(word: "no GIF") }
      return info
    }
    var found = try info()
    #expect(found.format == .gif && found.size == gif.size && found.color == .palette && found.depth == 8)
    #expect(!found.isProgressive && !found.hasAlpha && !found.isAnimated && found.wholePictureBytes == 0)
    (gif.isInterlaced, gif.transparent, gif.before) = (true, 3, GIFFixture.loop)
    gif.screen.width = 64
    found = try info()
    #expect(found.isProgressive && found.hasAlpha && found.isAnimated && found.wholePictureBytes == 200)
    #expect(found.size == ImageSize(width: 64, height: 10))
  }

  @Test("what follows the first frame's pixels isn't read: the decoder has enough")
  func enough() throws {
    for isInterlaced in [false, true] {
      var gif = GIFFixture(200, 150)
      gif.isInterlaced = isInterlaced
      let needed = gif.head.count + gif.blocks.count
      for _ in 0..<9 { gif.after = gif.furtherFrame + gif.after }
      let bytes = gif.bytes
      let decoder = IncrementalThumbnailer(boxes: [ThumbnailBox(50)])
      var used = 0
      try bytes.withUnsafeBytes { bytes in
        while used < bytes.count {
          let end = min(bytes.count, used + 100)
          let piece = UnsafeRawBufferPointer(rebasing: bytes[used..<end])
          used = end
          if try decoder.feed(piece) == .enough { break }
        }
      }
      #expect(used <= needed + 100)
      let result = try decoder.finish()
      #expect(result.report.bytesUsed <= needed && result.report.bytesUsed > needed - 10)
      #expect(result.pictures[0].bytes == Decode.thumbnails(bytes, [ThumbnailBox(50)]).picture?.bytes)
      // Damage there changes nothing.
      let cut = Array(bytes[..<needed]) + [0xFF, 0, 0xFF]
      #expect(
        Decode.thumbnails(cut, [ThumbnailBox(50)]).summary
          == Decode.thumbnails(bytes, [ThumbnailBox(50)]).summary)
    }
  }

  @Test("the watch of a transfer is due when another frame or the end follows the first one")
  func watch() throws {
    var gif = GIFFixture(90, 70)
    gif.before = GIFFixture.comment(2)
    let frame = gif.head.count + gif.blocks.count
    // Between the two may be other blocks, one of them without parts, and bytes of no block.
    let control: [UInt8] = [0x21, 0xF9, 4, 0, 0, 0, 0, 0]
    for between in [[], control, GIFFixture.comment(3), [0, 0, 0x21, 0xFE, 0]] as [[UInt8]] {
      for next in [gif.furtherFrame + [0x3B], [0x3B]] {
        gif.after = between + next
        let needed = frame + between.count + 1
        for size in [1, 2, 7, 255, 100_000] {
          let found = try ScanWatchTests.due(gif.bytes, [ThumbnailBox(9)], piece: size)
          #expect(found == min(gif.bytes.count, (needed + size - 1) / size * size), "pieces of \(size)")
        }
      }
    }
    for cut in [gif.head + gif.blocks, Array((gif.head + gif.blocks).dropLast(5))] {
      #expect(try ScanWatchTests.due(cut, [ThumbnailBox(9)], piece: 1) == nil)
    }
  }

  private static let damaged: DecodeOptions = {
    var options = DecodeOptions()
    options.allowDamaged = true
    return options
  }()

  @Test("a GIF that is cut is `truncated`; with `allowDamaged` its complete rows are shown")
  func truncation() throws {
    for isInterlaced in [false, true] {
      var gif = GIFFixture(50, 40)
      gif.indices = Fixture.noise(50 * 40, seed: 8)
      gif.isInterlaced = isInterlaced
      let bytes = Array(gif.bytes.dropLast(gif.blocks.count * 2 / 3))
      let fault = Decode.whole(bytes).fault
      #expect(fault?.kind == .truncated && fault?.offset == bytes.count)
      let part = try Decode.whole(bytes, Self.damaged).get()
      #expect(part.report.isPartial && part.report.fault?.kind == .truncated)
      let shown = part.pictures[0].bytes
      #expect(Array(shown[..<200]) == Array(gif.expected[..<200]))
      // Interlaced, the second row isn't there yet, and shows the first one.
      #expect(Array(shown[200..<400]) == Array(gif.expected[isInterlaced ? 0..<200 : 200..<400]))
    }
    // Before the first row nothing is shown.
    let gif = GIFFixture(500, 40)
    let head = Array(gif.bytes[..<(gif.head.count + 20)])
    #expect(Decode.whole(head, Self.damaged).fault?.kind == .truncated)
    #expect(Decode.whole(Array(gif.head.dropLast(3))).fault?.kind == .truncated)
  }

  @Test("a GIF whose codes or blocks are wrong is `corrupt`, with the place")
  func corruption() {
    func fault(_ codes: [(Int, Int)], size: Int = 4) -> ImageFault? {
      var writer = CodeWriter()
      for (code, width) in codes { writer.put(code, width) }
      let gif = GIFFixture(size, size, indexBits: 2)
      let bytes = gif.head + GIFFixture.blocks(writer.finished) + [0x3B]
      let fault = Decode.whole(bytes).fault
      #expect(Decode.pieces(bytes, 1, []).fault == fault)
      return fault
    }
    // 4 clears and 5 ends, with indices of two bits.
    #expect(fault([(4, 3), (7, 3)])?.kind == .corrupt)
    #expect(fault([(4, 3), (6, 3)])?.kind == .corrupt)
    #expect(fault([(4, 3), (1, 3), (7, 3)])?.kind == .corrupt)
    #expect(fault([(4, 3), (1, 3), (6, 3), (5, 3)])?.kind == .corrupt)
    #expect(fault([])?.kind == .corrupt)
    #expect(fault([(5, 3)])?.message.contains("0 of 16 pixels") == true)
    #expect(fault([(4, 3), (1, 3), (6, 3), (5, 3)])?.message.contains("3 of 16 pixels") == true)
    #expect((fault([(4, 3), (7, 3)])?.offset ?? 0) > 700)
    var gif = GIFFixture(4, 4)
    gif.indexBits = 0
    #expect(Decode.whole(gif.head + [1, 1, 0, 0x3B]).fault?.kind == .corrupt)
    gif.indexBits = 12
    #expect(Decode.whole(gif.head + [1, 1, 0, 0x3B]).fault?.kind == .corrupt)
    gif = GIFFixture(4, 4)
    gif.size.width = 0
    #expect(Decode.whole(gif.head + [1, 1, 0, 0x3B]).fault?.kind == .corrupt)
    #expect(Decode.whole(Array(GIFFixture(1, 1).head.prefix(13 + 768)) + [0x3B]).fault?.kind == .corrupt)
    let garbage = Array(GIFFixture(1, 1).head.prefix(13 + 768)) + [UInt8](repeating: 1, count: 70_000)
    #expect(Decode.whole(garbage).fault?.kind == .corrupt)
  }

  @Test("a GIF beyond the limits is refused before it is decoded")
  func limits() {
    var gif = GIFFixture(4, 4)
    gif.screen = ImageSize(width: 65_535, height: 65_535)
    #expect(Decode.thumbnails(gif.bytes, [ThumbnailBox(9)]).fault?.kind == .tooManyPixels)
    #expect(Decode.pieces(gif.bytes, 1, [ThumbnailBox(9)]).fault?.kind == .tooManyPixels)
    gif.screen = gif.size
    gif.place = (65_000, 65_000)
    #expect(Decode.thumbnails(gif.bytes, [ThumbnailBox(9)]).fault?.kind == .tooManyPixels)
    // An interlaced one needs a byte a pixel.
    var options = DecodeOptions()
    options.limits.memory = 2 << 20
    gif = GIFFixture(run: 1500, 1500)
    #expect(Decode.thumbnails(gif.bytes, [ThumbnailBox(9)], options).picture != nil)
    gif.isInterlaced = true
    let fault = Decode.thumbnails(gif.bytes, [ThumbnailBox(9)], options).fault
    #expect(
      fault?.kind == .tooManyPixels && fault?.message.hasPrefix("an interlaced GIF of 1500x1500") == true)
  }

  @Test("a damaged GIF gives the same pixels or fault in pieces as at once")
  func randomDamage() {
    var random = Random(seed: 4)
    var (taken, refused) = (0, 0)
    for round in 0..<300 {
      var gif = GIFFixture(1 + random.below(40), 1 + random.below(40), indexBits: 2 + random.below(7))
      gif.isInterlaced = round % 2 == 0
      gif.clears = round % 3 == 0
      gif.globalColors = 4
      var bytes = gif.bytes
      for _ in 0..<1 + random.below(4) {
        bytes[6 + random.below(bytes.count - 6)] = UInt8(random.below(256))
      }
      if random.below(4) == 0 { bytes.removeLast(random.below(bytes.count / 2)) }
      for options in [DecodeOptions(), Self.damaged] {
        let whole = Decode.thumbnails(bytes, [ThumbnailBox(9), ThumbnailBox(30)], options)
        if whole.fault == nil { taken += 1 } else { refused += 1 }
        let pieces = Decode.pieces(bytes, 1 + random.below(30), [ThumbnailBox(9), ThumbnailBox(30)], options)
        #expect(pieces.summary == whole.summary, "round \(round)")
      }
    }
    #expect(taken > 50 && refused > 50, "\(taken) and \(refused)")
  }
}
