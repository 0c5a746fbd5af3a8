import Glibc

/// Makes thumbnails while the bytes arrive, and tells when it needs no more bytes.
///
/// Some formats are decoded as they arrive; a small thumbnail of a progressive JPEG needs only its first scans. Others are
/// collected and decoded at the end. The result doesn't depend on how the input is split.
///
/// Use it on one thread at a time. After a fault every call throws that fault.
public final class IncrementalThumbnailer {
  /// The next step for the caller.
  public enum Status: Sendable {
    /// Feed the next bytes, or call `finish` at the end.
    case needMore
    /// More bytes would change nothing: the transfer may stop, and `finish` returns the result.
    case enough
  }

  private enum Stage {
    case probing(ImageProbe)
    case decoding(any PictureDecoder, Job)
    case over
  }

  private let boxes: [ThumbnailBox]
  private let options: DecodeOptions
  private var stage: Stage
  private var kept = ByteStore()
  private var total = 0
  private var isDone = false
  private var failure: ImageFault?

  /// The picture's properties, as soon as they are known.
  public private(set) var info: ImageInfo?

  /// For thumbnails in these boxes; an empty list means the whole picture.
  public init(boxes: [ThumbnailBox], options: DecodeOptions = DecodeOptions()) {
    self.boxes = boxes
    self.options = options
    stage = .probing(ImageProbe(collectsProfile: true))
  }

  /// Takes the next bytes.
  @discardableResult
  public func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) -> Status {
    if let failure { throw failure }
    if isDone || bytes.isEmpty { return isDone ? .enough : .needMore }
    total += bytes.count
    do throws(ImageFault) {
      guard total <= options.limits.bytes else {
        throw ImageFault(.tooLarge, "the picture has more than \(options.limits.bytes) bytes, the limit")
      }
      switch stage {
      case .probing(var probe):
        stage = .over
        try kept.append(bytes)
        let answer = probe.feed(bytes)
        try Thumbnailer.refuseEarly(probe.size, options)
        if answer == .needMore {
          stage = .probing(probe)
        } else {
          try begin(Thumbnailer.info(from: answer), profile: probe.profile)
        }
      case .decoding(let decoder, _):
        try decoder.feed(bytes)
        isDone = try decoder.advance() == .done
      case .over:
        throw ImageFault(.invalid, "bytes were fed after the decoder was finished")
      }
    } catch {
      stage = .over
      failure = error
      throw error
    }
    return isDone ? .enough : .needMore
  }

  /// Returns the thumbnails. Call it at the end of the input, or after `enough`.
  public func finish() throws(ImageFault) -> DecodeResult {
    if let failure { throw failure }
    let last = stage
    stage = .over
    switch last {
    case .probing(var probe):
      // The parser of the header may have waited for bytes behind the pixels.
      let info = try Thumbnailer.info(from: probe.finish())
      try begin(info, profile: probe.profile)
      return try finish()
    case .decoding(let decoder, let job):
      if !isDone { decoder.end() }
      return try job.finish(decoder)
    case .over:
      throw ImageFault(.invalid, "the decoder was finished twice")
    }
  }

  private func begin(_ info: ImageInfo, profile: [UInt8]?) throws(ImageFault) {
    self.info = info
    let job =
      boxes.isEmpty
      ? Job(wholeOf: info, profile: profile, options: options)
      : try Job(info: info, boxes: boxes, profile: profile, options: options)
    try job.judge()
    let decoder = try job.decoder()
    var begun = ByteStore()
    swap(&begun, &kept)
    try decoder.begin(begun)
    stage = .decoding(decoder, job)
    isDone = try decoder.advance() == .done
  }
}

/// Collects bytes that arrive in pieces. A failed allocation throws.
struct ByteStore: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0
  private var count = 0

  deinit { free(base) }

  /// Valid until the next `append`.
  var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

  mutating func append(_ piece: UnsafeRawBufferPointer) throws(ImageFault) {
    guard let source = piece.baseAddress, !piece.isEmpty else { return }
    let (needed, overflow) = count.addingReportingOverflow(piece.count)
    guard !overflow, needed <= Int.max / 2 else {
      throw ImageFault(.tooLarge, "the picture has too many bytes for this machine")
    }
    if needed > capacity {
      let size = max(4096, needed + needed / 2)
      guard let grown = realloc(base, size) else {
        throw ImageFault(.outOfMemory, "there is no memory for \(needed) bytes of the picture")
      }
      base = grown
      capacity = size
    }
    base?.advanced(by: count).copyMemory(from: source, byteCount: piece.count)
    count = needed
  }
}
