import Testing

@testable import NuthatchImaging

@Suite("What a picture says of itself") struct PictureFactsTests {
  private func facts(_ bytes: [UInt8]) -> PictureFacts? { bytes.withUnsafeBytes { PictureFacts(of: $0) } }

  /// As a decode says it.
  private func decoded(_ bytes: [UInt8], _ change: (inout DecodeOptions) -> Void = { _ in }) throws
    -> PictureFacts
  {
    var options = DecodeOptions()
    change(&options)
    return try bytes.withUnsafeBytes {
      try Thumbnailer.thumbnails(of: $0, boxes: [ThumbnailBox(9)], options: options).facts
    }
  }

  private func gif(frames: Int, trailer: Bool = true) -> [UInt8] {
    var gif = GIFFixture(30, 20)
    gif.before = GIFFixture.loop + GIFFixture.comment(2)
    gif.frameColors = 4
    let further = gif.furtherFrame + GIFFixture.comment(1)
    gif.after = Array(repeating: further, count: frames - 1).flatMap { $0 } + (trailer ? [0x3B, 1, 2] : [])
    return gif.bytes
  }

  @Test("the frames of a GIF are counted, also without its last byte", arguments: [1, 2, 40])
  func gifs(_ frames: Int) throws {
    for trailer in [false, true] {
      let wanted = PictureFacts(format: .gif, isAnimated: frames > 1, frameCount: frames, depth: 8)
      #expect(facts(gif(frames: frames, trailer: trailer)) == wanted)
      #expect(try decoded(gif(frames: frames, trailer: trailer)) == wanted)
    }
  }

  @Test("the frames of a GIF that is cut aren't known; its header says whether it is an animation")
  func cutGIFs() throws {
    let whole = gif(frames: 3, trailer: false)
    let head = gif(frames: 1, trailer: false).count
    for count in head + 1..<whole.count {
      let found = try #require(facts(Array(whole[..<count])))
      // Between two blocks, a cut can't be told from a missing last byte.
      #expect(found.isAnimated && found.frameCount != 1, "\(count)")
    }
    let cut = try decoded(Array(whole[..<(head + 20)]))
    #expect(cut == PictureFacts(format: .gif, isAnimated: true, depth: 8))
    let beginning = try decoded(Array(whole[..<head])) { $0.isWhole = false }
    #expect(beginning == PictureFacts(format: .gif, isAnimated: true, depth: 8))
    let decoder = IncrementalThumbnailer(boxes: [ThumbnailBox(9)])
    _ = try whole.withUnsafeBytes { try decoder.feed($0) }
    #expect(try decoder.finish().facts.frameCount == nil)
  }

  @Test("whether a GIF is an animation is seen behind its first frame, whatever its header says")
  func furtherFrames() throws {
    for announced in [false, true] {
      var gif = GIFFixture(30, 20)
      gif.before = announced ? GIFFixture.loop : []
      func beginning(_ after: [UInt8]) throws -> PictureFacts {
        gif.after = after
        return try decoded(gif.bytes) { $0.isWhole = false }
      }
      let unknown = PictureFacts(format: .gif, isAnimated: announced, depth: 8)
      let several = PictureFacts(format: .gif, isAnimated: true, depth: 8)
      let one = PictureFacts(format: .gif, frameCount: 1, depth: 8)
      // A control block belongs to a frame, or to a text, or to nothing.
      let control: [UInt8] = [0x21, 0xF9, 4, 0, 0, 0, 0, 0]
      for between in [[], [0], control, GIFFixture.comment(2)] as [[UInt8]] {
        #expect(try beginning(between) == unknown)
        #expect(try beginning(between + [0x2C]) == several)
        #expect(try beginning(between + gif.furtherFrame) == several)
        #expect(try beginning(between + [0x3B]) == one)
      }
      // A damaged file says it, too.
      gif.after = Array((control + gif.furtherFrame).dropLast(9))
      #expect(facts(gif.bytes) == several)
    }
  }

  @Test("the header of an AVIF says its number of pictures", arguments: [1, 3])
  func avifs(_ frames: Int) throws {
    let bits = AVIFFixture.color
    let film = AVIFFixture.sequence(Array(repeating: bits.bytes, count: frames), bits)
    let wanted = PictureFacts(format: .avif, isAnimated: frames > 1, frameCount: frames, depth: 8)
    #expect(facts(film) == wanted)
    #expect(try decoded(film) == wanted)
  }

