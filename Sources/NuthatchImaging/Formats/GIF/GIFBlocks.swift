/// The blocks of a GIF, by their lengths.
enum GIFBlocks {
  /// Returns how many frames begin in these bytes, and whether there are no others. A whole file may lack its last byte, the
  /// trailer.
  static func frames(in bytes: UnsafeRawBufferPointer, isWhole: Bool) -> (count: Int, isAll: Bool) {
    // Behind the signature and the logical screen, whose flags are before the last two bytes.
    guard bytes.count >= 13 else { return (0, false) }
    var place = 13 + tableBytes(bytes[10])
    var (frames, garbage) = (0, 0)
    while place < bytes.count {
      let kind = bytes[place]
      place += 1
      switch kind {
      case 0x21: place += 1  // an extension's label
      case 0x2C:
        frames += 1
        guard place + 9 <= bytes.count else { return (frames, false) }
        // The colour table, and the number of bits.
        place += 9 + tableBytes(bytes[place + 8]) + 1
      case 0x3B: return (frames, frames > 0)
      default:
        garbage += 1
        guard garbage <= GIFHeaderParser.maxGarbage else { return (frames, false) }
        continue
      }
      guard let next = skipParts(bytes, from: place) else { return (frames, false) }
      place = next
    }
    return (frames, isWhole && place == bytes.count && frames > 0)
  }

  /// Returns the offset behind the parts of a block, the last of which has no bytes.
  private static func skipParts(_ bytes: UnsafeRawBufferPointer, from start: Int) -> Int? {
    var place = start
    while place < bytes.count {
      let count = Int(bytes[place])
      place += 1 + count
      if count == 0 { return place }
    }
    return nil
  }

  /// Returns the bytes of the colour table that the flags announce; 0 if there is none.
  static func tableBytes(_ flags: UInt8) -> Int { flags & 0x80 == 0 ? 0 : 3 << (Int(flags & 7) + 1) }
}
