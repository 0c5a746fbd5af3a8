import Glibc
import ImagingFixtures

@testable import NuthatchImaging

/// WebP files that the tests make for themselves, chunk by chunk.
enum WebPFixture {
  /// The smooth picture with alpha that falls from the left to the right.
  static func rgba(_ width: Int, _ height: Int) -> [UInt8] {
    let rgb = Fixture.rgb(width, height)
    var out: [UInt8] = []
    out.reserveCapacity(width * height * 4)
    for i in 0..<width * height {
      out += rgb[3 * i..<3 * i + 3]
      out.append(UInt8(255 - 255 * (i % width) / width))
    }
    return out
  }

  /// A WebP without VP8X, except where alpha needs it.
  static func webp(
    _ width: Int, _ height: Int, lossless: Bool = false, alpha: Bool = false, samples: [UInt8]? = nil,
    _ change: (inout nht_webp_options) -> Void = { _ in }
  ) -> [UInt8] {
    var options = nht_webp_options()
    options.width = Int32(width)
    options.height = Int32(height)
    options.is_lossless = lossless ? 1 : 0
    options.has_alpha = alpha ? 1 : 0
    options.quality = 80
    options.method = 2
    change(&options)
    var size = 0
    let memory = nht_webp(&options, samples ?? rgba(width, height), &size)
    defer { free(memory) }
    return Array(UnsafeBufferPointer(start: memory, count: size))
  }

  /// What libwebp alone makes of it.
  static func reference(_ webp: [UInt8]) -> PixelBuffer? {
    var (width, height): (Int32, Int32) = (0, 0)
    guard let memory = nht_webp_pixels(webp, webp.count, &width, &height) else { return nil }
    defer { free(memory) }
    let size = ImageSize(width: Int(width), height: Int(height))
    return try? PixelBuffer(size: size, rgba: UnsafeRawBufferPointer(start: memory, count: size.area * 4))
  }

  static func littleEndian(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    Array(name.utf8) + littleEndian(body.count) + body + (body.count % 2 == 1 ? [0] : [])
  }

  static func file(_ chunks: [[UInt8]]) -> [UInt8] {
    let body = Array("WEBP".utf8) + chunks.flatMap { $0 }
    return Array("RIFF".utf8) + littleEndian(body.count) + body
  }

  /// Flags: 2 animation, 8 EXIF, 16 alpha, 32 profile.
  static func extended(_ width: Int, _ height: Int, flags: UInt8) -> [UInt8] {
    chunk("VP8X", [flags, 0, 0, 0] + littleEndian(width - 1, 3) + littleEndian(height - 1, 3))
  }

  /// The chunks ALPH, VP8 and VP8L of a file.
  static func pixels(of webp: [UInt8]) -> [UInt8] {
    var found: [UInt8] = []
    var at = 12
    while at + 8 <= webp.count {
      let name = String(decoding: webp[at..<at + 4], as: UTF8.self)
      let count = webp.withUnsafeBytes { $0.littleEndian32(at: at + 4) }
      let end = min(webp.count, at + 8 + count + count % 2)
      if ["ALPH", "VP8 ", "VP8L"].contains(name) { found += webp[at..<end] }
      at = end
    }
    return found
  }

  /// A frame with a picture's pixels.
  static func frame(_ webp: [UInt8], x: Int = 0, y: Int = 0, width: Int, height: Int) -> [UInt8] {
    let place = [x / 2, y / 2, width - 1, height - 1].flatMap { littleEndian($0, 3) }
    return chunk("ANMF", place + [100, 0, 0, 0] + pixels(of: webp))
  }

  static func animation(_ width: Int, _ height: Int, flags: UInt8 = 2, _ frames: [[UInt8]]) -> [UInt8] {
    file([extended(width, height, flags: flags), chunk("ANIM", [255, 255, 255, 255, 0, 0])] + frames)
  }

  /// EXIF with nothing but the orientation.
  static func exif(_ orientation: UInt8, prefix: Bool = false) -> [UInt8] {
    let segment = Fixture.exif(orientation)
    return chunk("EXIF", Array(segment[(prefix ? 4 : 10)...]))
  }

  /// A lossless picture of which each block of 4 x 4 pixels names another group of codes.
  static func groups(_ width: Int, _ height: Int) -> [UInt8] {
    var bits: [UInt8] = []
    var (window, count) = (0, 0)
    func put(_ value: Int, _ wanted: Int) {
      window |= value << count
      count += wanted
      while count >= 8 {
        bits.append(UInt8(window & 255))
        window >>= 8
        count -= 8
      }
    }
    /// A code of 256 symbols of 8 bits each, in an alphabet of so many.
    func putEvenCode(_ symbols: Int) {
      put(0, 1)
      // Lengths: 0 with one bit, 8 with one bit. The order is 17, 18, 0, 1, ..., 16, 6, 7, 8.
      put(12 - 4, 4)
      for place in 0..<12 { put(place == 2 || place == 11 ? 1 : 0, 3) }
      put(0, 1)
      for symbol in 0..<symbols { put(symbol < 256 ? 1 : 0, 1) }
    }
    func reversed(_ byte: Int) -> Int { (0..<8).reduce(0) { $0 | (byte >> $1 & 1) << (7 - $1) } }
    let blocks = ((width + 3) / 4) * ((height + 3) / 4)
    put(0b100, 3)  // no transform, no colour cache, groups
    put(0, 3)
    put(0, 1)
    putEvenCode(280)
    putEvenCode(256)
    for _ in 0..<3 { put(1, 4) }
    for block in 0..<blocks {
      put(reversed(block & 255), 8)
      put(reversed(block >> 8 & 255), 8)
    }
    for _ in 0..<5 * min(blocks, 1 << 16) { put(1, 4) }
    put(0, 64 - 8)
    let size = (width - 1) | (height - 1) << 14
    return file([chunk("VP8L", [0x2F] + littleEndian(size) + bits)])
  }

  /// A lossless picture of one colour, of any size: 38 bytes.
  static func lossless(_ width: Int, _ height: Int) -> [UInt8] {
    let size = (width - 1) | (height - 1) << 14
    // No transform, no colour cache, no groups of codes, and five codes of one symbol.
    let bits: [UInt8] = [0x2F] + littleEndian(size) + [0x88, 0x88, 0x08, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    return file([chunk("VP8L", bits)])
  }
}
