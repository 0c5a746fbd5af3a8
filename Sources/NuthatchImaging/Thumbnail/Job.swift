/// One decode: the wanted thumbnails, the limits, and the steps after decoding.
struct Job {
  let info: ImageInfo
  let plans: [StoredPlan]
  /// The ICC profile, if the format's decoder needs it from the probe.
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

  init(info: ImageInfo, plans: [StoredPlan], profile: [UInt8]?, options: DecodeOptions) {
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

  /// Decodes what is missing, and returns the thumbnails upright. Call it after the decoder got all bytes, or has enough.
  ///
  /// - Parameter input: the input, if it is there at once.
  func finish(
    _ decoder: any PictureDecoder, _ input: UnsafeRawBufferPointer? = nil
  ) throws(ImageFault) -> DecodeResult {
    guard try decoder.advance() == .done else {
      throw ImageFault(.internal, "the decoder of \(info.kindForMessage) waits for more bytes after the end")
    }
    var pictures: [PixelBuffer] = []
    for picture in try decoder.finish() { pictures.append(try picture.oriented(info.orientation)) }
    return DecodeResult(
      info: info, pictures: pictures, warnings: decoder.warnings, report: decoder.report,
      facts: PictureFacts(info, input, isWhole: options.isWhole))
  }
}
