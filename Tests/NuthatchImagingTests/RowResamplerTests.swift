import Testing

@testable import NuthatchImaging

/// Rows in any pieces, and calls that make no sense.
@Suite("Calls of the resampler by rows") struct RowResamplerTests {
  static let source = ImageSize(width: 61, height: 47)

  @Test(
    "rows that are pushed in pieces give the same picture as all at once",
    arguments: [
      ImageSize(width: 61, height: 47), ImageSize(width: 20, height: 15), ImageSize(width: 3, height: 2),
    ])
  func piecesMakeNoDifference(_ target: ImageSize) throws {
    let pixels = noise(Self.source, seed: 2, transparent: true)
    let whole = try resample(Self.source, target, opaque: false, rows: pixels)
    for piece in [1, 2, 7, 46] {
      let resampler = try RowResampler(
        source: Self.source, crop: ImageRect(Self.source), target: target, opaque: false)
      try pixels.withUnsafeBufferPointer { all in
        let base = try #require(all.baseAddress)
        for y in stride(from: 0, to: Self.source.height, by: piece) {
          let count = min(piece, Self.source.height - y)
          try resampler.push(
            rows: base + y * Self.source.width * 4, count: count, stride: Self.source.width * 4)
        }
      }
      #expect(try bytes(resampler.finish()) == whole)
    }
  }

  @Test("rows outside the crop may be skipped or never pushed without a difference")
  func rowsOutsideTheCropMayBeSkipped() throws {
    let crop = ImageRect(x: 3, y: 10.5, width: 40, height: 20.25)
    let target = ImageSize(width: 11, height: 5)
    let pixels = noise(Self.source, seed: 9, transparent: false)
    let whole = try resample(Self.source, target, crop: crop, opaque: true, rows: pixels)
    let resampler = try RowResampler(source: Self.source, crop: crop, target: target, opaque: true)
    #expect(resampler.rowsNeeded == 10..<31)
    try resampler.skip(rows: 10)
    try pixels.withUnsafeBufferPointer { all in
      let base = try #require(all.baseAddress)
      try resampler.push(rows: base + 10 * 244, count: 21, stride: 244)
    }
    #expect(try bytes(resampler.finish()) == whole)
  }

  @Test("a picture whose rows were never pushed is black, or transparent if it isn't opaque")
  func missingRowsAreBlank() throws {
    let target = ImageSize(width: 6, height: 4)
    for opaque in [false, true] {
      let resampler = try RowResampler(
        source: Self.source, crop: ImageRect(Self.source), target: target, opaque: opaque)
      let picture = try bytes(resampler.finish())
      #expect(picture == Array(repeating: [0, 0, 0, opaque ? 255 : 0], count: 24).flatMap { $0 })
    }
  }

  /// More tasks than plans are kept, some of which differ in one number, in turn and from several threads.
  @Test("each of 18 nearly equal plans gives its own picture, repeated and on several threads")
  func plansThatAreTakenAgainAreTheirOwn() async throws {
    let pixels = noise(Self.source, seed: 4, transparent: false)
    var tasks: [(crop: ImageRect, target: ImageSize)] = []
    for width in [7, 8, 30] {
      for x in [0, 0.5, 3] {
        for height in [40, 40.25] {
          let crop = ImageRect(x: x, y: 2, width: 50, height: height)
          tasks.append((crop, ImageSize(width: width, height: 6)))
        }
      }
    }
    let all = tasks
    let expected = try all.map {
      try resample(Self.source, $0.target, crop: $0.crop, opaque: true, rows: pixels)
    }
    #expect(Set(expected).count == all.count)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for step in [1, 5, 7, 11] {
        group.addTask {
          for i in 0..<3 * all.count {
            // Each twice in a row: the second time its plan is there.
            let (number, task) = (i / 2 * step % all.count, all[i / 2 * step % all.count])
            let made = try resample(
              Self.source, task.target, crop: task.crop, opaque: true, rows: pixels)
            if made != expected[number] { return false }
          }
          return true
        }
      }
      for try await isSame in group { #expect(isSame) }
    }
  }

  @Test("impossible sizes and crops, and more rows than the source has, are refused")
  func absurdCallsAreRefused() throws {
    let size = Self.source
    let all = ImageRect(size)
    let small = ImageSize(width: 5, height: 5)
    for target in [(0, 5), (5, 0), (-1, 5), (Int.max, 1)].map({ ImageSize(width: $0.0, height: $0.1) }) {
      #expect(throws: ImageFault.self) {
        _ = try RowResampler(source: size, crop: all, target: target, opaque: true)
      }
      #expect(throws: ImageFault.self) {
        _ = try RowResampler(source: target, crop: all, target: small, opaque: true)
      }
    }
    let crops = [
      ImageRect(x: -1, y: 0, width: 5, height: 5), ImageRect(x: 0, y: 0, width: 62, height: 5),
      ImageRect(x: 0, y: 40, width: 5, height: 8), ImageRect(x: 0, y: 0, width: 0, height: 5),
      ImageRect(x: .nan, y: 0, width: 5, height: 5), ImageRect(x: 0, y: 0, width: .infinity, height: 5),
      ImageRect(x: 0, y: 0, width: 5, height: .nan),
    ]
    for crop in crops {
      #expect(throws: ImageFault.self) {
        _ = try RowResampler(source: size, crop: crop, target: small, opaque: true)
      }
    }
    let resampler = try RowResampler(source: size, crop: all, target: small, opaque: true)
    try resampler.skip(rows: 47)
    #expect(throws: ImageFault.self) { try resampler.skip(rows: 1) }
    #expect(throws: ImageFault.self) { try resampler.skip(rows: -1) }
    #expect(throws: ImageFault.self) { try resampler.push(rows: [0, 0, 0, 0], count: 1, stride: 4) }
  }

  @Test("a resampler for sides of 20 million pixels is refused")
  func tooMuchMemoryIsAFault() {
    let source = ImageSize(width: 30_000_000, height: 30_000_000)
    #expect(throws: ImageFault.self) {
      _ = try RowResampler(
        source: source, crop: ImageRect(source), target: ImageSize(width: 20_000_000, height: 20_000_000),
        opaque: true)
    }
  }

  @Test("`resampled(to:)` of a finished picture gives the same pixels as resampling its rows")
  func picturesCanBeMadeSmallerLater() throws {
    let pixels = noise(Self.source, seed: 8, transparent: true)
    let picture = try buffer(Self.source, pixels)
    let target = ImageSize(width: 13, height: 10)
    #expect(
      try bytes(picture.resampled(to: target)) == resample(Self.source, target, opaque: false, rows: pixels))
  }
}
