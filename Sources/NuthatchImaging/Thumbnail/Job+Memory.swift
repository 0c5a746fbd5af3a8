extension Job {
  /// An upper estimate of what decoding holds, in bytes, results included.
  var memoryNeed: Int {
    var sum = Sum(bytes: 512 << 10)  // the codecs' tables and fixed buffers
    let denominator = info.format == .jpeg ? plans.map(\.denominator).min() ?? 1 : 1
    let width = (info.size.width + denominator - 1) / denominator
    // Rows of samples inside the codec (libjpeg: two groups of blocks a component, before and after upsampling;
    // PNG: a ring of rows of up to eight bytes a pixel) and the batch of finished ones.
    sum.add(width, 4 * (info.format == .jpeg ? 64 : 60))
    sum.add(info.size.width, info.format == .jpeg ? 64 : 0)
    sum.add(info.wholePictureBytes, 1)
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
    // What a profile may make Little CMS hold; icc.c enforces it.
    if info.hasICC { sum.add(16 << 20, 1) }
    return sum.bytes
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
