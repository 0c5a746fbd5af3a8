/// Makes thumbnails and whole pictures from bytes. Start here.
///
/// Any number of threads may call it at once.
public enum Thumbnailer {
  /// Makes one thumbnail for each box, all from one decode.
  ///
  /// - Parameter known: the result of `ImageProbe` for these bytes; saves another probe.
  public static func thumbnails(
    of bytes: UnsafeRawBufferPointer, known: ImageInfo? = nil, boxes: [ThumbnailBox],
    options: DecodeOptions = DecodeOptions()
  ) throws(ImageFault) -> DecodeResult {
    let (info, profile) = try examine(bytes, known, options)
    return try make(bytes, Job(info: info, boxes: boxes, profile: profile, options: options))
  }

  /// Decodes the whole picture at full size.
  public static func decode(
    _ bytes: UnsafeRawBufferPointer, options: DecodeOptions = DecodeOptions()
  ) throws(ImageFault) -> DecodeResult {
    let (info, profile) = try examine(bytes, nil, options)
    return try make(bytes, Job(wholeOf: info, profile: profile, options: options))
  }

  /// Returns an upper bound of the memory for decoding, in bytes, including results. An empty list means the whole picture.
  ///
  /// Used to schedule decodes; it doesn't tell whether a decode would be refused.
  public static func memoryNeed(_ info: ImageInfo, boxes: [ThumbnailBox]) throws(ImageFault) -> Int {
    let options = DecodeOptions()
    if boxes.isEmpty { return Job(wholeOf: info, profile: nil, options: options).memoryNeed.most }
    return try Job(info: info, boxes: boxes, profile: nil, options: options).memoryNeed.most
  }

  static func examine(
    _ bytes: UnsafeRawBufferPointer, _ known: ImageInfo?, _ options: DecodeOptions
  ) throws(ImageFault) -> (ImageInfo, [UInt8]?) {
    guard bytes.count <= options.limits.bytes else {
      throw ImageFault(
        .tooLarge, "the picture has \(bytes.count) bytes; the limit is \(options.limits.bytes)")
    }
    // `known` doesn't hold the profile, so a picture with one must be probed again.
    if let known, !known.hasICC {
      try refuseEarly(known.size, options)
      return (known, nil)
    }
    var probe = ImageProbe(collectsProfile: true)
    probe.feed(bytes)
    try refuseEarly(probe.size, options)
    return (try info(from: probe.finish()), probe.profile)
  }

  /// Refuses a picture that is too large as soon as its size is known, regardless of other errors.
  static func refuseEarly(_ size: ImageSize?, _ options: DecodeOptions) throws(ImageFault) {
    if let size, let refusal = options.limits.refusal(of: size) { throw refusal }
  }

  /// Converts the probe's last answer to a result or an error.
  static func info(from answer: ImageProbe.Answer) throws(ImageFault) -> ImageInfo {
    switch answer {
    case .found(let info): return info
    case .notAnImage: throw ImageFault(.notAnImage, "the bytes are not a picture", at: 0)
    case .unsupported(let format):
      throw ImageFault(.unsupportedFormat(format.rawValue), "\(format.rawValue) isn't decoded", at: 0)
    case .fault(let fault): throw fault
    case .needMore: throw ImageFault(.internal, "the probe gave no answer")
    }
  }

  private static func make(_ bytes: UnsafeRawBufferPointer, _ job: Job) throws(ImageFault) -> DecodeResult {
    try job.judge()
    let decoder = try job.decoder()
    decoder.borrow(bytes)
    return try job.finish(decoder, bytes)
  }
}
