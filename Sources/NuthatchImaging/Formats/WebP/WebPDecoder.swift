import CSystem

/// Decodes the first frame of a WebP to thumbnails, fed at once or in pieces.
///
/// All bytes up to the frame's end are kept, because libwebp reads them where they are.
final class WebPDecoder: KeepsInput {
  /// A call costs time even if it has few new bytes.
  private static let leastPiece = 4096

  let input = KeptInput()
  private let job: Job
  private var frame: WebPFrame?
  private var passes: [WebPPass] = []
  /// The bytes of the frame that libwebp has seen.
  private var passed = 0
  private var hasAllRows = false
  private var isDone = false
  private(set) var report = DecodeReport()
  private(set) var warnings: [String] = []

  init(_ job: Job) {
    self.job = job
  }

  func advance() throws(ImageFault) -> DecodeProgress {
    if isDone { return .done }
    let bytes = input.bytes
    let frame = try located(in: bytes)
    do throws(ImageFault) {
      if !hasAllRows { hasAllRows = try decode(frame, bytes) }
      guard hasAllRows else { return .needMore }
      // Without an early stop, the file must be whole.
      if !job.options.earlyStop && bytes.count < frame.fileEnd {
        guard input.isAtEnd else { return .needMore }
        throw Self.truncated(bytes.count)
      }
    } catch {
      guard job.options.allowDamaged, error.leavesPixels, passes.first?.hasRows == true else {
        throw error
      }
      report.isPartial = true
      report.fault = error
    }
    isDone = true
    report.bytesUsed = min(bytes.count, job.options.earlyStop ? frame.end : frame.fileEnd)
    report.denominator = passes.first?.denominator ?? 1
    return .done
  }

  /// Decodes what has arrived. Returns whether the frame is complete.
  private func decode(_ frame: WebPFrame, _ bytes: UnsafeRawBufferPointer) throws(ImageFault) -> Bool {
    let end = min(bytes.count, frame.end)
    let isWhole = end == frame.end
    if !isWhole && !input.isAtEnd {
      // Lossless pixels in pieces would take ten times as long.
      guard !frame.bitstream.isLossless, end - frame.start >= passed + Self.leastPiece else { return false }
    }
    if passes.isEmpty {
      try judgeGroups(frame, bytes)
      passes = try WebPPass.passes(frame, job.plans)
    }
    passed = end - frame.start
    for pass in passes { try pass.decode(UnsafeRawBufferPointer(rebasing: bytes[frame.start..<end])) }
    if let fault = passes.lazy.compactMap(\.fault).first { throw fault }
    guard passes.allSatisfy(\.isComplete) else {
      if isWhole { throw ImageFault(.corrupt, "the WebP's pixels end before the last row", at: frame.end) }
      if input.isAtEnd { throw Self.truncated(bytes.count) }
      return false
    }
    return true
  }

  /// Refuses a picture whose groups of codes need more memory than is left.
  private func judgeGroups(_ frame: WebPFrame, _ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    let (size, limits) = (frame.bitstream.size, job.options.limits)
    let left = limits.memory - job.memoryNeed.least
    guard LosslessGroups.most(size) * LosslessGroups.bytesEach > left, let codes = frame.lossless(in: bytes)
    else {
      return
    }
    let count = LosslessGroups.count(codes, size)
    guard count * LosslessGroups.bytesEach > left else { return }
    throw ImageFault(
      .tooManyPixels,
      "\(job.info.kindForMessage) of \(job.info.size) with \(count) groups of codes needs more memory to decode than "
        + "the \(ImageLimits.mebibytes(limits.memory)) that it may take\(limits.memoryNote)", at: frame.start)
  }

  private func located(in bytes: UnsafeRawBufferPointer) throws(ImageFault) -> WebPFrame {
    if let frame { return frame }
    let found = try WebPFrame.first(of: bytes)
    frame = found
    return found
  }

  private static func truncated(_ place: Int) -> ImageFault {
    ImageFault(.truncated, "the WebP ends too early", at: place)
  }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    guard isDone else { throw ImageFault(.internal, "decoding ended before the last row") }
    var found = [PixelBuffer?](repeating: nil, count: job.plans.count)
    for scale in passes.flatMap(\.scales) {
      for (place, picture) in zip(scale.places, try scale.finish()) { found[place] = picture }
    }
    let stored = found.compactMap { $0 }
    guard stored.count == job.plans.count else { throw ImageFault(.internal, "a thumbnail wasn't made") }
    // The planes aren't needed any more.
    passes = []
    try job.profile?.withUnsafeBufferPointer { (profile) throws(ImageFault) in
      try ColorConverter.make(
        UnsafeRawBufferPointer(profile), for: .rgb, most: job.options.limits.profileMemory,
        warnings: &warnings)
    }?.convert(stored)
    report.warningCount = warnings.count
    return stored
  }
}
