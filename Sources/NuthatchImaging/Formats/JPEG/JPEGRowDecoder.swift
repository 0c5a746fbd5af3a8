import CSystem

/// Decodes one JPEG to thumbnails, fed at once or in pieces.
///
/// Each thumbnail has the same scale and the same pixels as if it were made alone. With several scales, only the largest one
/// (the leader) reads the input, and the others follow it.
final class JPEGRowDecoder: PictureDecoder {
  private enum Stage {
    case header
    case scans
    case rows
    case done
  }

  private let count: Int
  private let leader: JPEGScale
  /// The leader and the followers.
  private let scales: [JPEGScale]
  private let info: ImageInfo
  private let options: DecodeOptions
  private let profile: [UInt8]?
  private var stage = Stage.header
  private var isCMYK = false
  private var isInverted = false
  private var inkConverter: ColorConverter?
  private var passedOver: ImageFault?

  /// Warnings in addition to the codec's.
  private var ownWarnings: [String] = []

  init(_ job: Job) throws(ImageFault) {
    let (plans, limits) = (job.plans, job.options.limits)
    let codecLimits = nhs_jpeg_limits(
      max_memory: Int64(limits.memory), max_scans: Int64(limits.scans),
      max_scan_blocks: Int64(limits.scanBlocks), allow_damaged: job.options.allowDamaged ? 1 : 0)
    var scales: [JPEGScale] = []
    for denominator in [1, 2, 4, 8] where plans.contains(where: { $0.denominator == denominator }) {
      scales.append(try JPEGScale(denominator, of: plans, limits: codecLimits))
    }
    guard let leader = scales.first else {
      throw ImageFault(.internal, "no thumbnail of the JPEG was requested")
    }
    self.leader = leader
    self.scales = scales
    count = plans.count
    info = job.info
    options = job.options
    profile = job.profile
  }

  /// Passes the whole input, which must stay valid while this object is used.
  func borrow(_ bytes: UnsafeRawBufferPointer) {
    for scale in scales { nhs_jpeg_borrow(scale.handle, bytes.baseAddress, bytes.count) }
    end()
  }

  func begin(_ bytes: consuming ByteStore) throws(ImageFault) { try feed(bytes.bytes) }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    try leader.check(nhs_jpeg_feed(leader.handle, bytes.baseAddress, bytes.count))
    guard stage == .header else { return }
    for scale in scales.dropFirst() {
      try scale.check(nhs_jpeg_feed(scale.handle, bytes.baseAddress, bytes.count))
    }
  }

  func end() {
    for scale in scales { nhs_jpeg_end(scale.handle) }
  }

  func advance() throws(ImageFault) -> DecodeProgress {
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
    guard try leader.check(nhs_jpeg_header(leader.handle, &info)) else { return false }
    isCMYK = info.is_cmyk != 0
    isInverted = info.is_inverted != 0
    try leader.start(behind: nil, mayStop: options.earlyStop)
    for scale in scales.dropFirst() {
      guard try scale.check(nhs_jpeg_header(scale.handle, &info)) else {
        throw ImageFault(.internal, "one decoder has read the header and another has not")
      }
      try scale.start(behind: leader, mayStop: options.earlyStop)
    }
    if isCMYK { try openInkProfile() }
    stage = .scans
    return true
  }

  private func readScans() throws(ImageFault) -> Bool {
    guard try leader.check(nhs_jpeg_absorb(leader.handle)) else { return false }
    guard !leader.hasRows else {
      stage = .rows
      return true
    }
    // Alone, a smaller scale would stop at this scan. Read its rows now, because later scans would change them.
    for scale in scales.dropFirst() where scale.hasRows { try scale.readOn(convertInk) }
    return true
  }

  private func readRows() throws(ImageFault) -> Bool {
    while !leader.isOver {
      let got: Int
      do throws(ImageFault) {
        got = try leader.readSome(convertInk)
        for scale in scales.dropFirst() { try scale.readOn(convertInk) }
      } catch {
        guard options.allowDamaged, error.leavesPixels, leader.rowCount > 0 else { throw error }
        passedOver = error
        break
      }
      if got == 0 { return false }
    }
    for scale in scales.dropFirst() { try scale.readOn(convertInk) }
    stage = .done
    return true
  }

  private func openInkProfile() throws(ImageFault) {
    let pixels: ColorConverter.Pixels = isInverted ? .invertedCMYK : .cmyk
    try profile?.withUnsafeBufferPointer { (bytes) throws(ImageFault) in
      inkConverter = try ColorConverter.make(
        UnsafeRawBufferPointer(bytes), for: pixels, most: options.limits.profileMemory, warnings: &ownWarnings
      )
    }
  }

  private func convertInk(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
    guard isCMYK else { return }
    if let inkConverter {
      inkConverter.convert(pixels, count: count)
    } else {
      nhs_cmyk_to_rgbx(pixels, pixels, count, isInverted ? 1 : 0)
    }
  }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    guard stage == .done else { throw ImageFault(.internal, "decoding ended before the last row") }
    let stored = try stored()
    // The colours of ink were converted row by row.
    guard info.color != .cmyk, info.color != .ycck else { return stored }
    try profile?.withUnsafeBufferPointer { (bytes) throws(ImageFault) in
      try ColorConverter.make(
        UnsafeRawBufferPointer(bytes), for: info.color == .gray ? .gray : .rgb,
        most: options.limits.profileMemory, warnings: &ownWarnings)
    }?.convert(stored)
    return stored
  }

  private func stored() throws(ImageFault) -> [PixelBuffer] {
    if scales.count == 1 { return try leader.finish() }
    var found = [PixelBuffer?](repeating: nil, count: count)
    for scale in scales {
      for (place, picture) in zip(scale.places, try scale.finish()) { found[place] = picture }
    }
    let pictures = found.compactMap { $0 }
    guard pictures.count == count else { throw ImageFault(.internal, "a thumbnail wasn't made") }
    return pictures
  }

  var report: DecodeReport {
    var raw = nhs_jpeg_report()
    nhs_jpeg_get_report(leader.handle, &raw)
    var report = DecodeReport()
    report.bytesUsed = Int(raw.bytes_used)
    report.scansUsed = Int(raw.scans_used)
    report.denominator = leader.denominator
    report.stoppedEarly = raw.stopped_early != 0
    report.isPartial = raw.is_damaged != 0 || passedOver != nil
    report.fault = passedOver
    if report.fault == nil && raw.is_damaged != 0 {
      let kind: ImageFault.Kind = raw.is_truncated != 0 ? .truncated : .corrupt
      report.fault = ImageFault(kind, "damaged JPEG data", at: Int(raw.damage_offset))
    }
    report.warningCount = Int(nhs_jpeg_warnings(leader.handle).pointee.count) + ownWarnings.count
    return report
  }

  var warnings: [String] { keptWarnings(nhs_jpeg_warnings(leader.handle)) + ownWarnings }
}
