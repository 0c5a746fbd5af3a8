/// Upper bounds of the memory for decoding a picture, in bytes, including results.
struct MemoryNeed {
  /// Without an ICC profile.
  let picture: Int
  /// With a usual profile.
  let least: Int
  /// With the most memory that Little CMS may hold for a profile.
  let most: Int

  /// Enough for matrix and curves, or for a table. Few profiles need more.
  private static let usualProfile = 1 << 20

  fileprivate init(picture: Int, hasProfile: Bool) {
    self.picture = picture
    least = hasProfile ? Self.sum(picture, Self.usualProfile) : picture
    most = hasProfile ? Self.sum(picture, ImageLimits.mostForProfile) : picture
  }

  private static func sum(_ one: Int, _ other: Int) -> Int {
    let (sum, overflow) = one.addingReportingOverflow(other)
    return overflow ? Int.max : sum
  }
}

extension Job {
  static func memoryNeed(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool) -> MemoryNeed {
    var sum = MemorySum(bytes: 512 << 10)  // the codecs' tables and fixed buffers
    PictureFormats.of(info.format)?.addMemory(info, plans, earlyStop: earlyStop, to: &sum)
    for plan in plans {
      let factor = plan.denominator
      let rowWidth = (info.size.width + factor - 1) / factor
      let ratio = plan.crop.height / Double(factor) / Double(plan.target.height)
      // The source rows of two neighbouring windows (`AxisPlan`) and the two rows made from them, at eight bytes a pixel. From a
      // ratio of 8 on, cells are averaged first.
      let rows = min(60, Int((7 * max(1, ratio)).rounded(.up)) + 4)
      sum.add(rowWidth, 8 * rows + 16)
      sum.add(plan.target.area, info.orientation == .upright ? 4 : 8)
      sum.add(plan.target.width, 256)
    }
    return MemoryNeed(picture: sum.bytes, hasProfile: info.hasICC)
  }
}

/// A sum that saturates instead of overflowing.
struct MemorySum {
  fileprivate(set) var bytes: Int

  mutating func add(_ count: Int, _ each: Int) {
    let (product, tooLarge) = count.multipliedReportingOverflow(by: each)
    let (sum, overflow) = bytes.addingReportingOverflow(product)
    bytes = tooLarge || overflow ? Int.max : sum
  }
}
