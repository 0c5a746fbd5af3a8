import CSystem

/// Averages source rows to rows of cells.
final class AreaStage {
  let columns: AreaPlan
  let rows: AreaPlan
  private let sums: HeapArray<Float>
  private let scale: Float
  private var cell = 0
  private var isEmpty = true

  init(columns: AreaPlan, rows: AreaPlan, opaque: Bool) throws(ImageFault) {
    self.columns = columns
    self.rows = rows
    sums = try HeapArray(columns.count.roundedUp(to: Int(NHS_ROW_BLOCK)) * 4)
    scale = Float((opaque ? 128.0 : 128.0 / 255) / (columns.cellLength * rows.cellLength))
  }

  var bytes: Int { sums.bytes }

  /// Adds one row, counted from the plan's origin. When a row of cells is complete, calls `emit` with a function that writes it
  /// to a wide row.
  func add(
    _ source: UnsafePointer<UInt8>, row: Int, opaque: Bool, kernels: nhs_resample_kernels,
    emit: (_ finish: (UnsafeMutablePointer<Int16>) -> Void) -> Void
  ) {
    let pixels = source + columns.origin * 4
    while cell < rows.cells.count {
      let place = rows.cells[cell]
      guard row >= place.first else { return }
      let weight = row == place.first ? place.first_weight : row == place.last ? place.last_weight : 1
      if opaque {
        kernels.area_add_opaque(sums.base, pixels, columns.count, weight, isEmpty ? 1 : 0)
      } else {
        kernels.area_add_alpha(sums.base, pixels, columns.count, weight, isEmpty ? 1 : 0)
      }
      isEmpty = false
      guard row >= place.last else { return }
      let (sums, columns, scale) = (sums.base, columns, scale)
      emit { wide in
        columns.cells.withUnsafeBufferPointer { cells in
          kernels.area_finish(wide, sums, cells.baseAddress, cells.count, scale)
        }
      }
      cell += 1
      isEmpty = true
    }
  }
}
