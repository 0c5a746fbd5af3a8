/// AVIF: pieces of any size must give the same pixels and the same verdict as all bytes at once, at any scale, and the header
/// must say as much before the pixels as after them.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzAVIF(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 33 else { return 0 }
  let (variant, rest) = split(start, count)
  // The first box, so that each input is an AVIF. Its length and its brand stay: other boxes must begin behind it.
  var file = Array(rest)
  let length = (20...32).contains(file[3]) ? file[3] : 32
  let brands = ["avif", "avis"].map { Array($0.utf8) }
  let brand = brands.first { file[8..<12].elementsEqual($0) } ?? brands[Int(variant & 1)]
  file.replaceSubrange(0..<12, with: [0, 0, 0, length] + Array("ftyp".utf8) + brand)
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
      // An item of HEVC makes it a HEIC, which isn't decoded here.
      let formats: [ImageFormat] = [.avif, .heic]
      demand(formats.contains(info.format) && info.size.width > 0 && info.size.height > 0, "\(info)")
    }
    _ = Outcome { () throws(ImageFault) in try Thumbnailer.decode(bytes, options: options) }
  }
  return 0
}
