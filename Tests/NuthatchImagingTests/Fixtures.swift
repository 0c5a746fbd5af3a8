import Glibc
import ImagingFixtures

@testable import NuthatchImaging

/// Pictures that the tests make for themselves.
enum Fixture {
  /// Smooth, coloured and lopsided, so that every orientation shows.
  static func rgb(_ width: Int, _ height: Int) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(width * height * 3)
    for y in 0..<height {
      for x in 0..<width {
        let u = Double(x) / Double(max(1, width - 1))
        let v = Double(y) / Double(max(1, height - 1))
        out.append(UInt8(255 * u))
        out.append(UInt8(255 * v))
        out.append(UInt8(127 + 120 * sin(6 * u + 3 * v)))
      }
    }
    return out
  }

  static func gray(_ width: Int, _ height: Int) -> [UInt8] {
    let source = rgb(width, height)
    return (0..<width * height).map { source[3 * $0 + 2] }
  }

  static func cmyk(_ width: Int, _ height: Int) -> [UInt8] {
    let source = rgb(width, height)
    var out: [UInt8] = []
    for i in 0..<width * height {
      out += source[3 * i..<3 * i + 3]
      out.append(source[3 * i] / 3)
    }
    return out
  }

  /// A JPEG of the smooth picture.
  static func jpeg(
    _ width: Int, _ height: Int, color: Int = Int(NHT_YCC), sampling: (Int32, Int32) = (2, 2),
    quality: Int32 = 95, samples: [UInt8]? = nil, _ change: (inout nht_jpeg_options) -> Void = { _ in }
  ) -> [UInt8] {
    var options = nht_jpeg_options()
    options.width = Int32(width)
    options.height = Int32(height)
    options.color = Int32(color)
    options.horizontal = sampling.0
    options.vertical = sampling.1
    options.quality = quality
    options.write_adobe = color >= Int(NHT_RGB) ? 1 : 0
    change(&options)
    let pixels =
      samples
      ?? (color == Int(NHT_GRAY)
        ? gray(width, height) : color >= Int(NHT_CMYK) ? cmyk(width, height) : rgb(width, height))
    var size = 0
    return take(nht_jpeg(&options, pixels, &size), size)
  }

  /// A PNG of those samples.
  static func png(
    _ width: Int, _ height: Int, type: Int32 = 2, depth: Int32 = 8, samples: [UInt8]? = nil,
    _ change: (inout nht_png_options) -> Void = { _ in }
  ) -> [UInt8] {
    var options = nht_png_options()
    options.width = Int32(width)
    options.height = Int32(height)
    options.depth = depth
    options.color_type = type
    options.level = 6
    change(&options)
    let channels = [1, 0, 3, 1, 2, 0, 4][Int(type)]
    let count = (width * channels * Int(depth) + 7) / 8 * height
    let pixels =
      samples ?? (type == 2 && depth == 8 ? rgb(width, height) : noise(count, seed: 7, smooth: true))
    var size = 0
    return take(nht_png(&options, pixels, &size), size)
  }

  static func profile(_ kind: Int) -> [UInt8] {
    var size = 0
    return take(nht_profile(Int32(kind), &size), size)
  }

  static func zlib(_ bytes: [UInt8]) -> [UInt8] {
    var size = 0
    return take(nht_zlib(bytes, bytes.count, &size), size)
  }

  /// The same bytes on every run.
  static func noise(_ count: Int, seed: UInt64, smooth: Bool = false) -> [UInt8] {
    var random = Random(seed: seed)
    var value: UInt8 = 128
    return (0..<count).map { _ in
      value = smooth ? value &+ UInt8(random.next() % 5) &- 2 : UInt8(truncatingIfNeeded: random.next())
      return value
    }
  }

  /// A JPEG with another segment behind its start.
  static func inserting(_ segment: [UInt8], into jpeg: [UInt8]) -> [UInt8] {
    Array(jpeg[..<2]) + segment + Array(jpeg[2...])
  }

  static func segment(_ code: UInt8, _ body: [UInt8]) -> [UInt8] {
    [0xFF, code, UInt8((body.count + 2) >> 8), UInt8((body.count + 2) & 255)] + body
  }

  /// An EXIF segment with nothing but the orientation.
  static func exif(_ orientation: UInt8, bigEndian: Bool = true) -> [UInt8] {
    let tiff: [UInt8] =
      bigEndian
      ? [0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0]
      : [0x49, 0x49, 42, 0, 8, 0, 0, 0, 1, 0, 0x12, 1, 3, 0, 1, 0, 0, 0, orientation, 0, 0, 0, 0, 0, 0, 0]
    return segment(0xE1, Array("Exif\0\0".utf8) + tiff)
  }

  static func iccSegments(_ profile: [UInt8]) -> [UInt8] {
    segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
  }

  static func chunk(_ name: String, _ body: [UInt8]) -> [UInt8] {
    let content = Array(name.utf8) + body
    return bigEndian(UInt32(body.count)) + content + bigEndian(crc(content))
  }

  static func bigEndian(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> UInt32($0)) }
  }

  static func crc(_ bytes: [UInt8]) -> UInt32 {
    var crc: UInt32 = 0xFFFF_FFFF
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }

  private static func take(_ memory: UnsafeMutablePointer<UInt8>?, _ size: Int) -> [UInt8] {
    defer { free(memory) }
    return Array(UnsafeBufferPointer(start: memory, count: size))
  }
}

