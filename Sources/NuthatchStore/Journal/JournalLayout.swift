import CSystem

/// The offset and the identity of a journal record. Sequence numbers only rise; none is used twice.
package struct JournalPlace: Sendable, Hashable {
  package let offset: Int64
  /// The length of the payload.
  package let length: Int
  package let sequence: UInt64
}

/// The head of a journal file: 64 bytes, stored twice, because no record can be read without them.
struct JournalHead {
  static let size = 64
  /// The offset of the first record.
  static let length = 2 * size
  private static let magic: UInt64 = 0x5842_5455_4F54_554E  // NUTOUTBX
  static let version: UInt32 = 1

  /// Random. It ties each record to its offset in this file.
  let salt: UInt64
  /// The sequence number of the first record.
  let next: UInt64

  enum Reading {
    case head(JournalHead)
    case otherVersion(UInt32)
    case damaged
  }

  var bytes: [UInt8] {
    var one = [UInt8](repeating: 0, count: Self.size)
    one.withUnsafeMutableBytes { bytes in
      bytes.store(Self.magic, at: 0)
      bytes.store(Self.version, at: 8)
      bytes.store(salt, at: 16)
      bytes.store(next, at: 24)
      let sum = nhs_hash64(bytes.baseAddress, 56, 0)
      bytes.store(sum, at: 56)
    }
    return one + one
  }

  /// Returns the first copy if it is intact, else the second. The loop reads the first copy last, so that it overrides the other.
  static func read(_ bytes: [UInt8]) -> Reading {
    guard bytes.count >= length else { return .damaged }
    var result = Reading.damaged
    bytes.withUnsafeBytes { bytes in
      for start in [size, 0] {
        let one = UnsafeRawBufferPointer(rebasing: bytes[start..<start + size])
        guard one.word(0) == magic, one.word(56) == nhs_hash64(one.baseAddress, 56, 0) else { continue }
        let found = UInt32(truncatingIfNeeded: one.word(8))
        result =
          found == version
          ? .head(JournalHead(salt: one.word(16), next: one.word(24))) : .otherVersion(found)
      }
    }
    return result
  }
}

/// The header before a record's payload.
package struct JournalRecord {
  static let size = 32
  private static let magic: UInt32 = 0x524A_484E  // NHJR
  /// The longest payload.
  static let longest = 16 << 20

  let length: Int
  let sequence: UInt64
  let checksum: UInt64

  /// Returns the offset of the next record.
  package static func end(_ offset: Int64, _ length: Int) -> Int64 {
    (offset + Int64(size + length) + 7) & ~7
  }

  static func bytes(_ payload: [UInt8], sequence: UInt64, salt: UInt64, at offset: Int64) -> [UInt8] {
    var header = [UInt8](repeating: 0, count: size)
    let checksum = payload.withUnsafeBytes { nhs_hash64($0.baseAddress, $0.count, salt) }
    header.withUnsafeMutableBytes { bytes in
      bytes.store(magic, at: 0)
      bytes.store(UInt32(payload.count), at: 4)
      bytes.store(sequence, at: 8)
      bytes.store(checksum, at: 16)
      let sum = nhs_hash64(bytes.baseAddress, 24, salt &+ UInt64(offset))
      bytes.store(sum, at: 24)
    }
    return header
  }

  /// Returns nil unless the bytes are a record header that was written at this offset of this file.
  init?(_ bytes: UnsafeRawBufferPointer, salt: UInt64, at offset: Int64) {
    guard bytes.count >= Self.size, UInt32(truncatingIfNeeded: bytes.word(0)) == Self.magic else {
      return nil
    }
    guard bytes.word(24) == nhs_hash64(bytes.baseAddress, 24, salt &+ UInt64(offset)) else { return nil }
    length = Int(bytes.word(0) >> 32)
    sequence = bytes.word(8)
    checksum = bytes.word(16)
    guard length <= Self.longest, sequence > 0, sequence < .max else { return nil }
  }

  func holds(_ payload: UnsafeRawBufferPointer, salt: UInt64) -> Bool {
    payload.count == length && nhs_hash64(payload.baseAddress, payload.count, salt) == checksum
  }
}
