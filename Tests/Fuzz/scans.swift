/// `ScanWatch` must give the same answer for pieces of any size. If it says that the beginning may be enough, a decode of the
/// beginning must give the pixels of the whole, or fail.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzScans(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 4 else { return 0 }
  let (variant, bytes) = split(start, count)
  guard case .found(let info) = ImageProbe.probe(bytes), info.format == .jpeg else { return 0 }
  let boxes = [ThumbnailBox(Int(variant >> 2) + 1)]
  guard let watch = ScanWatch(info, boxes: boxes) else { return 0 }
  let single = due(watch, bytes, 1)
  let size = Int(variant) + 2
  let pieces = due(watch, bytes, size)
  let expected = single.map { min(bytes.count, ($0 + size - 1) / size * size) }
  demand(pieces == expected, "\(pieces as Any) \(single as Any)")
  guard let single else { return 0 }
  // Decode as a transfer does: without `allowDamaged`, so that a damaged beginning is not enough.
  let options = fuzzOptions(0)
  let beginning = Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(
      of: UnsafeRawBufferPointer(rebasing: bytes[..<single]), boxes: boxes, options: options)
  }
  guard case .pixels = beginning else { return 0 }
  let whole = Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options)
  }
  demand(beginning == whole, "\(beginning) \(whole)")
  return 0
}

/// Returns after how many bytes the watch first says that they may be enough, or nil.
private func due(_ watch: ScanWatch, _ bytes: UnsafeRawBufferPointer, _ size: Int) -> Int? {
  var watch = watch
  for at in stride(from: 0, to: bytes.count, by: size) {
    let end = min(bytes.count, at + size)
    if watch.feed(UnsafeRawBufferPointer(rebasing: bytes[at..<end])) { return end }
  }
  return nil
}
