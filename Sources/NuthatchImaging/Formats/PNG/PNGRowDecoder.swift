import CSystem

/// Decodes one complete PNG to thumbnails.
final class PNGRowDecoder {
  private static let batch = 16

  private let handle: OpaquePointer
  private let bytes: UnsafeRawBufferPointer
  private(set) var info = nhs_png_info()
  private var passedOver: ImageFault?

  /// `bytes` must stay valid while this object is used.
  init(_ bytes: UnsafeRawBufferPointer, options: DecodeOptions, forceLibpng: Bool) throws(ImageFault) {
    var limits = nhs_png_limits(
      max_memory: Int64(options.limits.memory), max_profile_bytes: Int64(JPEGHeaderParser.maxProfileBytes),
      force_libpng: forceLibpng ? 1 : 0)
    guard let handle = nhs_png_new(bytes.baseAddress, bytes.count, &limits) else {
      throw ImageFault(.outOfMemory, "there is no memory for a PNG decoder")
    }
    self.handle = handle
    self.bytes = bytes
  }

  deinit { nhs_png_free(handle) }

  /// Returns the thumbnails in stored orientation.
  func decode(_ plans: [StoredPlan], options: DecodeOptions) throws(ImageFault) -> [PixelBuffer] {
    try check(nhs_png_open(handle, &info))
    let size = ImageSize(width: Int(info.width), height: Int(info.height))
    let fanOut = try RowFanOut(plans, rowSize: size, denominator: 1, opaque: info.is_opaque != 0)
    let rows = try RowBatch(width: size.width, rows: Self.batch)
    do throws(ImageFault) {
      while fanOut.rows < size.height {
        var got: Int32 = 0
        let status = nhs_png_rows(handle, rows.base, rows.stride, Int32(Self.batch), &got)
        try fanOut.push(rows: rows.base, count: Int(got), stride: rows.stride)
        try check(status)
      }
      try check(nhs_png_finish(handle))
    } catch {
      guard options.allowDamaged, error.leavesPixels, fanOut.rows > 0 else { throw error }
      passedOver = error
    }
    return try fanOut.finish()
  }

  /// Returns the converter for the picture's profile; it may hold at most `most` bytes.
  func colorConverter(most: Int, warnings: inout [String]) throws(ImageFault) -> ColorConverter? {
    guard let profile = info.profile, info.has_srgb == 0 else { return nil }
    let bytes = UnsafeRawBufferPointer(start: profile, count: info.profile_bytes)
    return try ColorConverter.make(
      bytes, for: info.is_gray != 0 ? .gray : .rgb, most: most, warnings: &warnings)
  }

  var report: DecodeReport {
    var report = DecodeReport()
    report.bytesUsed = Int(nhs_png_position(handle))
    report.isPartial = passedOver != nil
    report.fault = passedOver
    report.warningCount = Int(nhs_png_warnings(handle).pointee.count)
    return report
  }

  var warnings: [String] { keptWarnings(nhs_png_warnings(handle)) }

  private func check(_ status: Int32) throws(ImageFault) {
    if Int(status) == Int(NHS_FAILED) { throw ImageFault(nhs_png_fault(handle), format: .png) }
  }
}
