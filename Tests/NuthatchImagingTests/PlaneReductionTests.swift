import CSystem
import Glibc
import Testing

@testable import NuthatchImaging

@Suite("Reduced planes")
struct PlaneReductionTests {
  private struct Plane {
    let width: Int
    let height: Int
    let samples: [Int]

    init(_ width: Int, _ height: Int, samples: [Int]) {
      (self.width, self.height, self.samples) = (width, height, samples)
    }

    init(_ width: Int, _ height: Int, most: Int, using random: inout some RandomNumberGenerator) {
      self.init(
        width, height, samples: (0..<width * height).map { _ in .random(in: 0...most, using: &random) })
    }

    /// The sample at a place; beyond an edge, the last one.
    func sample(_ x: Int, _ y: Int) -> Int {
      samples[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]
    }

    /// The definition: a cell counts three times, and half a cell on each side of it once.
    func reduced(_ across: Int, _ down: Int, row: Int) -> [Int] {
      (0..<(width + across - 1) / across).map { cell in
        var (sum, weights) = (0, 0)
        for (y, vertical) in Self.weights(down) {
          for (x, horizontal) in Self.weights(across) {
            sum += vertical * horizontal * sample(cell * across + x, row * down + y)
            weights += vertical * horizontal
          }
        }
        return (sum + weights / 2) / weights
      }
    }

    private static func weights(_ cell: Int) -> [(Int, Int)] {
      if cell == 1 { return [(-1, 3), (0, 10), (1, 3)] }
      return (-cell / 2..<cell + cell / 2).map { ($0, (0..<cell).contains($0) ? 3 : 1) }
    }

    func bytes(_ across: Int, _ down: Int, row: Int) -> [Int] {
      let stored = samples.map { UInt8($0) }
      var sums = [UInt16](repeating: 0, count: width + 16)
      var out = [UInt8](repeating: 0, count: (width + across - 1) / across)
      stored.withUnsafeBytes { raw in
        var plane = nhs_plane(
          samples: raw.baseAddress, stride: width, width: Int32(width), height: Int32(height))
        nhs_average_bytes(&plane, Int32(across), Int32(down), Int32(row), &out, &sums)
      }
      return out.map { Int($0) }
    }

    func words(_ across: Int, _ down: Int, row: Int) -> [Int] {
      let stored = samples.map { UInt16($0) }
      var sums = [UInt32](repeating: 0, count: width + 16)
      var out = [UInt16](repeating: 0, count: (width + across - 1) / across)
      stored.withUnsafeBytes { raw in
        var plane = nhs_plane(
          samples: raw.baseAddress, stride: 2 * width, width: Int32(width), height: Int32(height))
        nhs_average_words(&plane, Int32(across), Int32(down), Int32(row), &out, &sums)
      }
      return out.map { Int($0) }
    }
  }

  @Test("samples of one and two bytes are reduced as defined, at any size", arguments: [1, 2, 4, 8])
  func reductionIsItsDefinition(_ across: Int) {
    var random = SplitMix(UInt64(across))
    for down in across == 1 ? [1, 2] : [1, 2, 4, 8] {
      for (width, height) in [(1, 1), (2, 3), (7, 9), (8, 8), (17, 16), (64, 5), (141, 33)] {
        let small = Plane(width, height, most: 255, using: &random)
        let wide = Plane(width, height, most: 4095, using: &random)
        let bright = Plane(width, height, samples: [Int](repeating: 255, count: width * height))
        for row in 0..<(height + down - 1) / down {
          #expect(small.bytes(across, down, row: row) == small.reduced(across, down, row: row))
          #expect(wide.words(across, down, row: row) == wide.reduced(across, down, row: row))
          #expect(bright.bytes(across, down, row: row).allSatisfy { $0 == 255 })
        }
      }
    }
  }

  @Test(
    "fine details have nearly the contrast that they would have without the reduction", arguments: [2, 4, 8])
  func detailsKeepTheirContrast(_ denominator: Int) {
    let length = 200 * denominator
    let direct = AxisPlan(start: 0, length: Double(length), limit: length, target: 100)
    let blur = PlaneReduction.blur(denominator)
    let sharpened = AxisPlan(start: 0, length: 200, limit: 200, target: 100, blur: blur)
    let plain = AxisPlan(start: 0, length: 200, limit: 200, target: 100)
    for pixelsEach in [40, 10, 5] {
      // A wave that takes so many pixels of the thumbnail.
      let step = 2 * Double.pi / Double(2 * denominator * pixelsEach)
      let wave = (0..<length).map { 2000 + Int((1500 * cos((Double($0) + 0.5) * step)).rounded()) }
      let reduced = Plane(length, 1, samples: wave).words(denominator, 1, row: 0)
      let wanted = contrast(wave, direct)
      #expect(abs(contrast(reduced, sharpened) / wanted - 1) < 0.02)
      #expect(contrast(reduced, plain) < contrast(reduced, sharpened))
    }
  }

  /// The difference between the lightest and the darkest pixel, without those near the edges.
  private func contrast(_ samples: [Int], _ plan: AxisPlan) -> Double {
    let pixels = plan.windows[10..<90].map { window in
      (0..<plan.taps).reduce(0.0) { sum, tap in
        sum + Double(plan.weights[Int(window.weights) + tap]) * Double(samples[Int(window.start) + tap])
      } / Double(AxisPlan.one)
    }
    return (pixels.max() ?? 0) - (pixels.min() ?? 0)
  }
}
