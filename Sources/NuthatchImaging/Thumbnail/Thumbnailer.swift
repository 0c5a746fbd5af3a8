/// Makes thumbnails and whole pictures from bytes: the front door of this room.
///
/// Pure and thread-safe: every call stands for itself.
public enum Thumbnailer {
  /// One thumbnail a box, all from one decode of the picture.
  ///
  /// - Parameter known: what `ImageProbe` has found of these bytes, so that it needn't be found again.
  public static func thumbnails(
    of bytes: UnsafeRawBufferPointer, known: ImageInfo? = nil, boxes: [ThumbnailBox],
    options: DecodeOptions = DecodeOptions()
  ) throws(ImageFault) -> DecodeResult {
    let (info, profile) = try examine(bytes, known, options)
    return try make(bytes, Job(info: info, boxes: boxes, profile: profile, options: options))
  }

  /// The whole picture at its full size.
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, options: DecodeOptions = DecodeOptions()
  ) throws(ImageFault) -> DecodeResult {
    let (info, profile) = try examine(bytes, nil, options)
    return try make(bytes, Job(wholeOf: info, profile: profile, options: options))
  }

  /// What decoding needs at most, in bytes, results included; an empty list stands for the whole picture.
  ///
  /// An estimate from above, to wait for one's turn by; it doesn't judge whether a decode would be refused.
  public static func memoryNeed(_ info: ImageInfo, boxes: [ThumbnailBox]) throws(ImageFault) -> Int {
    let options = DecodeOptions()
    if boxes.isEmpty { return Job(wholeOf: info, profile: nil, options: options).memoryNeed.most }
    return try Job(info: info, boxes: boxes, profile: nil, options: options).memoryNeed.most
  }

  private static func examine(
    _ bytes: UnsafeRawBufferPointer, _ known: ImageInfo?, _ options: DecodeOptions
  ) throws(ImageFault) -> (ImageInfo, [UInt8]?) {
    guard bytes.count <= options.limits.bytes else {
      throw ImageFault(.tooLarge, "a picture of \(bytes.count) bytes: the limit is \(options.limits.bytes)")
    }
    // A profile is still to be collected.
    if let known, !known.hasICC {
      try refuseEarly(known.size, options)
      return (known, nil)
    }
    var probe = ImageProbe(collectsProfile: true)
    probe.feed(bytes)
    try refuseEarly(probe.size, options)
    return (try info(from: probe.finish()), probe.profile)
  }

  /// A picture that is too large is refused as soon as its size is known, whatever else is wrong with it.
  static func refuseEarly(_ size: ImageSize?, _ options: DecodeOptions) throws(ImageFault) {
    if let size, let refusal = options.limits.refusal(of: size) { throw refusal }
  }

  /// The probe's last answer as a result or a fault.
  static func info(from answer: ImageProbe.Answer) throws(ImageFault) -> ImageInfo {
    switch answer {
    case .found(let info): return info
    case .notAnImage: throw ImageFault(.notAnImage, "the bytes are no picture", at: 0)
    case .unsupported(let format):
      throw ImageFault(.unsupportedFormat(format.rawValue), "\(format.rawValue) isn't decoded", at: 0)
    case .fault(let fault): throw fault
    case .needMore: throw ImageFault(.internal, "the probe gave no answer")
    }
  }

  private static func make(_ bytes: UnsafeRawBufferPointer, _ job: Job) throws(ImageFault) -> DecodeResult {
    try job.judge()
    if job.info.format == .jpeg {
      let decoder = try job.jpegDecoder()
      decoder.borrow(bytes)
      guard try decoder.advance() == .done else {
        throw ImageFault(.internal, "the JPEG decoder waits for bytes that won't come")
      }
      return try job.finish(decoder)
    }
    return try job.decodePNG(bytes)
  }
}
