/// Passes the rows of one scale to all its thumbnails.
final class RowFanOut {
  private let resamplers: [RowResampler]
  /// Rows that were pushed.
  private(set) var rows = 0

  /// For rows of a picture that was reduced by `denominator`. `blur` is explained in `AxisPlan`.
  init(
    _ plans: [StoredPlan], rowSize: ImageSize, denominator: Int, blur: Double = 0, opaque: Bool
  ) throws(ImageFault) {
    var resamplers: [RowResampler] = []
    for plan in plans {
      resamplers.append(
        try RowResampler(
          source: rowSize, crop: plan.crop(reducedBy: denominator), target: plan.target, opaque: opaque,
          blur: blur))
    }
    self.resamplers = resamplers
  }

  func push(rows: UnsafePointer<UInt8>, count: Int, stride: Int) throws(ImageFault) {
    self.rows += count
    for resampler in resamplers { try resampler.push(rows: rows, count: count, stride: stride) }
  }

  /// Returns the thumbnails in stored orientation and in the source's colours.
  func finish() throws(ImageFault) -> [PixelBuffer] {
    var pictures: [PixelBuffer] = []
    for resampler in resamplers { pictures.append(try resampler.finish()) }
    return pictures
  }
}
