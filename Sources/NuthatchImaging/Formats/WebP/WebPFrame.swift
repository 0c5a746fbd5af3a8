/// The first frame of a WebP: where its bitstream lies in the file, and its place on the canvas.
struct WebPFrame: Equatable {
  /// What the headers of VP8 and VP8L say of the pixels.
  struct Bitstream: Equatable {
    let size: ImageSize
    let isLossless: Bool
    /// A hint of VP8L; false for VP8.
    let saysAlpha: Bool
  }

  let bitstream: Bitstream
  /// The offset in the file of the chunk that libwebp begins with.
  let start: Int
  /// The offset behind the last byte of the bitstream.
  let end: Int
  /// The offsets of what ALPH contains, if it counts.
  let alpha: Range<Int>?
  /// Where the frame's upper left corner is on the canvas.
  let x: Int
  let y: Int
  let canvas: ImageSize
  /// The pixels have alpha that counts: in ALPH, or in VP8L.
  let hasAlpha: Bool
  /// The offset behind the last byte of the WebP.
  let fileEnd: Int
  let isAnimated: Bool

  var coversCanvas: Bool { bitstream.size == canvas }

  /// Every pixel of the canvas is opaque.
  var isOpaque: Bool { !hasAlpha && coversCanvas }

  /// The part of the file that has codes of VP8L, behind its header: the pixels of a lossless frame, or the alpha of a lossy
  /// one. Nil if there is none. The bytes go to the end of ALPH at least.
  func lossless(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer? {
    let codes: Range<Int>
    if bitstream.isLossless {
      codes = start + 8 + Bitstream.losslessHeader..<end
    } else if let alpha, alpha.lowerBound < bytes.count, bytes[alpha.lowerBound] & 3 == 1 {
      codes = alpha.lowerBound + 1..<alpha.upperBound
    } else {
      return nil
    }
    return UnsafeRawBufferPointer(rebasing: bytes[codes.clamped(to: 0..<bytes.count)])
  }

  /// The bytes that libwebp holds: planes or pixels, and what it makes them of.
  var decoderBytes: Int {
    let area = bitstream.size.area
    let halves = bitstream.isLossless ? 16 : hasAlpha ? 16 : 3
    let (product, overflow) = area.multipliedReportingOverflow(by: halves)
    return overflow ? Int.max : product / 2
  }
}

extension WebPFrame {
  /// Finds the first frame in the bytes of a file, which hold at least the header of its pixels.
  static func first(of bytes: UnsafeRawBufferPointer) throws(ImageFault) -> WebPFrame {
    var parser = WebPHeaderParser(collectsProfile: false, waitsForEXIF: false)
    var step = parser.first
    var position = 0
    while true {
      switch step {
      case .read(let skip, let count):
        let (start, end) = (position + skip, position + skip + count)
        guard end <= bytes.count else {
          throw ImageFault(.truncated, "the WebP ends within its header", at: bytes.count)
        }
        position = end
        step = parser.consume(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), end: end)
      case .found:
        guard let frame = parser.frame else {
          throw ImageFault(.internal, "a WebP without a frame was found")
        }
        return frame
      case .fault(let fault): throw fault
      }
    }
  }
}

extension WebPFrame.Bitstream {
  static let lossyHeader = 10
  static let losslessHeader = 5

  /// Reads the frame header of VP8: the tag, the start code and the size.
  ///
  /// - Parameter count: the bytes of the chunk.
  /// - Returns: what is wrong, if it isn't a key frame that libwebp decodes.
  static func lossy(_ bytes: UnsafeRawBufferPointer, of count: Int) -> Result<Self, Problem> {
    let tag = bytes.littleEndian24(at: 0)
    guard tag & 1 == 0 else { return .failure("is not a key frame") }
    guard (tag >> 1) & 7 <= 3 else {
      return .failure("has the profile \((tag >> 1) & 7), which doesn't exist")
    }
    guard tag >> 4 & 1 == 1 else { return .failure("is marked as invisible") }
    guard tag >> 5 < count else { return .failure("has a first partition of \(tag >> 5) bytes, too many") }
    guard bytes[3] == 0x9D, bytes[4] == 0x01, bytes[5] == 0x2A else {
      return .failure("has no start code")
    }
    // Above the size are two bits for an enlargement, which no decoder applies.
    let size = ImageSize(
      width: bytes.littleEndian16(at: 6) & 0x3FFF, height: bytes.littleEndian16(at: 8) & 0x3FFF)
    guard size.width > 0, size.height > 0 else {
      return .failure("has the size \(size), which is not allowed")
    }
    return .success(Self(size: size, isLossless: false, saysAlpha: false))
  }

  /// Reads the header of VP8L.
  static func lossless(_ bytes: UnsafeRawBufferPointer) -> Result<Self, Problem> {
    guard bytes[0] == 0x2F else { return .failure("has no signature") }
    let bits = bytes.littleEndian16(at: 1) | bytes.littleEndian16(at: 3) << 16
    guard bits >> 29 == 0 else { return .failure("has the version \(bits >> 29), which doesn't exist") }
    let size = ImageSize(width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1)
    return .success(Self(size: size, isLossless: true, saysAlpha: bits >> 28 & 1 == 1))
  }

  /// The end of a sentence about a bitstream.
  struct Problem: Error, ExpressibleByStringInterpolation {
    let text: String

    init(stringLiteral text: String) { self.text = text }
  }
}
