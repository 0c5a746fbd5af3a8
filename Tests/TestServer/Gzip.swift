import CTestSockets

/// Compressed bodies: as valid as any, though hardly smaller, or very much smaller.
public enum Gzip {
  /// A gzip member with the bytes stored.
  public static func packed(_ bytes: [UInt8]) -> [UInt8] {
    header + stored(bytes) + little(crc32(bytes)) + little(UInt32(truncatingIfNeeded: bytes.count))
  }

  /// Deflate without any wrapping, as some servers send under the name "deflate".
  public static func bare(_ bytes: [UInt8]) -> [UInt8] { stored(bytes) }

  /// A gzip member that unpacks to at least `count` zeros (a multiple of 258, and one), at about 1:159. Its trailer
  /// is right only if `isValid`; making that right costs a pass over all zeros.
  public static func bomb(zeros count: Int, isValid: Bool = false) -> [UInt8] {
    var bits = BitWriter()
    bits.write(0b011, 3)  // the last block, fixed codes
    bits.writeCode(0x30, 8)  // literal 0
    let runs = max(0, count - 1 + 257) / 258
    for _ in 0..<runs {
      bits.writeCode(0b1100_0101, 8)  // length 258
      bits.writeCode(0, 5)  // distance 1
    }
    bits.writeCode(0, 7)  // end of block
    bits.finish()
    let total = runs * 258 + 1
    let check = isValid ? crc32([UInt8](repeating: 0, count: total)) : 0
    return header + bits.bytes + little(check) + little(UInt32(truncatingIfNeeded: total))
  }

  private static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]

  /// Deflate's stored blocks.
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    var start = 0
    repeat {
      let block = bytes[start..<min(bytes.count, start + 65_535)]
      start += block.count
      let size = UInt16(block.count)
      result.append(start == bytes.count ? 1 : 0)
      result += [UInt8(size & 255), UInt8(size >> 8), UInt8(~size & 255), UInt8(~size >> 8)]
      result += block
    } while start < bytes.count
    return result
  }

  private static func little(_ value: UInt32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }
}

/// zlib's form, which is what "deflate" means in HTTP.
public enum Zlib {
  /// With the bytes stored.
  public static func packed(_ bytes: [UInt8]) -> [UInt8] {
    let check = adler32(bytes)
    return [0x78, 0x01] + Gzip.stored(bytes)
      + (0..<4).map { UInt8(truncatingIfNeeded: check >> (24 - 8 * $0)) }
  }
}

/// Deflate's bit order.
private struct BitWriter {
  var bytes: [UInt8] = []
  private var held: UInt32 = 0
  private var count: UInt32 = 0

  /// Lowest bit first.
  mutating func write(_ value: UInt32, _ width: UInt32) {
    held |= value << count
    count += width
    while count >= 8 {
      bytes.append(UInt8(truncatingIfNeeded: held))
      held >>= 8
      count -= 8
    }
  }

  /// A Huffman code, highest bit first.
  mutating func writeCode(_ code: UInt32, _ width: UInt32) {
    for place in (0..<width).reversed() { write(code >> place & 1, 1) }
  }

  mutating func finish() {
    if count > 0 { write(0, 8 - count) }
  }
}

func crc32(_ bytes: [UInt8]) -> UInt32 {
  bytes.withUnsafeBufferPointer { UInt32(CTestSockets.crc32(0, $0.baseAddress, UInt32($0.count))) }
}

private func adler32(_ bytes: [UInt8]) -> UInt32 {
  bytes.withUnsafeBufferPointer { UInt32(CTestSockets.adler32(1, $0.baseAddress, UInt32($0.count))) }
}
