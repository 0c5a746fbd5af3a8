import CSystem
import Glibc

/// Reduces or enlarges a picture while its rows arrive.
///
/// The vertical pass comes first, because it needs only a few source rows at a time. Finished rows go through the horizontal
/// pass at once, in pairs, because neighbours are made from nearly the same source rows. Values are fixed-point and
/// premultiplied, with an exact division at the end. An axis at 1:1 stays unchanged. Large ratios begin with averages of cells.
///
/// It holds a few rows and the result. Use it on one thread at a time.
final class RowResampler {
  /// The needed source rows, counted from the picture's first. Others may be omitted with `skip`.
  let rowsNeeded: Range<Int>
  /// Approximately the held bytes, including the result.
  let memory: Int

  private let source: ImageSize
  private let opaque: Bool
  private let kernels: nhs_resample_kernels
  private let columns: AxisPlan
  private let rows: AxisPlan
  private let windows: [nhs_window]
  private let table: [Int16]
  private let copies: Bool
  private let area: AreaStage?

  private let ring: HeapArray<Int16>
  private let ringCount: Int
  // Each row of the ring is listed twice, so that any run of rows is contiguous.
  private let ringRows: HeapArray<UnsafePointer<Int16>?>
  private let rowValues: Int
  // Two rows between the passes.
  private let middle: HeapArray<Int16>
  private let pairWeights: HeapArray<nhs_weights>

  private let result: PixelBuffer
  private var nextSource = 0
  private var nextWide = 0
  private var nextResult = 0

  /// Resamples a part of a picture of size `source` to `target`; the part's edges may lie between pixels. With `opaque` the
  /// fourth byte of the source's pixels is ignored. `blur` is explained in `AxisPlan`.
  init(
    source: ImageSize, crop: ImageRect, target: ImageSize, opaque: Bool, blur: Double = 0,
    level: Int = Int(NHS_KERNELS_BEST)
  ) throws(ImageFault) {
    try Self.check(source: source, crop: crop, target: target)
    guard let kernels = nhs_resample_kernels_at(Int32(level)) else {
      throw ImageFault(.invalid, "this processor lacks the instructions of level \(level)")
    }
    self.source = source
    self.opaque = opaque
    self.kernels = kernels.pointee
    // Allocate first: if the size is too large, no planning time is lost.
    result = try PixelBuffer(uninitialized: target, opaque: opaque)

    let plan = ResamplePlan.plan(source: source, crop: crop, target: target, blur: blur)
    if let (columns, rows) = plan.area {
      area = try AreaStage(columns: columns, rows: rows, opaque: opaque)
    } else {
      area = nil
    }
    (columns, rows) = (plan.columns, plan.rows)
    (windows, table) = (plan.windows, plan.table)
    copies = columns.isIdentity && rows.isIdentity

    // Windows are padded to groups of four, so they may reach beyond the last pixel, into zeros.
    let pixels = max(columns.count, columns.tapsInFours) + 4
    rowValues = copies ? 0 : pixels.roundedUp(to: Int(NHS_ROW_BLOCK)) * 4
    ringCount = rows.pairTaps
    ring = try HeapArray(Self.product(rowValues, copies ? 0 : ringCount))
    ringRows = try HeapArray(copies ? 0 : 2 * ringCount)
    for i in 0..<ringRows.count {
      ringRows.base[i] = UnsafePointer(ring.base + (i % ringCount) * rowValues)
    }
    for row in 0..<(copies ? 0 : ringCount) {
      let spare = ring.base + row * rowValues + columns.count * 4
      spare.update(repeating: 0, count: rowValues - columns.count * 4)
    }
    middle = try HeapArray(2 * rowValues)
    pairWeights = try HeapArray(zeroed: ringCount)
    if let stage = area {
      rowsNeeded = stage.rows.origin..<stage.rows.origin + stage.rows.count
    } else {
      rowsNeeded = rows.origin..<rows.origin + rows.count
    }
    memory =
      ring.bytes + middle.bytes + result.byteCount + (area?.bytes ?? 0) + table.count * 2 + windows.count * 16
  }

  /// Takes the next source rows, top to bottom: straight RGBA, or RGBX if opaque.
  func push(rows pushed: UnsafePointer<UInt8>, count: Int, stride: Int) throws(ImageFault) {
    guard count >= 0, count <= source.height - nextSource else {
      throw ImageFault(.invalid, "\(count) rows pushed after row \(nextSource) of \(source.height)")
    }
    for i in 0..<count {
      if rowsNeeded.contains(nextSource) { take(pushed + i * stride, nextSource - rowsNeeded.lowerBound) }
      nextSource += 1
    }
  }

