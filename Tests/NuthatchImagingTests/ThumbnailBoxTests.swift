import Testing

@testable import NuthatchImaging

@Suite("Sizes of thumbnails") struct ThumbnailBoxTests {
  private func target(_ box: ThumbnailBox, _ width: Int, _ height: Int) throws -> ImageSize {
    try box.plan(for: ImageSize(width: width, height: height)).target
  }

  @Test("a thumbnail fits inside its box and keeps the picture's proportions")
  func fitsInsideAndKeepsProportions() throws {
    #expect(try target(ThumbnailBox(256), 4000, 3000) == ImageSize(width: 256, height: 192))
    #expect(try target(ThumbnailBox(256), 3000, 4000) == ImageSize(width: 192, height: 256))
    #expect(try target(ThumbnailBox(width: 100, height: 50), 640, 480) == ImageSize(width: 67, height: 50))
  }

  @Test("a thumbnail is no larger than its picture unless `enlarge` is set")
  func neverEnlargesUnlessAsked() throws {
    #expect(try target(ThumbnailBox(256), 100, 80) == ImageSize(width: 100, height: 80))
    #expect(try target(ThumbnailBox(256, enlarge: true), 100, 80) == ImageSize(width: 256, height: 205))
    #expect(try target(ThumbnailBox(256, fit: .stretch), 100, 800) == ImageSize(width: 100, height: 256))
    let box = ThumbnailBox(width: 200, height: 100, fit: .cover)
    #expect(try box.plan(for: ImageSize(width: 100, height: 100)).target == ImageSize(width: 100, height: 50))
  }

  @Test("no side of a thumbnail becomes 0, however long the picture is")
  func noSideBecomesZero() throws {
    #expect(try target(ThumbnailBox(16), 60_000, 1) == ImageSize(width: 16, height: 1))
    #expect(try target(ThumbnailBox(16), 1, 60_000) == ImageSize(width: 1, height: 16))
    #expect(try target(ThumbnailBox(1, fit: .cover), 1, Int(Int32.max)) == ImageSize(width: 1, height: 1))
  }

  @Test("the fit `cover` takes the middle of a picture that is too wide")
  func fillShowsTheMiddle() throws {
    let plan = try ThumbnailBox(100, fit: .cover).plan(for: ImageSize(width: 400, height: 200))
    #expect(plan.target == ImageSize(width: 100, height: 100))
    #expect(plan.crop == ImageRect(x: 100, y: 0, width: 200, height: 200))
  }

  @Test("a box with a side of 0, -1 or Int.max is refused")
  func absurdBoxesAreRefused() {
    for box in [ThumbnailBox(0), ThumbnailBox(-1), ThumbnailBox(Int.max)] {
      #expect(throws: ImageFault.self) { try box.plan(for: ImageSize(width: 1, height: 1)) }
    }
  }

  @Test("the crop of a random box lies inside the picture, and its thumbnail has the planned size")
  func everyPlanLiesInsideAndCanBeMade() throws {
    var random = Random(seed: 21)
    let sides = [1, 2, 3, 7, 33, 200, 900]
    for _ in 0..<400 {
      let size = ImageSize(width: sides[random.below(7)], height: sides[random.below(7)])
      let fits: [ThumbnailBox.Fit] = [.inside, .cover, .stretch]
      let box = ThumbnailBox(
        width: sides[random.below(6)], height: sides[random.below(6)], fit: fits[random.below(3)],
        enlarge: random.below(2) == 0, scaling: random.below(2) == 0 ? .best : .fast)
      let plan = try box.plan(for: size)
      #expect(plan.target.width > 0 && plan.target.height > 0)
      #expect(plan.target.width <= box.width || !(box.fit == .inside) || size.width <= box.width)
      #expect(plan.crop.x >= 0 && plan.crop.x + plan.crop.width <= Double(size.width) + 1e-9)
      #expect(plan.crop.y >= 0 && plan.crop.y + plan.crop.height <= Double(size.height) + 1e-9)
      if !box.enlarge {
        #expect(plan.target.width <= size.width && plan.target.height <= size.height, "\(size) \(box)")
      }
      let orientation = Orientation(rawValue: UInt8(1 + random.below(8))) ?? .upright
      let stored = Fixture.jpeg(orientation.applied(to: size).width, orientation.applied(to: size).height)
      let jpeg = Fixture.inserting(Fixture.exif(orientation.rawValue), into: stored)
      let picture = try #require(Decode.thumbnails(jpeg, [box]).picture, "\(size) \(box)")
      #expect(picture.size == plan.target)
    }
  }
}
