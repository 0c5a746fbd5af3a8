import CSystem
import Testing

@testable import NuthatchImaging

/// The SIMD kernels give the plain ones' bits, so that thumbnails don't depend on the machine.
@Suite("Resampling with SIMD instructions") struct ResampleKernelTests {
  static let levels = [Int(NHS_KERNELS_SSE2), Int(NHS_KERNELS_AVX2)].filter { level in
    nhs_resample_kernels_at(Int32(level)) != nil
  }

  static let shapes: [(ImageSize, ImageSize)] = numbers.map { n in
    (ImageSize(width: n.0, height: n.1), ImageSize(width: n.2, height: n.3))
  }

  private static let numbers: [(Int, Int, Int, Int)] = [
    (1, 1, 1, 1), (1, 9, 1, 4), (9, 1, 4, 1), (160, 120, 128, 96), (33, 31, 7, 5), (35, 20, 34, 19),
    (64, 64, 13, 64),
    (64, 64, 64, 13), (5, 5, 11, 13), (401, 307, 25, 19), (403, 50, 9, 49), (50, 403, 49, 9), (700, 33, 3, 2),
    (2000, 1, 1, 1), (1, 2000, 1, 1),
  ]

  @Test("SSE2 and AVX2 kernels resample to the same bytes as scalar ones", arguments: levels, [false, true])
  func bitForBit(level: Int, opaque: Bool) throws {
    for (source, target) in Self.shapes {
      let pixels = noise(source, seed: UInt64(source.width), transparent: true)
      for crop in [ImageRect(source), inner(source)] {
        let plain = try resample(
          source, target, crop: crop, opaque: opaque, level: Int(NHS_KERNELS_SCALAR), rows: pixels)
        let simd = try resample(source, target, crop: crop, opaque: opaque, level: level, rows: pixels)
        #expect(plain == simd, "\(source) to \(target), \(crop)")
      }
    }
  }

  private func inner(_ size: ImageSize) -> ImageRect {
    let (w, h) = (Double(size.width), Double(size.height))
    return ImageRect(x: w * 0.13, y: h * 0.07, width: w * 0.8, height: h * 0.85)
  }
}

/// Random pixels, a third of them with an alpha of 0 or next to it where that is asked for.
func noise(_ size: ImageSize, seed: UInt64, transparent: Bool) -> [UInt8] {
  var random = SplitMix(seed)
  var pixels = [UInt8](repeating: 255, count: size.area * 4)
  for i in 0..<size.area {
    let bits = random.next()
    for c in 0..<3 { pixels[i * 4 + c] = UInt8(truncatingIfNeeded: bits >> (8 * c)) }
    if transparent {
      let alpha = UInt8(truncatingIfNeeded: bits >> 24)
      pixels[i * 4 + 3] = bits >> 62 == 0 ? alpha & 3 : bits >> 62 == 1 ? 255 : alpha
    }
  }
  return pixels
}

/// Resamples a picture given by its pixels.
func resample(
  _ source: ImageSize, _ target: ImageSize, crop: ImageRect? = nil, opaque: Bool,
  level: Int = Int(NHS_KERNELS_BEST), rows: [UInt8]
) throws -> [UInt8] {
  let resampler = try RowResampler(
    source: source, crop: crop ?? ImageRect(source), target: target, opaque: opaque, level: level)
  try resampler.push(rows: rows, count: source.height, stride: source.width * 4)
  return try resampler.finish().withUnsafeBytes { Array($0) }
}
