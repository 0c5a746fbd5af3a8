/// Reads profiles of every kind, and converts a few pixels with each.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzICC(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard count > 1 else { return 0 }
  let (variant, bytes) = split(start, count)
  guard let kind = ColorConverter.Pixels(rawValue: Int32(variant & 3)) else { return 0 }
  var warnings: [String] = []
  guard
    let converter = try? ColorConverter.make(
      bytes, for: kind, most: ImageLimits.mostForProfile, warnings: &warnings)
  else { return 0 }
  var pixels = (0..<64 * 4).map { UInt8(truncatingIfNeeded: $0 &* 37) }
  pixels.withUnsafeMutableBufferPointer { pixels in
    if let base = pixels.baseAddress { converter.convert(base, count: 64) }
  }
  demand(kind == .rgb || kind == .gray || pixels[3] == 255, "ink is opaque")
  return 0
}
