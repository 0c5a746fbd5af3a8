/// How planes of luma and chroma are reduced before they get their colours (`average.c`).
enum PlaneReduction {
  /// In a small picture, a reduction by more than 2 would show, with alpha also one by 2.
  static func greatest(_ info: ImageInfo) -> Int {
    info.size.area >= 500_000 ? 8 : info.hasAlpha ? 1 : 2
  }

  /// The blur of a reduced picture, for `AxisPlan`: the variance of the weights 1, 3, 3 and 1 of halves of a pixel, each an average
  /// of `denominator` / 2 pixels.
  static func blur(_ denominator: Int) -> Double {
    denominator > 1 ? 3 / 16 + (1 - 4 / Double(denominator * denominator)) / 48 : 0
  }
}
