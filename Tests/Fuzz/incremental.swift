/// Pieces of any size must give the same pixels and the same verdict as all bytes at once.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzIncremental(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 4 else { return 0 }
  let (variant, bytes) = split(start, count)
  let options = fuzzOptions(variant)
  let boxes =
    variant & 0x80 == 0 ? [ThumbnailBox(17)] : [ThumbnailBox(17), ThumbnailBox(5), ThumbnailBox(40)]
  let whole = Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options)
  }
  let pieces = Outcome { () throws(ImageFault) in
    try feed(IncrementalThumbnailer(boxes: boxes, options: options), bytes, Int(variant >> 2) + 1)
  }
  demand(pieces == whole, "\(pieces) \(whole)")
  return 0
}
