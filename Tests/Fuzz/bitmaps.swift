/// Decodes BMPs and icons, whole and in pieces: the same pixels or fault. An opaque picture has no other alpha than 255.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzBitmaps(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 8 else { return 0 }
  let (variant, bytes) = split(start, count)
  guard case .found(let info) = ImageProbe.probe(bytes), info.format == .bmp || info.format == .ico else {
    return 0
  }
  let options = fuzzOptions(variant)
  let whole = Outcome { () throws(ImageFault) in
    let result = try Thumbnailer.decode(bytes, options: options)
    let picture = result.pictures[0]
    picture.withUnsafeBytes { pixels in
      for at in stride(from: 3, to: pixels.count, by: 4) where picture.isOpaque {
        demand(pixels[at] == 255, "an opaque pixel has alpha \(pixels[at])")
      }
    }
    return result
  }
  let pieces = Outcome { () throws(ImageFault) in
    try feed(IncrementalThumbnailer(boxes: [], options: options), bytes, Int(variant >> 2) + 1)
  }
  demand(pieces == whole, "\(pieces) \(whole)")
  _ = Outcome { () throws(ImageFault) in
    try Thumbnailer.thumbnails(of: bytes, boxes: [ThumbnailBox(7)], options: options)
  }
  return 0
}
