import Testing

@testable import NuthatchImaging

@Suite struct ThumbnailBoxTests {
  private func target(_ box: ThumbnailBox, _ width: Int, _ height: Int) throws -> ImageSize {
    try box.plan(for: ImageSize(width: width, height: height)).target
  }

  @Test func fitsInsideAndKeepsProportions() throws {
    #expect(try target(ThumbnailBox(256), 4000, 3000) == ImageSize(width: 256, height: 192))
    #expect(try target(ThumbnailBox(256), 3000, 4000) == ImageSize(width: 192, height: 256))
    #expect(try target(ThumbnailBox(width: 100, height: 50), 640, 480) == ImageSize(width: 67, height: 50))
  }

  @Test func neverEnlargesUnlessAsked() throws {
    #expect(try target(ThumbnailBox(256), 100, 80) == ImageSize(width: 100, height: 80))
    #expect(try target(ThumbnailBox(256, enlarge: true), 100, 80) == ImageSize(width: 256, height: 205))
    #expect(try target(ThumbnailBox(256, mode: .exact), 100, 800) == ImageSize(width: 100, height: 256))
    let box = ThumbnailBox(width: 200, height: 100, mode: .fill)
    #expect(try box.plan(for: ImageSize(width: 100, height: 100)).target == ImageSize(width: 100, height: 50))
  }

  @Test func noSideBecomesZero() throws {
    #expect(try target(ThumbnailBox(16), 60_000, 1) == ImageSize(width: 16, height: 1))
    #expect(try target(ThumbnailBox(16), 1, 60_000) == ImageSize(width: 1, height: 16))
    #expect(try target(ThumbnailBox(1, mode: .fill), 1, Int(Int32.max)) == ImageSize(width: 1, height: 1))
  }

  @Test func fillShowsTheMiddle() throws {
    let plan = try ThumbnailBox(100, mode: .fill).plan(for: ImageSize(width: 400, height: 200))
    #expect(plan.target == ImageSize(width: 100, height: 100))
    #expect(plan.crop == ImageRect(x: 100, y: 0, width: 200, height: 200))
  }

  @Test func absurdBoxesAreRefused() {
    for box in [ThumbnailBox(0), ThumbnailBox(-1), ThumbnailBox(Int.max)] {
      #expect(throws: ImageFault.self) { try box.plan(for: ImageSize(width: 1, height: 1)) }
    }
  }
}
