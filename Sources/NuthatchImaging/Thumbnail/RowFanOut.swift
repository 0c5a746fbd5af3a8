/// Leads the rows of one decode to every thumbnail that is made from it.
final class RowFanOut {
  private struct Branch {
    let reducer: RowReducer?
    let resampler: RowResampler
  }

  private let branches: [Branch]
  /// Rows that were pushed.
  private(set) var rows = 0

  /// For rows of a picture that was reduced by `denominator`.
  init(_ plans: [StoredPlan], rowSize: ImageSize, denominator: Int, opaque: Bool) throws(ImageFault) {
    var branches: [Branch] = []
    for plan in plans {
      let factor = max(1, plan.denominator / denominator)
      let reducer = factor > 1 ? try RowReducer(rowSize, factor: factor) : nil
      let resampler = try RowResampler(
        source: reducer?.reduced ?? rowSize, crop: plan.crop(reducedBy: denominator * factor),
        target: plan.target, opaque: opaque)
      branches.append(Branch(reducer: reducer, resampler: resampler))
    }
    self.branches = branches
  }

  func push(rows: UnsafePointer<UInt8>, count: Int, stride: Int) throws(ImageFault) {
    self.rows += count
    for branch in branches {
      if let reducer = branch.reducer {
        try reducer.push(rows: rows, count: count, stride: stride) { row throws(ImageFault) in
          try branch.resampler.push(rows: row, count: 1, stride: 0)
        }
      } else {
        try branch.resampler.push(rows: rows, count: count, stride: stride)
      }
    }
  }

  /// The thumbnails as stored: not yet upright, and in the source's colours.
  func finish() throws(ImageFault) -> [PixelBuffer] {
    var pictures: [PixelBuffer] = []
    for branch in branches { pictures.append(try branch.resampler.finish()) }
    return pictures
  }
}
