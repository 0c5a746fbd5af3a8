import CSystem

/// A pass through the pixels of a frame: libwebp's decoder, and the scales that take its rows.
///
/// libwebp doesn't smooth the edges of blocks for scales at which averages hide them. With one of those and a larger one, two passes
/// are made, so that each thumbnail has the pixels that it has alone.
final class WebPPass {
  static let leastUnfiltered = 4

  private let codec: WebPCodec
  /// Whether all rows are decoded.
  private(set) var isComplete = false
  /// Why the pixels can't be decoded further.
  private(set) var fault: ImageFault?
  /// The smallest denominator first.
  let scales: [WebPScale]

  private init(_ frame: WebPFrame, _ denominators: [Int], _ plans: [StoredPlan]) throws(ImageFault) {
    codec = try WebPCodec(frame, withoutFilter: denominators[0] >= Self.leastUnfiltered)
    var scales: [WebPScale] = []
    for denominator in denominators { scales.append(try WebPScale(denominator, plans, frame)) }
    self.scales = scales
  }

  /// Returns the passes for a job's plans.
  static func passes(_ frame: WebPFrame, _ plans: [StoredPlan]) throws(ImageFault) -> [WebPPass] {
    var passes: [WebPPass] = []
    for denominators in [[1, 2], [4, 8]] {
      let wanted = denominators.filter { denominator in
        plans.contains { $0.denominator == denominator }
      }
      if !wanted.isEmpty { passes.append(try WebPPass(frame, wanted, plans)) }
    }
    return passes
  }

  static func count(_ plans: [StoredPlan]) -> Int {
    Set(plans.map { $0.denominator >= leastUnfiltered }).count
  }

  var denominator: Int? { scales.first?.denominator }

  var hasRows: Bool { scales.first?.hasRows == true }

  /// Decodes as far as the bytes allow; they are all bytes of the frame that have arrived.
  func decode(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    let verdict = codec.decode(bytes)
    isComplete = verdict == .complete
    if verdict == .failed { fault = codec.fault }
    for scale in scales { try scale.take(codec.picture, isComplete: isComplete) }
  }
}

/// libwebp's decoder of one frame.
private final class WebPCodec {
  enum Verdict {
    case complete, needMore, failed
  }

  private let handle: OpaquePointer
  private let start: Int
  /// What is decoded so far; valid until the next `decode`.
  private(set) var picture = nhs_webp_picture()

  init(_ frame: WebPFrame, withoutFilter: Bool) throws(ImageFault) {
    start = frame.start
    let (size, isLossless) = (frame.bitstream.size, frame.bitstream.isLossless)
    var options = nhs_webp_options(
      width: Int32(size.width), height: Int32(size.height), is_lossless: isLossless ? 1 : 0,
      has_alpha: frame.hasAlpha ? 1 : 0, without_filter: withoutFilter ? 1 : 0)
    guard let handle = nhs_webp_new(&options) else {
      throw ImageFault(.outOfMemory, "there is no memory for a WebP decoder")
    }
    self.handle = handle
  }

  deinit { nhs_webp_free(handle) }

  func decode(_ bytes: UnsafeRawBufferPointer) -> Verdict {
    switch Int(nhs_webp_decode(handle, bytes.baseAddress, bytes.count, &picture)) {
    case Int(NHS_OK): .complete
    case Int(NHS_MORE): .needMore
    default: .failed
    }
  }

  /// Why it failed, with the place where the frame begins.
  var fault: ImageFault {
    let fault = ImageFault(nhs_webp_fault(handle), format: .webp)
    return ImageFault(fault.kind, fault.message, at: start)
  }
}
