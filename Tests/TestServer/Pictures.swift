/// Small valid pictures.
public enum Pictures {
  /// An 8-bit RGB PNG with a gradient, stored rather than compressed; another seed gives another picture.
  public static func png(width: Int, height: Int, seed: Int = 0) -> [UInt8] {
    var rows: [UInt8] = []
    rows.reserveCapacity(height * (width * 3 + 1))
    for y in 0..<height {
      rows.append(0)
      for x in 0..<width {
        rows.append(UInt8(truncatingIfNeeded: x * 255 / max(1, width - 1) + (seed >> 8)))
        rows.append(UInt8(truncatingIfNeeded: y * 255 / max(1, height - 1)))
        rows.append(UInt8(truncatingIfNeeded: (x / 8 + y / 8 + seed) * 37))
      }
    }
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
      + chunk("IHDR", big(UInt32(width)) + big(UInt32(height)) + [8, 2, 0, 0, 0])
      + chunk("IDAT", Zlib.packed(rows)) + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    let named = Array(name.utf8) + data
    return big(UInt32(data.count)) + named + big(crc32(named))
  }

  private static func big(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - $0 * 8)) }
  }
}
