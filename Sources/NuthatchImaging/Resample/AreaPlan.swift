import CSystem

/// The prefilter for large ratios along one axis. It averages cells of equal length, whose edges may lie inside a source pixel.
/// Lanczos over a window of 60 pixels would cost far more and look the same.
struct AreaPlan {
  /// The first source pixel that is read. Cells are counted from it.
  let origin: Int
  /// The number of source pixels that are read.
  let count: Int
  /// The pixels of each cell.
  let cells: [nhs_cell]
  /// The source pixels in each cell.
  let cellLength: Double

  /// The number of averages for each target pixel.
  static let gap = 4
  /// The lowest ratio for which the prefilter is used. It must be below 10: there the vertical filter has 60 taps. Each tap is
  /// rounded to 1/64 level, so the sum of 64 taps could be wrong by half a level, and a constant picture would change.
  static let threshold = 8.0

  /// Cells for `length` source pixels from `start` on, of `limit` in all. Returns nil if the ratio is small.
  init?(start: Double, length: Double, limit: Int, target: Int) {
    guard length / Double(target) >= Self.threshold else { return nil }
    let low = AxisPlan.snapped(start)
    let high = AxisPlan.snapped(start + length)
    let number = target * Self.gap
    origin = max(0, min(limit - 1, Int(low.rounded(.down))))
    count = max(1, min(limit, Int(high.rounded(.up))) - origin)
    cellLength = (high - low) / Double(number)
    var cells: [nhs_cell] = []
    cells.reserveCapacity(number)
    var begin = low - Double(origin)
    for i in 0..<number {
      let end = low - Double(origin) + (high - low) * Double(i + 1) / Double(number)
      let first = min(count - 1, Int(begin))
      let last = max(first, min(count - 1, Int(end.rounded(.up)) - 1))
      cells.append(
        nhs_cell(
          first: Int32(first), last: Int32(last),
          first_weight: Float(min(end, Double(first + 1)) - begin),
          last_weight: Float(end - Double(last))))
      begin = end
    }
    self.cells = cells
  }

  /// Makes every source pixel a cell. Needed if only the other axis has a prefilter.
  init(wholePixelsFrom start: Double, length: Double, limit: Int) {
    origin = max(0, min(limit - 1, Int(AxisPlan.snapped(start).rounded(.down))))
    count = max(1, min(limit, Int(AxisPlan.snapped(start + length).rounded(.up))) - origin)
    cellLength = 1
    cells = (0..<count).map { nhs_cell(first: Int32($0), last: Int32($0), first_weight: 1, last_weight: 1) }
  }
}
