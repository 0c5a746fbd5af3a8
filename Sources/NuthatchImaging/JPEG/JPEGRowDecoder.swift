import CSystem

/// One JPEG on its way to thumbnails, fed at once or in pieces.
final class JPEGRowDecoder {
  enum Progress {
    case needMore
    case done
  }

  private enum Stage {
    case header
    case scans
    case rows
    case done
  }

  private static let batch = 16

  private let handle: OpaquePointer
  private let plans: [StoredPlan]
  private let options: DecodeOptions
  private let profile: [UInt8]?
  private let denominator: Int
  private var stage = Stage.header
  private var rowSize = ImageSize(width: 0, height: 0)
  private var rows: RowBatch?
  private var fanOut: RowFanOut?
  private var isCMYK = false
  private var isInverted = false
  private var inkConverter: ColorConverter?
  private var passedOver: ImageFault?

  /// What to tell people beside the codec's own warnings.
  private(set) var ownWarnings: [String] = []

  init(plans: [StoredPlan], profile: [UInt8]?, options: DecodeOptions) throws(ImageFault) {
    let limits = options.limits
    var codecLimits = nhs_jpeg_limits(
      max_memory: Int64(limits.memory), max_scans: Int64(limits.scans),
      max_scan_blocks: Int64(limits.scanBlocks), allow_damaged: options.allowDamaged ? 1 : 0)
    guard let handle = nhs_jpeg_new(&codecLimits) else {
      throw ImageFault(.outOfMemory, "no memory for a JPEG decoder")
    }
    self.handle = handle
    self.plans = plans
    self.options = options
    self.profile = profile
    denominator = plans.map(\.denominator).min() ?? 1
  }

  deinit { nhs_jpeg_free(handle) }

  /// The whole input, which must stay where it is while this object is used.
  func borrow(_ bytes: UnsafeRawBufferPointer) {
    nhs_jpeg_borrow(handle, bytes.baseAddress, bytes.count)
    nhs_jpeg_end(handle)
  }

  /// The next piece of the input.
  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    try check(nhs_jpeg_feed(handle, bytes.baseAddress, bytes.count))
  }

  /// No more input will come.
  func end() {
    nhs_jpeg_end(handle)
  }

  /// Goes on as far as the input leads.
  func advance() throws(ImageFault) -> Progress {
    while true {
      let goesOn =
        switch stage {
        case .header: try readHeader()
        case .scans: try readScans()
        case .rows: try readRows()
        case .done: false
        }
      if !goesOn { return stage == .done ? .done : .needMore }
    }
  }

  private func readHeader() throws(ImageFault) -> Bool {
    var info = nhs_jpeg_info()
    guard try check(nhs_jpeg_header(handle, &info)) else { return false }
    isCMYK = info.is_cmyk != 0
    isInverted = info.is_inverted != 0
    var width: Int32 = 0
    var height: Int32 = 0
    try check(nhs_jpeg_start(handle, Int32(denominator), options.earlyStop ? 1 : 0, &width, &height))
    rowSize = ImageSize(width: Int(width), height: Int(height))
    if isCMYK { openInkProfile() }
    stage = .scans
    return true
  }

  private func readScans() throws(ImageFault) -> Bool {
    guard try check(nhs_jpeg_absorb(handle)) else { return false }
    fanOut = try RowFanOut(plans, rowSize: rowSize, denominator: denominator, opaque: true)
    rows = try RowBatch(width: rowSize.width, rows: Self.batch)
    stage = .rows
    return true
  }

  private func readRows() throws(ImageFault) -> Bool {
    guard let rows, let fanOut else { throw ImageFault(.internal, "rows without a header") }
    while fanOut.rows < rowSize.height {
      var got: Int32 = 0
      let status = nhs_jpeg_rows(handle, rows.base, rows.stride, Int32(Self.batch), &got)
      if status == NHS_FAILED {
        let fault = self.fault
        guard options.allowDamaged, fault.leavesPixels, fanOut.rows > 0 else { throw fault }
        passedOver = fault
        break
      }
      if got == 0 { return false }
      if isCMYK {
        for i in 0..<Int(got) { convertInk(rows.base + i * rows.stride, count: rowSize.width) }
      }
      try fanOut.push(rows: rows.base, count: Int(got), stride: rows.stride)
    }
    stage = .done
    return true
  }

  private func openInkProfile() {
    let pixels: ColorConverter.Pixels = isInverted ? .invertedCMYK : .cmyk
    profile?.withUnsafeBytes { bytes in
      inkConverter = ColorConverter.make(bytes, for: pixels, warnings: &ownWarnings)
    }
  }

  private func convertInk(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
    if let inkConverter {
      inkConverter.convert(pixels, count: count)
    } else {
      nhs_cmyk_to_rgbx(pixels, pixels, count, isInverted ? 1 : 0)
    }
  }

  /// The thumbnails as stored, once `advance` has said `done`.
  func finish() throws(ImageFault) -> [PixelBuffer] {
    guard stage == .done, let fanOut else { throw ImageFault(.internal, "finished before the last row") }
    return try fanOut.finish()
  }

  var report: DecodeReport {
    var raw = nhs_jpeg_report()
    nhs_jpeg_get_report(handle, &raw)
    var report = DecodeReport()
    report.bytesUsed = Int(raw.bytes_used)
    report.scansUsed = Int(raw.scans_used)
    report.denominator = denominator
    report.stoppedEarly = raw.stopped_early != 0
    report.isPartial = raw.is_damaged != 0 || passedOver != nil
    report.fault = passedOver
    if report.fault == nil && raw.is_damaged != 0 {
      let kind: ImageFault.Kind = raw.is_truncated != 0 ? .truncated : .corrupt
      report.fault = ImageFault(kind, "damaged JPEG data", at: Int(raw.damage_offset))
    }
    report.warningCount = Int(nhs_jpeg_warnings(handle).pointee.count) + ownWarnings.count
    return report
  }

  var warnings: [String] { keptWarnings(nhs_jpeg_warnings(handle)) + ownWarnings }

  private var fault: ImageFault { ImageFault(nhs_jpeg_fault(handle), format: .jpeg) }

  /// Whether it went well; false asks for more input.
  @discardableResult
  private func check(_ status: Int32) throws(ImageFault) -> Bool {
    if status == NHS_FAILED { throw fault }
    return status == NHS_OK
  }
}
