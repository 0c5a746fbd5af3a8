/// WebP: pieces of any size must give the same pixels and the same verdict as all bytes at once, at any scale, and the header
/// must say as much before the pixels as after them.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzWebP(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 13 else { return 0 }
  let (variant, rest) = split(start, count)
  // The words of the container, so that each input is a WebP.
  var file = Array(rest)
  for (place, byte) in Array("RIFF".utf8).enumerated() { file[place] = byte }
  for (place, byte) in Array("WEBP".utf8).enumerated() { file[8 + place] = byte }
  let options = fuzzOptions(variant)
  let boxes = [ThumbnailBox(17), ThumbnailBox(3), ThumbnailBox(60)]
  file.withUnsafeBytes { bytes in
    let whole = Outcome { () throws(ImageFault) in
      try Thumbnailer.thumbnails(of: bytes, boxes: boxes, options: options)
    }
    let pieces = Outcome { () throws(ImageFault) in
      try feed(IncrementalThumbnailer(boxes: boxes, options: options), bytes, Int(variant >> 2) * 40 + 1)
    }
    demand(pieces == whole, "\(pieces) \(whole)")
    if case .found(let info) = ImageProbe.probe(bytes) {
      demand(info.format == .webp && info.size.width > 0 && info.size.height > 0, "\(info)")
    }
    _ = Outcome { () throws(ImageFault) in try Thumbnailer.decode(bytes, options: options) }
  }
  return 0
}
