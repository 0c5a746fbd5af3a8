/// JPEGs to thumbnails and to whole pictures, with and without leave to be damaged.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzJPEG(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 4 else { return 0 }
  let (variant, bytes) = split(start, count)
  let options = fuzzOptions(variant)
  let boxes = [
    ThumbnailBox(24, quality: variant & 4 == 0 ? .best : .fast), ThumbnailBox(9, mode: .fill),
    ThumbnailBox(width: 30, height: 7, mode: .exact, enlarge: true),
  ]
  _ = Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options)
  }
  _ = Outcome { () throws(ImageFault) in try Thumbnailer.decode(bytes, options: options) }
  return 0
}
