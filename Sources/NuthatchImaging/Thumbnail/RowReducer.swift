import CSystem

/// Averages squares of 2, 4 or 8 pixels while rows arrive.
///
/// libjpeg's reduced transforms are these very averages, but for what it clamps and for colour differences that it
/// has to widen first: there a small thumbnail made beside a large one differs from the same one made alone.
final class RowReducer {
  private let size: ImageSize
  private let factor: Int
  private let sums: HeapArray<UInt16>
  private let row: HeapArray<UInt8>
  private var summed = 0
  private var seen = 0

  /// The size of the rows that come out.
  let reduced: ImageSize

  init(_ size: ImageSize, factor: Int) throws(ImageFault) {
    self.size = size
    self.factor = factor
    reduced = ImageSize(
      width: (size.width + factor - 1) / factor, height: (size.height + factor - 1) / factor)
    sums = try HeapArray(zeroed: reduced.width * 4)
    row = try HeapArray(reduced.width * 4)
  }

  func push(
    rows: UnsafePointer<UInt8>, count: Int, stride: Int,
    to next: (UnsafePointer<UInt8>) throws(ImageFault) -> Void
  ) throws(ImageFault) {
    for index in 0..<count {
      nhs_reduce_add(sums.base, rows + index * stride, size.width, Int32(factor))
      summed += 1
      seen += 1
      if summed == factor || seen == size.height {
        nhs_reduce_finish(row.base, sums.base, size.width, Int32(factor), Int32(summed))
        summed = 0
        try next(row.base)
      }
    }
  }
}