/// A generator whose numbers never change.
struct Random {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return (state &* 0x2545_F491_4F6C_DD1D) >> 16
  }

  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}

/// Calls of the front door with arrays.
enum Decode {
  typealias Outcome = Result<DecodeResult, ImageFault>

  static func whole(_ bytes: [UInt8], _ options: DecodeOptions = DecodeOptions()) -> Outcome {
    withExactCopy(of: bytes) { bytes in
      capture { () throws(ImageFault) in try Thumbnailer.decode(bytes, options: options) }
    }
  }

  static func thumbnails(
    _ bytes: [UInt8], known: ImageInfo? = nil, _ boxes: [ThumbnailBox],
    _ options: DecodeOptions = DecodeOptions()
  ) -> Outcome {
    withExactCopy(of: bytes) { bytes in
      capture { () throws(ImageFault) in
        try Thumbnailer.thumbnails(of: bytes, known: known, boxes: boxes, options: options)
      }
    }
  }

  /// Fed in pieces of that size.
  static func pieces(
    _ bytes: [UInt8], _ size: Int, _ boxes: [ThumbnailBox], _ options: DecodeOptions = DecodeOptions()
  ) -> Outcome {
    capture { () throws(ImageFault) in
      let decoder = IncrementalThumbnailer(boxes: boxes, options: options)
      var at = 0
      while at < bytes.count {
        let end = min(bytes.count, at + size)
        let status = withExactCopy(of: Array(bytes[at..<end])) { piece in
          capture { () throws(ImageFault) in try decoder.feed(piece) }
        }
        if try status.get() == .enough { break }
        at = end
      }
      return try decoder.finish()
    }
  }

  static func probe(_ bytes: [UInt8], pieces: Int? = nil) -> ImageProbe.Answer {
    var probe = ImageProbe()
    var at = 0
    while at < bytes.count {
      let end = min(bytes.count, at + (pieces ?? bytes.count))
      withExactCopy(of: Array(bytes[at..<end])) { _ = probe.feed($0) }
      at = end
    }
    return probe.finish()
  }

  static func capture<T>(_ body: () throws(ImageFault) -> T) -> Result<T, ImageFault> {
    do throws(ImageFault) { return .success(try body()) } catch { return .failure(error) }
  }

  /// Memory of exactly that length, so that the address sanitizer sees every byte read beyond it.
  static func withExactCopy<R>(of bytes: [UInt8], _ body: (UnsafeRawBufferPointer) -> R) -> R {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { copy.deallocate() }
    copy.copyBytes(from: bytes)
    return body(UnsafeRawBufferPointer(copy))
  }
}

extension PixelBuffer {
  var bytes: [UInt8] { withUnsafeBytes { Array($0) } }

  func largestDifference(from other: PixelBuffer) -> Int {
    guard size == other.size else { return 256 }
    return zip(bytes, other.bytes).reduce(0) { max($0, abs(Int($1.0) - Int($1.1))) }
  }

  /// The ratio of the highest level to the mean difference.
  func decibels(from other: PixelBuffer) -> Double {
    guard size == other.size else { return 0 }
    let squares = zip(bytes, other.bytes).reduce(0.0) { $0 + pow(Double($1.0) - Double($1.1), 2) }
    return 10 * log10(255 * 255 / max(1e-9, squares / Double(byteCount)))
  }
}

extension Result where Success == DecodeResult, Failure == ImageFault {
  var picture: PixelBuffer? { (try? get())?.pictures.first }

  var fault: ImageFault? {
    if case .failure(let fault) = self { return fault }
    return nil
  }

  /// Pixels and verdict in a form that can be compared; places and words of faults may differ.
  var summary: [UInt8] {
    switch self {
    case .success(let result): result.pictures.flatMap { $0.bytes } + [result.report.isPartial ? 1 : 0]
    case .failure(let fault): Array(fault.word.utf8)
    }
  }
}
