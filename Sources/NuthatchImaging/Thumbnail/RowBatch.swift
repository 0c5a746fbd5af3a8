/// Memory for a few rows of four bytes a pixel, between a codec and the resamplers.
///
/// Rows never begin at a multiple of 16. libjpeg-turbo writes aligned rows past the caches (`movntdq`). The resampler reads the
/// rows at once, so it would wait for main memory.
final class RowBatch {
  private static let offset = 4
  private let memory: HeapArray<UInt8>
  /// Bytes from one row to the next; more than a row's pixels.
  let stride: Int

  init(width: Int, rows: Int) throws(ImageFault) {
    let (row, tooWide) = width.multipliedReportingOverflow(by: 4)
    stride = row.roundedUp(to: 64)
    let (bytes, tooMany) = stride.multipliedReportingOverflow(by: rows)
    guard !tooWide, !tooMany, bytes < Int.max - Self.offset else {
      throw ImageFault(.tooManyPixels, "rows of \(width) pixels are too long to be decoded")
    }
    memory = try HeapArray(bytes + Self.offset)
  }

  var base: UnsafeMutablePointer<UInt8> { memory.base + Self.offset }
}
