/// A GIF in pieces must give the pixels or the fault of the whole. If the watch of a transfer says that the beginning
/// may be enough, the beginning must give the pixels of the whole, or fail.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzGIF(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 8 else { return 0 }
  let (variant, bytes) = split(start, count)
  guard case .found(let info) = ImageProbe.probe(bytes), info.format == .gif else { return 0 }
  let options = fuzzOptions(variant)
  let boxes = [ThumbnailBox(17), ThumbnailBox(Int(variant) + 1)]
  let whole = outcome(bytes, boxes, options)
  let pieces = Outcome { () throws(ImageFault) in
    try feed(IncrementalThumbnailer(boxes: boxes, options: options), bytes, Int(variant >> 2) + 1)
  }
  demand(pieces == whole, "\(pieces) \(whole)")
  let strict = fuzzOptions(variant & ~1)
  guard var watch = EarlyEnd.watch(info, boxes: boxes) else { return 0 }
  for at in 0..<bytes.count where watch.feed(UnsafeRawBufferPointer(rebasing: bytes[at...at])) {
    let beginning = outcome(UnsafeRawBufferPointer(rebasing: bytes[...at]), boxes, strict)
    guard case .pixels = beginning else { return 0 }
    demand(beginning == outcome(bytes, boxes, strict), "the beginning differs from the whole")
  }
  return 0
}

private func outcome(
  _ bytes: UnsafeRawBufferPointer, _ boxes: [ThumbnailBox], _ options: DecodeOptions
) -> Outcome {
  Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options)
  }
}
