import CSystem
import Testing

@testable import NuthatchImaging

/// Properties that must hold for every picture and ratio.
@Suite("Resampling of plain colours and to the same size") struct ResampleBasicsTests {
  static let ratios: [(Int, Int)] = [
    (1, 1), (1, 7), (2, 1), (3, 2), (5, 4), (7, 3), (8, 1), (17, 16), (40, 3), (64, 4), (100, 1), (101, 7),
    (300, 9),
    (1000, 2), (4, 9), (3, 100),
  ]

  @Test("a picture of one colour keeps that colour at every ratio", arguments: ratios, [false, true])
  func constantStaysConstant(_ ratio: (Int, Int), opaque: Bool) throws {
    for pixel in [
      [255, 255, 255, 255], [1, 128, 254, 255], [0, 0, 0, 255], [200, 100, 50, 128], [90, 255, 0, 40],
    ] {
      let pixel = pixel.map(UInt8.init)
      let source = ImageSize(width: ratio.0, height: ratio.0 * 2)
      let target = ImageSize(width: ratio.1, height: ratio.1 * 2)
      let result = try resample(source, target, opaque: opaque) { _, _ in pixel }
      let expected = opaque ? Array(pixel[0..<3]) + [255] : pixel
      for i in 0..<target.area {
        let got = Array(result[i * 4..<i * 4 + 4])
        #expect(got == expected, "\(ratio) pixel \(i)")
        if got != expected { return }
      }
    }
  }

  @Test("a picture that is resampled to its own size keeps every byte")
  func identityIsExact() throws {
    let size = ImageSize(width: 37, height: 23)
    var random = SplitMix(1)
    let pixels = (0..<size.area * 4).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let result = try resample(size, size, opaque: false) { x, y in
      Array(pixels[(y * 37 + x) * 4..<(y * 37 + x) * 4 + 4])
    }
    #expect(result == pixels)
  }
}

/// Resamples a picture given by a function of x and y.
func resample(
  _ source: ImageSize, _ target: ImageSize, crop: ImageRect? = nil, opaque: Bool,
  level: Int = Int(NHS_KERNELS_BEST), _ pixel: (Int, Int) -> [UInt8]
) throws -> [UInt8] {
  let resampler = try RowResampler(
    source: source, crop: crop ?? ImageRect(source), target: target, opaque: opaque, level: level)
  for y in 0..<source.height {
    var row: [UInt8] = []
    for x in 0..<source.width { row += pixel(x, y) }
    try resampler.push(rows: row, count: 1, stride: row.count)
  }
  return try resampler.finish().withUnsafeBytes { Array($0) }
}

/// A small random generator, so that failures repeat.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
