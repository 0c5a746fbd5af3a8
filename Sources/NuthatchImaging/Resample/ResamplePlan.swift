import CSystem
import Synchronization

/// The precomputed plan for resampling a part of a picture to a size.
///
/// A plan depends only on sizes, and a list of pictures has few different sizes. So the last plans are kept: making one takes a
/// twentieth of the time of reducing a small picture.
struct ResamplePlan: Sendable {
  /// The averages before the filter, if the ratio is large.
  let area: (columns: AreaPlan, rows: AreaPlan)?
  let columns: AxisPlan
  let rows: AxisPlan
  /// The columns' windows and weights, as the horizontal kernels need them.
  let windows: [nhs_window]
  let table: [Int16]

  private init(_ task: Task) {
    let (source, crop, target, blur) = (task.source, task.crop, task.target, task.blur)
    let columns = AreaPlan(start: crop.x, length: crop.width, limit: source.width, target: target.width)
    let rows = AreaPlan(start: crop.y, length: crop.height, limit: source.height, target: target.height)
    if columns != nil || rows != nil {
      area = (
        columns ?? AreaPlan(wholePixelsFrom: crop.x, length: crop.width, limit: source.width),
        rows ?? AreaPlan(wholePixelsFrom: crop.y, length: crop.height, limit: source.height)
      )
    } else {
      area = nil
    }
    self.columns = Self.axis(crop.x, crop.width, source.width, target.width, blur, after: columns)
    self.rows = Self.axis(crop.y, crop.height, source.height, target.height, blur, after: rows)
    (windows, table) = self.columns.horizontalTable()
  }

  private static func axis(
    _ start: Double, _ length: Double, _ limit: Int, _ target: Int, _ blur: Double, after area: AreaPlan?
  ) -> AxisPlan {
    guard let area else {
      return AxisPlan(start: start, length: length, limit: limit, target: target, blur: blur)
    }
    let cells = area.cells.count
    return AxisPlan(start: 0, length: Double(cells), limit: cells, target: target)
  }
}

extension ResamplePlan {
  private struct Task: Equatable, Sendable {
    let source: ImageSize
    let crop: ImageRect
    let target: ImageSize
    let blur: Double
  }

  private static let kept = 8
  /// The largest plan that is kept, in bytes. Making a larger one takes only a small part of its picture's time.
  private static let largest = 64 << 10
  private static let isTaken = Atomic(false)
  // Only the thread that has set `isTaken` may use it.
  nonisolated(unsafe) private static var recent: [(task: Task, plan: ResamplePlan)] = []

  /// Returns the plan for a part of a picture of size `source`. The sizes must have been checked.
  static func plan(source: ImageSize, crop: ImageRect, target: ImageSize, blur: Double) -> ResamplePlan {
    let task = Task(source: source, crop: crop, target: target, blur: blur)
    let known = withRecent { recent in recent.first { $0.task == task }?.plan }
    if let plan = known ?? nil { return plan }
    let plan = ResamplePlan(task)
    guard plan.bytes <= largest else { return plan }
    withRecent { recent in
      if recent.count == kept { recent.removeFirst() }
      recent.append((task, plan))
    }
    return plan
  }

  /// Returns nil while another thread uses the list. Don't wait here: in a forked child, `isTaken` may have been set by a
  /// thread that exists only in the parent.
  @discardableResult
  private static func withRecent<Result>(_ body: (inout [(task: Task, plan: ResamplePlan)]) -> Result)
    -> Result?
  {
    guard isTaken.compareExchange(expected: false, desired: true, ordering: .acquiring).exchanged else {
      return nil
    }
    defer { isTaken.store(false, ordering: .releasing) }
    return body(&recent)
  }

  private var bytes: Int {
    let cells = area.map { $0.columns.cells.count + $0.rows.cells.count } ?? 0
    let windows = columns.windows.count + rows.windows.count + windows.count
    let weights = columns.weights.count + rows.weights.count + table.count
    return cells * MemoryLayout<nhs_cell>.stride + windows * MemoryLayout<nhs_window>.stride + weights * 2
  }
}