  /// Omits rows outside of `rowsNeeded`. Needed rows that are omitted count as transparent, or black if opaque.
  func skip(rows count: Int) throws(ImageFault) {
    guard count >= 0, count <= source.height - nextSource else {
      throw ImageFault(.invalid, "\(count) rows skipped after row \(nextSource) of \(source.height)")
    }
    let missing = (nextSource..<nextSource + count).clamped(to: rowsNeeded)
    if missing.isEmpty {
      nextSource += count
      return
    }
    let blank = try HeapArray<UInt8>(zeroed: source.width * 4)
    for _ in 0..<count { try push(rows: blank.base, count: 1, stride: 0) }
  }

  /// Returns the finished picture. Missing rows count as in `skip`.
  func finish() throws(ImageFault) -> PixelBuffer {
    if nextSource < rowsNeeded.upperBound { try skip(rows: rowsNeeded.upperBound - nextSource) }
    guard nextResult == result.height else {
      throw ImageFault(.internal, "\(nextResult) of \(result.height) rows were made")
    }
    return result
  }

  private func take(_ row: UnsafePointer<UInt8>, _ index: Int) {
    if copies {
      copy(row)
    } else if area == nil {
      let wide = ring.base + (nextWide % ringCount) * rowValues
      let pixels = row + columns.origin * 4
      if opaque {
        kernels.widen_opaque(wide, pixels, columns.count)
      } else {
        kernels.widen_alpha(wide, pixels, columns.count)
      }
      advance()
    } else {
      area?.add(row, row: index, opaque: opaque, kernels: kernels) { finish in
        finish(ring.base + (nextWide % ringCount) * rowValues)
        advance()
      }
    }
  }

  /// Counts a complete wide row. Makes every pair of result rows whose input is complete.
  private func advance() {
    nextWide += 1
    while nextResult < result.height {
      // If the number of rows is odd, the last one is its own partner.
      let partner = min(nextResult + 1, result.height - 1)
      let upper = rows.windows[nextResult]
      let lower = rows.windows[partner]
      guard Int(lower.start) + rows.taps <= nextWide else { return }
      let taps = weigh(upper, lower)
      let upperMiddle = middle.base
      let lowerMiddle = middle.base + rowValues
      kernels.vertical(
        upperMiddle, lowerMiddle, ringRows.base + Int(upper.start) % ringCount, pairWeights.base, taps,
        rowValues)
      var pair = nhs_row_pair(
        upper_middle: upperMiddle, lower_middle: lowerMiddle,
        upper: result.pixels + nextResult * result.stride, lower: result.pixels + partner * result.stride)
      windows.withUnsafeBufferPointer { windows in
        table.withUnsafeBufferPointer { table in
          let horizontal = opaque ? kernels.horizontal_opaque : kernels.horizontal_alpha
          horizontal?(&pair, windows.baseAddress, table.baseAddress, columns.tapsInFours, windows.count)
        }
      }
      nextResult = partner + 1
    }
  }

  /// Interleaves two windows' weights. Returns the number of rows that they span.
  private func weigh(_ upper: nhs_window, _ lower: nhs_window) -> Int {
    let shift = Int(lower.start - upper.start)
    let taps = rows.taps
    let pairs = pairWeights.base
    pairs.update(repeating: nhs_weights(), count: shift + taps)
    rows.weights.withUnsafeBufferPointer { weights in
      for t in 0..<taps {
        let above = weights[Int(upper.weights) + t]
        let below = weights[Int(lower.weights) + t]
        pairs[t].upper = (above, above)
        pairs[shift + t].lower = (below, below)
      }
    }
    return shift + taps
  }

  private func copy(_ row: UnsafePointer<UInt8>) {
    guard nextResult < result.height else { return }
    let out = result.pixels + nextResult * result.stride
    memcpy(out, row + columns.origin * 4, result.stride)
    if opaque {
      for i in Swift.stride(from: 3, to: result.stride, by: 4) { out[i] = 255 }
    }
    nextResult += 1
  }

  private static func check(source: ImageSize, crop: ImageRect, target: ImageSize) throws(ImageFault) {
    let sides = 1...Int(Int32.max / 64)
    guard sides.contains(source.width), sides.contains(source.height) else {
      throw ImageFault(.invalid, "the source's size is \(source), which is not allowed")
    }
    guard sides.contains(target.width), sides.contains(target.height) else {
      throw ImageFault(.invalid, "the target's size is \(target), which is not allowed")
    }
    // Written so that NaN fails.
    guard crop.x >= 0, crop.y >= 0, crop.width > 0, crop.height > 0,
      crop.x + crop.width <= Double(source.width) + 1e-6, crop.y + crop.height <= Double(source.height) + 1e-6
    else { throw ImageFault(.invalid, "the part \(crop) is not within the picture of \(source)") }
  }

  private static func product(_ a: Int, _ b: Int) throws(ImageFault) -> Int {
    let (product, overflow) = a.multipliedReportingOverflow(by: b)
    guard !overflow else { throw ImageFault(.outOfMemory, "there is no memory for \(b) rows of \(a) values") }
    return product
  }
}
