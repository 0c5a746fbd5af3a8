import CSystem

/// HEIC: decoded by libheif, in the decoder process.
struct HEICFormat: PictureFormat {
  let format = ImageFormat.heic

  var libraries: Int32 { Int32(NHS_DECODER_HEIC) }

  func headerParser(collectsProfile: Bool) -> any HeaderParser { HEICHeaderParser() }

  func kind(_ info: ImageInfo) -> String { "a HEIC" }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    // Planes of up to two bytes a sample, and the pixels that libheif makes of them.
    sum.add(info.size.area, 7)
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder {
    CollectingDecoder { (bytes) throws(ImageFault) in
      guard nhs_heic_is_loaded() != 0 else {
        throw ImageFault(
          .unsupportedFormat("heic"),
          "HEICs are decoded by libheif, which isn't installed on this machine (Debian: apt-get install libheif1)",
          at: 0)
      }
      var fault = nhs_fault()
      let side = Int32(clamping: min(job.options.limits.side, 1 << 16))
      // The header is known to be valid. What libheif refuses is behind it.
      var probe = ImageProbe()
      probe.feed(bytes)
      guard let picture = nhs_heic_decode(bytes.baseAddress, bytes.count, side, &fault) else {
        let fault = ImageFault(&fault, format: .heic)
        if fault.kind == .corrupt, let end = job.info.pixelsEnd, end > bytes.count {
          throw ImageFault(.truncated, "the HEIC ends too early", at: bytes.count)
        }
        throw ImageFault(fault.kind, fault.message, at: probe.position)
      }
      defer { nhs_heic_free(picture) }
      return try Self.thumbnails(picture, job, at: probe.position)
    }
  }

  private static func thumbnails(
    _ picture: OpaquePointer, _ job: Job, at place: Int
  ) throws(ImageFault) -> CollectingDecoder.Decoded {
    var (width, height, stride): (Int32, Int32, Int32) = (0, 0, 0)
    nhs_heic_size(picture, &width, &height)
    let size = ImageSize(width: Int(width), height: Int(height))
    guard size == job.info.size, let rows = nhs_heic_rows(picture, &stride), Int(stride) >= size.width * 4
    else {
      throw ImageFault(
        .corrupt, "the HEIC's picture is \(size), but its header says \(job.info.size)", at: place)
    }
    let fanOut = try RowFanOut(
      job.plans, rowSize: size, denominator: 1, opaque: nhs_heic_has_alpha(picture) == 0)
    try fanOut.push(rows: rows, count: size.height, stride: Int(stride))
    var decoded = CollectingDecoder.Decoded(pictures: try fanOut.finish())
    var count = 0
    if job.options.convertColors, let profile = nhs_heic_profile(picture, &count) {
      try ColorConverter.make(
        UnsafeRawBufferPointer(start: profile, count: count), for: .rgb,
        most: job.options.limits.profileMemory, warnings: &decoded.warnings)?.convert(decoded.pictures)
    }
    decoded.report.warningCount = decoded.warnings.count
    return decoded
  }
}
