/// Decodes JPEGs to thumbnails and to whole pictures, with and without `allowDamaged`. Several thumbnails at once
/// must have the same pixels as each alone.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzJPEG(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 4 else { return 0 }
  let (variant, bytes) = split(start, count)
  let options = fuzzOptions(variant)
  let boxes = [
    ThumbnailBox(24, scaling: variant & 4 == 0 ? .best : .fast), ThumbnailBox(9, fit: .cover),
    ThumbnailBox(width: 30, height: 7, fit: .stretch, enlarge: true),
  ]
  let together = eachDigest { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options)
  }
  if let together {
    for (box, pixels) in zip(boxes, together) {
      let alone = Outcome { () throws(ImageFault) in
        try Thumbnailer.thumbnails(of: bytes, boxes: [box], options: options)
      }
      demand(alone == .pixels(pixels), "\(box): \(alone)")
    }
  }
  _ = Outcome { () throws(ImageFault) in try Thumbnailer.decode(bytes, options: options) }
  return 0
}