  @Test("the frames of a WebP are counted; of one that is cut they aren't known")
  func webps() throws {
    for alpha in [false, true] {
      let still = WebPFixture.webp(40, 30, lossless: !alpha, alpha: alpha)
      #expect(facts(still) == PictureFacts(format: .webp, frameCount: 1, depth: 8))
    }
    let frame = WebPFixture.frame(WebPFixture.webp(40, 30), width: 40, height: 30)
    for frames in [1, 2, 7] {
      let film = WebPFixture.animation(40, 30, Array(repeating: frame, count: frames))
      let wanted = PictureFacts(format: .webp, isAnimated: frames > 1, frameCount: frames, depth: 8)
      #expect(facts(film) == wanted)
      #expect(try decoded(film) == wanted)
      let cut = try decoded(Array(film[..<(film.count - 1)])) { $0.allowDamaged = true }
      #expect(cut == PictureFacts(format: .webp, isAnimated: true, depth: 8))
    }
  }

  @Test("an animated PNG says its number of frames")
  func animatedPNGs() throws {
    let plain = Fixture.png(20, 10)
    func animated(_ body: [UInt8]) -> [UInt8] {
      // Behind IHDR.
      Array(plain[..<33]) + Fixture.chunk("acTL", body) + Array(plain[33...])
    }
    for (frames, body): (Int, [UInt8]) in [
      (1, [0, 0, 0, 1, 0, 0, 0, 0]), (300, [0, 0, 1, 44, 0, 0, 0, 0]), (1, [0, 0, 0, 0, 0, 0, 0, 0]),
      (1, [255, 255, 255, 255, 0, 0, 0, 0]), (1, [0, 0, 0, 9]),
    ] {
      let wanted = PictureFacts(format: .png, isAnimated: frames > 1, frameCount: frames, depth: 8)
      #expect(facts(animated(body)) == wanted)
      #expect(try decoded(animated(body)) == wanted)
    }
  }

  @Test("a still picture has one frame, and its bits a channel")
  func stills() throws {
    #expect(facts(Fixture.jpeg(20, 10)) == PictureFacts(format: .jpeg, frameCount: 1, depth: 8))
    let deep = Fixture.png(20, 10, type: 2, depth: 16)
    #expect(try decoded(deep) == PictureFacts(format: .png, frameCount: 1, depth: 16))
    let grey = Fixture.png(20, 10, type: 0, depth: 2)
    #expect(facts(grey) == PictureFacts(format: .png, frameCount: 1, depth: 2))
    for (bits, depth) in [(1, 8), (8, 8), (16, 5), (24, 8), (32, 8)] {
      let bitmap = BitmapFixture(9, 7, bits: bits)
      #expect(facts(bitmap.bmp) == PictureFacts(format: .bmp, frameCount: 1, depth: depth), "\(bits)")
    }
    #expect(
      facts(BitmapFixture(16, 16, bits: 32).icon) == PictureFacts(format: .ico, frameCount: 1, depth: 8))
    #expect(facts(Array("hello, hello, hello".utf8)) == nil)
    #expect(facts([0x49, 0x49, 42, 0, 8, 0, 0, 0]) == PictureFacts(format: .tiff))
  }

  @Test("the blocks of hostile GIFs and WebPs are counted without reading beyond them")
  func hostile() {
    var random = Random(seed: 9)
    let film = WebPFixture.animation(
      40, 30, Array(repeating: WebPFixture.frame(WebPFixture.webp(40, 30), width: 40, height: 30), count: 3))
    for whole in [gif(frames: 3), film] {
      for _ in 0..<2000 {
        var bytes = whole
        for _ in 0..<3 { bytes[Int(random.below(bytes.count))] = UInt8(truncatingIfNeeded: random.next()) }
        bytes.removeLast(Int(random.below(bytes.count)))
        Decode.withExactCopy(of: bytes) {
          _ = GIFBlocks.frames(in: $0, isWhole: true)
          _ = WebPChunks.frameCount(in: $0)
        }
      }
    }
  }
}
