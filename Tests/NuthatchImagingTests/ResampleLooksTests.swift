import Testing

@testable import NuthatchImaging

/// What people would see: shifts, dark edges, colours of invisible pixels, moiré, halos.
@Suite("Visible faults of resampling") struct ResampleLooksTests {
  @Test(
    "a symmetric picture stays symmetric to within a level",
    arguments: [(64, 17), (100, 33), (500, 20), (2000, 13), (9, 40)])
  func symmetryIsKept(_ sides: (Int, Int)) throws {
    let (n, m) = sides
    var random = SplitMix(4)
    let half = (0..<(n + 1) / 2).map { _ in UInt8(truncatingIfNeeded: random.next()) }
    let line = (0..<n).map { half[min($0, n - 1 - $0)] }
    let source = ImageSize(width: n, height: n)
    let target = ImageSize(width: m, height: m)
    let result = try resample(source, target, opaque: true) { x, y in [line[x], line[y], line[x], 255] }
    for y in 0..<m {
      for x in 0..<m {
        for (c, i) in [(0, y * m + m - 1 - x), (1, (m - 1 - y) * m + x)] {
          #expect(abs(Int(result[(y * m + x) * 4 + c]) - Int(result[i * 4 + c])) <= 1)
        }
      }
    }
  }

  @Test(
    "resampling doesn't shift a ramp: away from its ends it is within 1.2 levels",
    arguments: [(250, 100), (250, 50), (250, 12), (25, 100)])
  func rampsStayWhereTheyAre(_ sides: (Int, Int)) throws {
    let (n, m) = sides
    let step = 250 / n
    let source = ImageSize(width: n, height: 3)
    let target = ImageSize(width: m, height: 3)
    let result = try resample(source, target, opaque: true) { x, _ in [UInt8(x * step), 0, 0, 255] }
    let ratio = Double(n) / Double(m)
    let margin = Int((4 * max(1, 1 / ratio)).rounded(.up))
    for x in margin..<max(margin, m - margin) {
      let there = ((Double(x) + 0.5) * ratio - 0.5) * Double(step)
      #expect(abs(Double(result[x * 4]) - there) < 1.2, "pixel \(x)")
    }
  }

  @Test(
    "the colour of transparent pixels doesn't bleed into opaque ones",
    arguments: [(32, 20), (32, 7), (400, 9), (8, 20)])
  func invisibleColoursDoNotBleed(_ sides: (Int, Int)) throws {
    let (n, m) = sides
    let source = ImageSize(width: n, height: n)
    let target = ImageSize(width: m, height: m)
    let result = try resample(source, target, opaque: false) { x, _ in
      x < n / 2 ? [255, 0, 0, 0] : [0, 0, 255, 255]
    }
    for i in 0..<target.area {
      let pixel = Array(result[i * 4..<i * 4 + 4])
      #expect(
        pixel[3] == 0 ? pixel == [0, 0, 0, 0] : pixel[0] == 0 && pixel[1] == 0 && pixel[2] >= 254, "\(i)")
    }
  }

  @Test(
    "a checkerboard that is reduced becomes even grey to within 6 levels",
    arguments: [33, 40, 50, 64, 101])
  func checkersBecomeGrey(_ m: Int) throws {
    let source = ImageSize(width: 300, height: 300)
    let target = ImageSize(width: m, height: m)
    let result = try resample(source, target, opaque: true) { x, y in
      let level: UInt8 = (x + y) % 2 == 0 ? 255 : 0
      return [level, level, level, 255]
    }
    for i in 0..<target.area { #expect(abs(Int(result[i * 4]) - 127) <= 6, "pixel \(i)") }
  }

  @Test(
    "a step of 150 levels gets halos of at most 17 levels, and none beyond 5 pixels",
    arguments: [(256, 100), (256, 20), (256, 3), (1000, 31), (20, 64)])
  func halosStaySmall(_ sides: (Int, Int)) throws {
    let (n, m) = sides
    let source = ImageSize(width: n, height: 1)
    let target = ImageSize(width: m, height: 1)
    let result = try resample(source, target, opaque: true) { x, _ in
      let level: UInt8 = x < n / 2 ? 50 : 200
      return [level, level, level, 255]
    }
    // A tenth of the step is what three lobes make; it never repeats itself visibly further off.
    for x in 0..<m { #expect(result[x * 4] >= 33 && result[x * 4] <= 217) }
    for x in 0..<m where abs(x - m / 2) > 5 { #expect(result[x * 4] == (x < m / 2 ? 50 : 200)) }
  }

  @Test("rows don't mix if only the width changes, nor columns if only the height does")
  func oneAxisAlone() throws {
    // Along an axis that keeps its size, pixels don't touch each other.
    let source = ImageSize(width: 90, height: 4)
    let rows: [[UInt8]] = [[255, 0, 0, 255], [0, 255, 0, 255], [9, 9, 250, 255], [90, 80, 70, 255]]
    let across = try resample(source, ImageSize(width: 31, height: 4), opaque: true) { _, y in rows[y] }
    for i in 0..<31 * 4 { #expect(Array(across[i * 4..<i * 4 + 4]) == rows[i / 31]) }
    let turned = ImageSize(width: 4, height: 90)
    let down = try resample(turned, ImageSize(width: 4, height: 31), opaque: true) { x, _ in rows[x] }
    for i in 0..<31 * 4 { #expect(Array(down[i * 4..<i * 4 + 4]) == rows[i % 4]) }
  }

  @Test("stripes over 10,000 pixels are reduced to one pixel with their mean")
  func tenThousandToOne() throws {
    let source = ImageSize(width: 10_000, height: 3)
    let result = try resample(source, ImageSize(width: 1, height: 1), opaque: true) { x, _ in
      x % 2 == 0 ? [100, 0, 255, 255] : [200, 0, 255, 255]
    }
    #expect(abs(Int(result[0]) - 150) <= 1)
    #expect(Array(result[1...]) == [0, 255, 255])
    let tall = try resample(
      ImageSize(width: 3, height: 20_000), ImageSize(width: 2, height: 2), opaque: false
    ) { _, y in y % 4 == 0 ? [10, 20, 30, 255] : [10, 20, 30, 0] }
    for i in 0..<4 {
      #expect(abs(Int(tall[i * 4 + 3]) - 64) <= 1)
      #expect(Array(tall[i * 4..<i * 4 + 3]) == [10, 20, 30])
    }
  }
}
