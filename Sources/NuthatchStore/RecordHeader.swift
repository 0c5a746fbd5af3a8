import CSystem
import Glibc

/// The fixed part of a record (docs/FORMAT.md, "A record").
struct RecordHeader {
  static let size = 48
  /// Where a payload begins, which any vector instruction takes; more would be mostly gaps.
  static let alignment = 16
  /// `NHR1` and `NHRx`, as numbers of four little-endian bytes.
  static let valid: UInt32 = 0x3152_484E
  static let retired: UInt32 = 0x7852_484E

  var kind: RecordKind
  var shape: PayloadShape
  var keyLength: Int
  var hash: KeyHash
  var sequence: UInt64
  var payloadLength: Int
  var payloadChecksum: UInt64

  /// Where the parts of a record lie in its pack. Nil when that is beyond what can be counted.
  @inline(__always)
  static func extent(at offset: Int, keyLength: Int, payloadLength: Int) -> (payload: Int, end: Int)? {
    let (head, tooFar) = offset.addingReportingOverflow(size + keyLength + alignment - 1)
    guard !tooFar, keyLength >= 0, payloadLength >= 0 else { return nil }
    let payload = head & ~(alignment - 1)
    let (sum, tooLong) = payload.addingReportingOverflow(payloadLength)
    let (end, tooLate) = sum.addingReportingOverflow(7)
    guard !tooLong, !tooLate else { return nil }
    return (payload, end & ~7)
  }

  /// Fills `bytes`, which reach up to the payload, with header, key and zeros.
  func encode(
    into bytes: UnsafeMutableRawBufferPointer, key: UnsafeRawBufferPointer, at offset: Int, salt: UInt64
  ) {
    guard let base = bytes.baseAddress, let name = key.baseAddress, bytes.count >= Self.size + key.count
    else {
      return
    }
    bytes.store(Self.valid, at: 0)
    bytes.store(kind.rawValue, at: 4)
    bytes.store(shape.form, at: 5)
    bytes.store(UInt16(truncatingIfNeeded: keyLength), at: 6)
    bytes.store(sequence, at: 16)
    bytes.store(UInt64(payloadLength), at: 24)
    bytes.store(shape.width, at: 32)
    bytes.store(shape.height, at: 36)
    bytes.store(payloadChecksum, at: 40)
    memcpy(base + Self.size, name, key.count)
    let filled = Self.size + key.count
    memset(base + filled, 0, bytes.count - filled)
    bytes.store(Self.checksum(base, keyLength: keyLength, at: offset, salt: salt), at: 8)
  }

  /// Of bytes 16 up to the end of the key. Place and the four bytes at 4 are in the seed.
  @inline(__always)
  private static func checksum(_ record: UnsafeRawPointer, keyLength: Int, at offset: Int, salt: UInt64)
    -> UInt64
  {
    let front = UInt64(UInt32(littleEndian: record.load(fromByteOffset: 4, as: UInt32.self)))
    let seed = salt &+ UInt64(truncatingIfNeeded: offset) ^ front << 32
    return nhs_hash64(record + 16, size - 16 + keyLength, seed)
  }
}

extension RecordHeader {
  /// A record that has been found in a pack and whose header holds.
  struct Found {
    let header: RecordHeader
    let offset: Int
    let payload: Int
    let end: Int
    let isRetired: Bool
  }

  /// The record at an offset of a pack, or nil when there is none that can be relied on.
  static func read(_ pack: UnsafeRawBufferPointer, at offset: Int, salt: UInt64) -> Found? {
    guard let place = place(pack, at: offset, salt: salt),
      let kind = RecordKind(rawValue: place.start.load(fromByteOffset: 4, as: UInt8.self))
    else { return nil }
    let start = place.start
    let name = UnsafeRawBufferPointer(start: start + size, count: place.keyLength)
    let header = RecordHeader(
      kind: kind, shape: shape(start), keyLength: place.keyLength,
      hash: KeyHash(kind, name), sequence: word(start, 16),
      payloadLength: place.payloadLength, payloadChecksum: word(start, 40))
    return Found(
      header: header, offset: offset, payload: place.payload, end: place.end, isRetired: place.isRetired)
  }

  private struct Place {
    let start: UnsafeRawPointer
    let isRetired: Bool
    let keyLength: Int
    let payload: Int
    let payloadLength: Int
    let end: Int
  }

  /// What has been checked of a record that can be relied on.
  @inline(__always)
  private static func place(_ pack: UnsafeRawBufferPointer, at offset: Int, salt: UInt64) -> Place? {
    guard offset >= 0, offset & 7 == 0, offset <= pack.count - size, let base = pack.baseAddress else {
      return nil
    }
    let start = base + offset
    // Another process may retire it at this moment.
    let state = nhs_load32(start)
    guard state == valid || state == retired else { return nil }
    let keyLength = Int(UInt16(littleEndian: start.load(fromByteOffset: 6, as: UInt16.self)))
    guard let payloadLength = Int(exactly: word(start, 24)), keyLength > 0,
      let extent = extent(at: offset, keyLength: keyLength, payloadLength: payloadLength),
      extent.payload + payloadLength <= pack.count, offset + size + keyLength <= pack.count,
      checksum(start, keyLength: keyLength, at: offset, salt: salt) == word(start, 8)
    else { return nil }
    return Place(
      start: start, isRetired: state == retired, keyLength: keyLength, payload: extent.payload,
      payloadLength: payloadLength, end: extent.end)
  }

  @inline(__always)
  private static func shape(_ start: UnsafeRawPointer) -> PayloadShape {
    PayloadShape(
      form: start.load(fromByteOffset: 5, as: UInt8.self),
      width: UInt32(littleEndian: start.load(fromByteOffset: 32, as: UInt32.self)),
      height: UInt32(littleEndian: start.load(fromByteOffset: 36, as: UInt32.self)))
  }

  @inline(__always)
  private static func word(_ start: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: start.load(fromByteOffset: offset, as: UInt64.self))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a number in little-endian order.
  @inline(__always)
  func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
