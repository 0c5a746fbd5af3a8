/// Upper estimates of what decoding a picture holds, in bytes, results included.
struct MemoryNeed {
  /// Without an ICC profile.
  let picture: Int
  /// With a profile as most are.
  let least: Int
  /// With whatever a profile may make Little CMS hold.
  let most: Int

  /// Of matrix and curves, or of a table; profiles that make Little CMS hold more are rare.
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
    var sum = Sum(bytes: 512 << 10)  // the codecs' tables and fixed buffers
    if info.format == .jpeg {
      // One bit a scale.
      let scales = plans.reduce(0) { $0 | $1.denominator }
      for denominator in [1, 2, 4, 8] where scales & denominator != 0 {
        // Rows of samples inside the codec: two groups of blocks a component, before and after upsampling. And
        // the batch of finished ones.
        sum.add((info.size.width + denominator - 1) / denominator, 4 * 64)
        sum.add(info.size.width, 64)
      }
      // Of several scales: another codec each, and the coefficients of a row of groups of at most ten blocks.
      sum.add(scales.nonzeroBitCount - 1, 128 << 10)
      if scales.nonzeroBitCount > 1 { sum.add(info.size.width + 64, 160) }
    } else {
      // A ring of rows of up to eight bytes a pixel, and the batch.
      sum.add(info.size.width, 4 * 60)
    }
    // Of a progressive JPEG at an eighth, the blocks' means may be all that is kept (jpeg_means.c).
    let isAtEighth = plans.allSatisfy { $0.denominator == 8 }
    sum.add(earlyStop && isAtEighth ? info.meansBytes ?? info.wholePictureBytes : info.wholePictureBytes, 1)
    for plan in plans {
      let factor = max(1, info.format == .jpeg ? plan.denominator : 1)
      let rowWidth = (info.size.width + factor - 1) / factor
      let ratio = plan.crop.height / Double(factor) / Double(plan.target.height)
      // Two neighbours' windows of Lanczos' six lobes and the two rows that they become, eight bytes a pixel;
      // beyond a ratio of 8 cells are averaged first.
      let rows = min(60, Int((7 * max(1, ratio)).rounded(.up)) + 4)
      sum.add(rowWidth, 8 * rows + 16)
      sum.add(plan.target.area, info.orientation == .upright ? 4 : 8)
      sum.add(plan.target.width, 256)
    }
    return MemoryNeed(picture: sum.bytes, hasProfile: info.hasICC)
  }

  /// A sum that stays at its largest value instead of overflowing.
  private struct Sum {
    var bytes: Int

    mutating func add(_ count: Int, _ each: Int) {
      let (product, tooLarge) = count.multipliedReportingOverflow(by: each)
      let (sum, overflow) = bytes.addingReportingOverflow(product)
      bytes = tooLarge || overflow ? Int.max : sum
    }
  }
}
