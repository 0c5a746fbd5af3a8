/// Collects a PNG and decodes it. What ISA-L refuses is decoded once more, by libpng.
final class PNGDecoder: PictureDecoder {
  private let plans: [StoredPlan]
  private let options: DecodeOptions
  private var collected = ByteStore()
  private var borrowed: UnsafeRawBufferPointer?
  private var isAtEnd = false
  private(set) var report = DecodeReport()
  private(set) var warnings: [String] = []

  init(_ job: Job) {
    plans = job.plans
    options = job.options
  }

  func borrow(_ bytes: UnsafeRawBufferPointer) {
    borrowed = bytes
    end()
  }

  func begin(_ bytes: consuming ByteStore) { collected = bytes }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) { try collected.append(bytes) }

  func end() { isAtEnd = true }

  func advance() -> DecodeProgress { isAtEnd ? .done : .needMore }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    let bytes = borrowed ?? collected.bytes
    var decoder = try PNGRowDecoder(bytes, options: options, forceLibpng: false)
    let stored: [PixelBuffer]
    do throws(ImageFault) {
      // First without `allowDamaged`, so that a partial picture always comes from libpng.
      var strict = options
      strict.allowDamaged = false
      stored = try decoder.decode(plans, options: strict)
    } catch {
      guard error.leavesPixels else { throw error }
      // ISA-L failed: libpng decides about the error and delivers the rows before it.
      decoder = try PNGRowDecoder(bytes, options: options, forceLibpng: true)
      stored = try decoder.decode(plans, options: options)
    }
    report = decoder.report
    warnings = decoder.warnings
    guard options.convertColors else { return stored }
    let before = warnings.count
    let converter = try decoder.colorConverter(most: options.limits.profileMemory, warnings: &warnings)
    report.warningCount += warnings.count - before
    converter?.convert(stored)
    return stored
  }
}
