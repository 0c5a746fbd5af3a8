/// Decodes PNGs by both decoders. Their verdicts and pixels must agree.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzPNG(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 8 else { return 0 }
  let (variant, bytes) = split(start, count)
  let options = fuzzOptions(variant & ~1)
  guard case .found(let info) = ImageProbe.probe(bytes), info.format == .png,
    info.size.area <= options.limits.pixels
  else { return 0 }
  let both = [false, true].map { libpng in
    Outcome { () throws(ImageFault) in
      let decoder = try PNGRowDecoder(bytes, options: options, forceLibpng: libpng)
      let pictures = try decoder.decode([StoredPlan(whole: info)], options: options)
      return DecodeResult(
        info: info, pictures: pictures, warnings: [], report: decoder.report, facts: PictureFacts())
    }
  }
  switch (both[0], both[1]) {
  case (.pixels(let fast), .pixels(let slow)): demand(fast == slow, "other pixels")
  case (.fault, .fault): break
  case (.fault("too_many_pixels"), _), (_, .fault("too_many_pixels")): break
  default: demand(false, "\(both)")
  }
  _ = Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: [ThumbnailBox(16)], options: fuzzOptions(variant | 1))
  }
  return 0
}
