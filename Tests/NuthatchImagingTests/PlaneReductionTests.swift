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

    /// The average of a block, with 255 as 1.
    func share(of block: (columns: Int, rows: Int), _ x: Int, _ y: Int) -> Double {
      let count = block.columns * block.rows
      let sum = (0..<count).reduce(0) {
        $0 + sample(x * block.columns + $1 % block.columns, y * block.rows + $1 / block.columns)
      }
      return Double(sum) / Double(255 * count)
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

  @Test("samples are multiplied by alpha, those of chroma by its average", arguments: [8, 10, 12])
  func samplesAreMultipliedByAlpha(_ depth: Int) {
    var random = SplitMix(UInt64(depth))
    let most = 1 << depth - 1
    let zeros = [16 << (depth - 8), 128 << (depth - 8)]
    for (columns, rows) in [(2, 2), (2, 1), (1, 1)] {
      for (width, height) in [(1, 1), (3, 2), (33, 17), (64, 8)] {
        let chroma = ((width + columns - 1) / columns, (height + rows - 1) / rows)
        let alpha = Plane(
          width, height, samples: (0..<width * height).map { _ in alphas.randomElement(using: &random)! })
        let planes = [(width, height), chroma, chroma].map {
          Plane($0.0, $0.1, most: most, using: &random)
        }
        let found = multiplied(planes, by: alpha, depth, zeros, halves: (columns == 2, rows == 2))
        for (index, plane) in planes.enumerated() {
          let block = index > 0 ? (columns, rows) : (1, 1)
          let zero = zeros[min(index, 1)]
          let isClose = plane.samples.indices.allSatisfy { place in
            let share = alpha.share(of: block, place % plane.width, place / plane.width)
            let distance = Double(plane.samples[place] - zero)
            // Alpha is rounded before it is multiplied, if it is an average.
            let margin = 0.55 + (block == (1, 1) ? 0 : abs(distance) / 500)
            return abs(Double(found[index][place] - zero) - distance * share) <= margin
          }
          #expect(isClose, "plane \(index) of \(width)x\(height) in \(columns)x\(rows)")
        }
      }
    }
  }

  @Test(
    "with alpha of one level everywhere, reduced pixels have the colours that they have without",
    arguments: [8, 10, 12])
  func evenAlphaLeavesColors(_ depth: Int) throws {
    var random = SplitMix(UInt64(100 + depth))
    let colors = try #require(
      AVIFMatrix.of(AVIFColors(primaries: 1, transfer: 1, matrix: 1), chroma: 1, isExact: true)
    ).sums(depth: depth, resultBits: 8, isFullRange: false)
    for (width, height) in [(1, 1), (2, 3), (7, 9), (17, 16), (63, 33), (141, 5)] {
      let chroma = ((width + 1) / 2, (height + 1) / 2)
      // Samples whose colours aren't cut off.
      let planes = [(width, height), chroma, chroma].enumerated().map { index, size in
        let range = index == 0 ? 90...140 : 118...138
        return Plane(
          size.0, size.1,
          samples: (0..<size.0 * size.1).map { _ in Int.random(in: range, using: &random) << (depth - 8) })
      }
      for factor in [2, 4, 8] {
        let opaque = reduced(planes, alpha: nil, depth, colors, factor)
        for level in [255, 200, 100, 1] {
          let alpha = Plane(width, height, samples: [Int](repeating: level, count: width * height))
          let found = reduced(planes, alpha: alpha, depth, colors, factor)
          // A level of what was multiplied is so many of the result. Blue is twice chroma.
          let margin = level == 255 ? 0 : 5 * 255 / level
          let isClose = found.indices.allSatisfy { place in
            place % 4 == 3
              ? Int(found[place]) == level : abs(Int(found[place]) - Int(opaque[place])) <= margin
          }
          #expect(isClose, "\(width)x\(height), 1/\(factor), alpha \(level)")
        }
      }
    }
  }

  /// The rows of RGBA that are made of 4:2:0.
  private func reduced(
    _ planes: [Plane], alpha: Plane?, _ depth: Int, _ colors: nhs_colors, _ factor: Int
  ) -> [UInt8] {
    let stored = Stored(planes, alpha: alpha, depth, halves: (true, true))
    var colors = colors
    // No byte more than is asked for, so that the address sanitizer sees an access beyond it.
    let room = nhs_samples_spare(stored.samples.width)
    let spare = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 16)
    defer { spare.deallocate() }
    if alpha != nil { nhs_samples_multiply(&stored.samples, &colors, spare) }
    let (columns, rows) = ((planes[0].width + factor - 1) / factor, (planes[0].height + factor - 1) / factor)
    var found: [UInt8] = []
    for row in 0..<rows {
      var pixels = [UInt8](repeating: 0, count: 4 * columns)
      nhs_samples_reduced_row(&stored.samples, &colors, Int32(factor), Int32(row), &pixels, spare)
      found += pixels
    }
    return found
  }

  private var alphas: [Int] { [0, 0, 1, 77, 128, 254, 255, 255] }

  private func multiplied(
    _ planes: [Plane], by alpha: Plane, _ depth: Int, _ zeros: [Int], halves: (columns: Bool, rows: Bool)
  ) -> [[Int]] {
    let stored = Stored(planes, alpha: alpha, depth, halves: halves)
    var colors = nhs_colors()
    colors.zeros = (Int32(zeros[0]), Int32(zeros[1]))
    var spare = [UInt8](repeating: 0, count: nhs_samples_spare(stored.samples.width))
    nhs_samples_multiply(&stored.samples, &colors, &spare)
    return stored.planes
  }

  /// Planes as C takes them. Alpha has one byte a sample.
  private final class Stored {
    var samples = nhs_samples()
    private let memories: [UnsafeMutableRawBufferPointer]

    init(_ planes: [Plane], alpha: Plane?, _ depth: Int, halves: (columns: Bool, rows: Bool)) {
      let size = depth > 8 ? 2 : 1
      memories = (planes + [alpha].compactMap { $0 }).enumerated().map { index, plane in
        let isWide = size == 2 && index < planes.count
        let memory = UnsafeMutableRawBufferPointer.allocate(
          byteCount: plane.samples.count * (isWide ? 2 : 1), alignment: 2)
        if isWide {
          memory.copyBytes(from: plane.samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] })
        } else {
          memory.copyBytes(from: plane.samples.map { UInt8($0) })
        }
        return memory
      }
      let bases = memories.map { UnsafeRawPointer($0.baseAddress) }
      (samples.y, samples.u, samples.v, samples.a) = (
        bases[0], bases[1], bases[2], alpha == nil ? nil : bases[3]
      )
      samples.y_stride = planes[0].width * size
      samples.uv_stride = planes[1].width * size
      samples.a_stride = planes[0].width
      (samples.width, samples.height) = (Int32(planes[0].width), Int32(planes[0].height))
      (samples.depth, samples.a_depth) = (Int32(depth), 8)
      (samples.halves_columns, samples.halves_rows) = (halves.columns ? 1 : 0, halves.rows ? 1 : 0)
    }

    deinit { for memory in memories { memory.deallocate() } }

    /// The samples of luma and chroma.
    var planes: [[Int]] {
      memories.prefix(3).map { memory in
        samples.depth == 8 ? memory.map { Int($0) } : memory.bindMemory(to: UInt16.self).map { Int($0) }
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
