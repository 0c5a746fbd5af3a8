/// One decode: the wanted thumbnails, the limits, and the steps after decoding.
struct Job {
  let info: ImageInfo
  let plans: [StoredPlan]
  /// A JPEG's ICC profile; a PNG's decoder finds its own.
  let profile: [UInt8]?
  let memoryNeed: MemoryNeed
  private(set) var options: DecodeOptions

  init(info: ImageInfo, boxes: [ThumbnailBox], profile: [UInt8]?, options: DecodeOptions) throws(ImageFault) {
    guard !boxes.isEmpty, boxes.count <= 64 else {
      throw ImageFault(.invalid, "there are \(boxes.count) sizes; 1 to 64 are allowed")
    }
    var plans: [StoredPlan] = []
    for box in boxes { plans.append(try StoredPlan(box, of: info)) }
    self.init(info: info, plans: plans, profile: profile, options: options)
  }

  init(wholeOf info: ImageInfo, profile: [UInt8]?, options: DecodeOptions) {
    self.init(info: info, plans: [StoredPlan(whole: info)], profile: profile, options: options)
  }

  private init(info: ImageInfo, plans: [StoredPlan], profile: [UInt8]?, options: DecodeOptions) {
    self.info = info
    self.plans = plans
    self.profile = options.convertColors ? profile : nil
    self.options = options
    memoryNeed = Self.memoryNeed(info, plans, earlyStop: options.earlyStop)
    // Few profiles need `mostForProfile`, so don't refuse a picture for it. The profile gets the rest of the limit.
    let rest = options.limits.memory - memoryNeed.picture
    self.options.limits.profileMemory = min(self.options.limits.profileMemory, max(0, rest))
  }

  /// Refuses a picture that needs more memory than allowed. `refuseEarly` has already checked the number of pixels.
  func judge() throws(ImageFault) {
    let need = memoryNeed.least
    let limit = options.limits.memory
    guard need <= limit else {
      throw ImageFault(
        .tooManyPixels,
        "\(info.kindForMessage) of \(info.size) needs \(ImageLimits.mebibytes(need)) of memory to decode, "
          + "more than the \(ImageLimits.mebibytes(limit)) that it may take\(options.limits.memoryNote)")
    }
  }

  func jpegDecoder() throws(ImageFault) -> JPEGRowDecoder {
    try JPEGRowDecoder(plans: plans, profile: profile, options: options)
  }

  /// Converts colours and orientation of thumbnails whose rows are complete.
  func finish(_ decoder: JPEGRowDecoder) throws(ImageFault) -> DecodeResult {
    var warnings = decoder.warnings
    var report = decoder.report
    let stored = try decoder.finish()
    if info.color != .cmyk && info.color != .ycck {
      let before = warnings.count
      let converter = try profile?.withUnsafeBufferPointer { (bytes) throws(ImageFault) in
        try ColorConverter.make(
          UnsafeRawBufferPointer(bytes), for: info.color == .gray ? .gray : .rgb,
          most: options.limits.profileMemory, warnings: &warnings)
      }
      report.warningCount += warnings.count - before
      convert(stored, by: converter ?? nil)
    }
    return DecodeResult(info: info, pictures: try upright(stored), warnings: warnings, report: report)
  }

  func decodePNG(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) -> DecodeResult {
    var decoder = try PNGRowDecoder(bytes, options: options, forceLibpng: false)
    var stored: [PixelBuffer]
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
    var warnings = decoder.warnings
    var report = decoder.report
    let before = warnings.count
    if options.convertColors {
      let most = options.limits.profileMemory
      convert(stored, by: try decoder.colorConverter(most: most, warnings: &warnings))
    }
    report.warningCount += warnings.count - before
    return DecodeResult(info: info, pictures: try upright(stored), warnings: warnings, report: report)
  }

  private func convert(_ pictures: [PixelBuffer], by converter: ColorConverter?) {
    guard let converter else { return }
    for picture in pictures { converter.convert(picture.pixels, count: picture.width * picture.height) }
  }

  private func upright(_ stored: [PixelBuffer]) throws(ImageFault) -> [PixelBuffer] {
    var pictures: [PixelBuffer] = []
    for picture in stored { pictures.append(try picture.oriented(info.orientation)) }
    return pictures
  }
}
