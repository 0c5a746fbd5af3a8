/// The probe must give the same answer for pieces of any size.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzProbe(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let (variant, bytes) = split(start, count)
  let whole = ImageProbe.probe(bytes)
  var probe = ImageProbe()
  let size = Int(variant) % 64 + 1
  for at in stride(from: 0, to: bytes.count, by: size) {
    probe.feed(UnsafeRawBufferPointer(rebasing: bytes[at..<min(bytes.count, at + size)]))
  }
  let pieces = probe.finish()
  demand(pieces == whole, "\(pieces) \(whole)")
  if case .found(let info) = whole {
    demand(info.size.width > 0 && info.size.height > 0, "\(info)")
    _ = try? Thumbnailer.memoryNeed(info, boxes: [ThumbnailBox(Int(variant) + 1)])
  }
  return 0
}
