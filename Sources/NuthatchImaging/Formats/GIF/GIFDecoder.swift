/// Decodes a GIF's first frame as it arrives.
final class GIFDecoder: PictureDecoder {
  private let plans: [StoredPlan]
  private let options: DecodeOptions
  private var borrowed: UnsafeRawBufferPointer?
  private var isAtEnd = false
  private var isDone = false
  private var rows: GIFRows?
  private var reader: LZWReader?
  /// The offset of the next byte in the file.
  private var position = 0
  /// The rest of the block of codes that is being read.
  private var blockRest = 0
  private var passedOver: ImageFault?

  let warnings: [String] = []

  init(_ job: Job) {
    plans = job.plans
    options = job.options
  }

  func borrow(_ bytes: UnsafeRawBufferPointer) {
    borrowed = bytes
    end()
  }

  func begin(_ bytes: consuming ByteStore) throws(ImageFault) { try start(bytes.bytes) }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) { try take(bytes) }

  func end() { isAtEnd = true }

  func advance() throws(ImageFault) -> DecodeProgress {
    if let bytes = borrowed {
      borrowed = nil
      try start(bytes)
    }
    if isAtEnd && !isDone { try stop(.truncated) }
    return isDone ? .done : .needMore
  }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    guard isDone, let rows else { throw ImageFault(.internal, "decoding ended before the last row") }
    return try rows.finish()
  }

  var report: DecodeReport {
    var report = DecodeReport()
    report.bytesUsed = position
    report.isPartial = passedOver != nil
    report.fault = passedOver
    return report
  }

  /// Reads the header again, which the probe has read.
  private func start(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    var parser = GIFHeaderParser()
    position = try parser.parse(bytes)
    guard let frame = parser.frame else { throw ImageFault(.internal, "the GIF's header has no frame") }
    rows = try GIFRows(frame, plans)
    reader = try LZWReader(indexBits: frame.indexBits)
    try take(UnsafeRawBufferPointer(rebasing: bytes[position...]))
  }

  /// Reads blocks of codes until the frame is complete. What follows changes nothing.
  private func take(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) {
    var place = 0
    while !isDone && place < bytes.count {
      guard blockRest > 0 else {
        blockRest = Int(bytes[place])
        place += 1
        position += 1
        if blockRest == 0 { try stop(.corrupt) }
        continue
      }
      let end = min(bytes.count, place + blockRest)
      let used = try decode(UnsafeRawBufferPointer(rebasing: bytes[place..<end]))
      place += used
      blockRest -= used
    }
  }

  /// Returns how many bytes were used.
  private func decode(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) -> Int {
    guard let rows, let reader else {
      throw ImageFault(.internal, "the GIF's pixels came before its header")
    }
    let (used, stop) = reader.read(bytes, to: rows.indices.base, &rows.count, limit: rows.limit)
    position += used
    isDone = stop == .full && rows.isComplete
    // The reader takes some bytes ahead. The place of an end doesn't depend on how many.
    if isDone || stop == .ended || stop == .broken { position -= reader.bytesAhead }
    switch stop {
    case .needMore: break
    case .full: try rows.pass()
    case .ended: try self.stop(.corrupt)
    case .broken: try self.stop(.corrupt, "a code of the GIF's first frame stands for nothing")
    }
    return used
  }

  /// Ends before the frame is complete.
  private func stop(_ kind: ImageFault.Kind, _ message: String? = nil) throws(ImageFault) {
    guard let rows else { throw ImageFault(.internal, "the GIF has no header") }
    let fault = ImageFault(
      kind, message ?? "the GIF's first frame ends after \(rows.pixels) of \(rows.allPixels) pixels",
      at: position)
    guard options.allowDamaged, rows.completeRows > 0 else { throw fault }
    passedOver = fault
    isDone = true
    try rows.pass()
  }
}
