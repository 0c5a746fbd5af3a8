import Testing

@testable import NuthatchImaging

/// Fixed point comes to what floating point gives.
@Suite("Accuracy of resampling") struct ResampleAccuracyTests {
  static let shapes: [(ImageSize, ImageSize)] = numbers.map { n in
    (ImageSize(width: n.0, height: n.1), ImageSize(width: n.2, height: n.3))
  }

  private static let numbers: [(Int, Int, Int, Int)] = [
    (160, 120, 128, 96), (320, 240, 128, 96), (100, 75, 51, 38), (97, 61, 13, 8), (64, 64, 64, 13),
    (64, 64, 13, 64),
    (401, 307, 25, 19), (300, 40, 30, 39), (5, 5, 11, 13), (31, 1, 7, 1), (1, 31, 1, 7), (2, 2, 1, 1),
    (3, 90, 5, 4),
  ]

  @Test("opaque noise is resampled to within 0.75 levels of floating point", arguments: shapes)
  func opaqueNoise(_ source: ImageSize, _ target: ImageSize) throws {
    let pixels = noise(source, seed: 11, transparent: false)
    for crop in [ImageRect(source), inner(source)] {
      let exact = ResampleReference.resample(pixels, source, to: target, crop: crop, opaque: true)
      let got = try resample(source, target, crop: crop, opaque: true, rows: pixels)
      let errors = zip(got, exact).map { abs(Double($0) - $1) }
      #expect(errors.max() ?? 0 < 0.75, "\(source) to \(target), \(crop)")
      // Rounding to whole levels alone makes 0.29.
      #expect(rootMeanSquare(errors) < 0.31, "\(source) to \(target), \(crop)")
    }
  }

  @Test(
    "noise with alpha is resampled close to floating point, alpha to within 0.75 levels",
    arguments: shapes)
  func transparentNoise(_ source: ImageSize, _ target: ImageSize) throws {
    let pixels = noise(source, seed: 12, transparent: true)
    for crop in [ImageRect(source), inner(source)] {
      let exact = ResampleReference.resample(pixels, source, to: target, crop: crop, opaque: false)
      let got = try resample(source, target, crop: crop, opaque: false, rows: pixels)
      var wrong: [String] = []
      for i in 0..<target.area {
        let alpha = exact[i * 4 + 3]
        if abs(Double(got[i * 4 + 3]) - alpha) >= 0.75 { wrong.append("alpha of pixel \(i)") }
        if alpha < 1 { continue }
        for c in 0..<3 {
          // The less there is of a colour, the less exactly it is known; what shows of it stays as exact.
          let error = abs(Double(got[i * 4 + c]) - exact[i * 4 + c])
          if error >= 0.6 + 32 / alpha { wrong.append("pixel \(i), alpha \(alpha)") }
        }
      }
      #expect(wrong == [], "\(source) to \(target), \(crop)")
    }
  }

  @Test("a random crop is resampled to a random size within 0.75 levels of floating point")
  func anyCropOfAnySize() throws {
    var random = SplitMix(21)
    for round in 0..<300 {
      let source = ImageSize(
        width: .random(in: 1...70, using: &random), height: .random(in: 1...70, using: &random))
      let target = ImageSize(
        width: .random(in: 1...40, using: &random), height: .random(in: 1...40, using: &random))
      let (w, h) = (Double(source.width), Double(source.height))
      var crop = ImageRect(source)
      crop.x = .random(in: 0..<w, using: &random)
      crop.y = .random(in: 0..<h, using: &random)
      // Down to next to nothing at the very edge.
      let least = round % 3 == 0 ? 1e-9 : 0.5
      crop.width = max(min(least, w - crop.x), .random(in: 0...w - crop.x, using: &random))
      crop.height = max(min(least, h - crop.y), .random(in: 0...h - crop.y, using: &random))
      guard crop.width > 0, crop.height > 0 else { continue }
      let pixels = noise(source, seed: UInt64(round), transparent: false)
      let exact = ResampleReference.resample(pixels, source, to: target, crop: crop, opaque: true)
      let got = try resample(source, target, crop: crop, opaque: true, rows: pixels)
      let worst = zip(got, exact).map { abs(Double($0) - $1) }.max() ?? 0
      #expect(worst < 0.75, "\(source) to \(target), \(crop)")
    }
  }

  @Test("the weights of each target pixel add up to one and stay within the plan")
  func weightsAddUpToOne() {
    for source in [1, 2, 3, 7, 100, 641, 1000] {
      for target in [1, 2, 3, 50, 128, 999] {
        for (start, length) in [(0.0, Double(source)), (0.3 * Double(source), 0.61 * Double(source))] {
          let plan = AxisPlan(start: start, length: length, limit: source, target: target)
          #expect(plan.windows.count == target)
          let sound = plan.windows.allSatisfy { window in
            let run = plan.weights[Int(window.weights)..<Int(window.weights) + plan.taps]
            return run.reduce(0) { $0 + Int($1) } == AxisPlan.one && window.start >= 0
              && Int(window.start) + plan.taps <= plan.count
          }
          #expect(sound, "\(length) from \(start) of \(source) to \(target)")
        }
      }
    }
  }

  @Test("the filter `lanczos3` is sinc(x) * sinc(x / 3) from 0 to 3")
  func lanczosIsItsFormula() {
    for i in 0...3000 {
      let x = Double(i) / 1000
      let sinc = { (v: Double) in v == 0 ? 1 : sine(.pi * v) / (.pi * v) }
      #expect(abs(ResampleFilter.lanczos3.value(at: x) - (x >= 3 ? 0 : sinc(x) * sinc(x / 3))) < 1e-8)
    }
    #expect(ResampleFilter.lanczos3.value(at: -0.5) == ResampleFilter.lanczos3.value(at: 0.5))
  }

  private func inner(_ size: ImageSize) -> ImageRect {
    let (w, h) = (Double(size.width), Double(size.height))
    return ImageRect(x: w * 0.13, y: h * 0.07, width: w * 0.8, height: h * 0.85)
  }

  private func rootMeanSquare(_ errors: [Double]) -> Double {
    (errors.reduce(0) { $0 + $1 * $1 } / Double(max(1, errors.count))).squareRoot()
  }

  /// A long series instead of the C library's, which the imaging room doesn't call either.
  private func sine(_ angle: Double) -> Double {
    var term = angle
    var sum = angle
    for n in 1...30 {
      let divisor: Int = 2 * n * (2 * n + 1)
      term *= -angle * angle / Double(divisor)
      sum += term
    }
    return sum
  }
}
