/// Decodes a complete PNG. What ISA-L refuses is decoded once more, by libpng.
enum PNGDecoder {
  static func decode(
    _ bytes: UnsafeRawBufferPointer, _ job: Job
  ) throws(ImageFault) -> CollectingDecoder.Decoded {
    let options = job.options
    var decoder = try PNGRowDecoder(bytes, options: options, forceLibpng: false)
    let stored: [PixelBuffer]
    do throws(ImageFault) {
      // First without `allowDamaged`, so that a partial picture always comes from libpng.
      var strict = options
      strict.allowDamaged = false
      stored = try decoder.decode(job.plans, options: strict)
    } catch {
      guard error.leavesPixels else { throw error }
      // ISA-L failed: libpng decides about the error and delivers the rows before it.
      decoder = try PNGRowDecoder(bytes, options: options, forceLibpng: true)
      stored = try decoder.decode(job.plans, options: options)
    }
    var decoded = CollectingDecoder.Decoded(
      pictures: stored, report: decoder.report, warnings: decoder.warnings)
    guard options.convertColors else { return decoded }
    let before = decoded.warnings.count
    let converter = try decoder.colorConverter(
      most: options.limits.profileMemory, warnings: &decoded.warnings)
    decoded.report.warningCount += decoded.warnings.count - before
    converter?.convert(stored)
    return decoded
  }
}
