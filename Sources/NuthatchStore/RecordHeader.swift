import CSystem

/// The fixed part of a record (docs/FORMAT.md, "A record").
struct RecordHeader {
  static let size = 64
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
  static func extent(at offset: Int, keyLength: Int, payloadLength: Int) -> (payload: Int, end: Int)? {
    let (head, tooFar) = offset.addingReportingOverflow(size + keyLength + 63)
    guard !tooFar, keyLength >= 0, payloadLength >= 0 else { return nil }
    let payload = head & ~63
    let (sum, tooLong) = payload.addingReportingOverflow(payloadLength)
    let (end, tooLate) = sum.addingReportingOverflow(7)
    guard !tooLong, !tooLate else { return nil }
    return (payload, end & ~7)
  }

  /// Header and key as bytes, with zeros up to the payload.
  func encoded(key: UnsafeRawBufferPointer, at offset: Int, upTo payload: Int, salt: UInt64) -> [UInt8] {
    let count = payload - offset
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
      let bytes = UnsafeMutableRawBufferPointer(buffer)
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
      bytes.store(Self.valid, at: 0)
      bytes.store(kind.rawValue, at: 4)
      bytes.store(shape.form, at: 5)
      bytes.store(UInt16(truncatingIfNeeded: keyLength), at: 6)
      bytes.store(hash.low, at: 8)
      bytes.store(hash.high, at: 16)
      bytes.store(sequence, at: 24)
      bytes.store(UInt64(payloadLength), at: 32)
      bytes.store(shape.width, at: 40)
      bytes.store(shape.height, at: 44)
      bytes.store(payloadChecksum, at: 48)
      bytes[Self.size..<Self.size + key.count].copyBytes(from: key)
      let sum = Self.checksum(UnsafeRawBufferPointer(bytes), keyLength: keyLength, at: offset, salt: salt)
      bytes.store(sum, at: 56)
      initialized = count
    }
  }

  /// Bytes 4–55 and the key. They aren't neighbours, so the hash of the first seeds that of the second.
  private static func checksum(_ record: UnsafeRawBufferPointer, keyLength: Int, at offset: Int, salt: UInt64)
    -> UInt64
  {
    guard let base = record.baseAddress else { return 0 }
    let front = nhs_hash64(base + 4, 52, salt &+ UInt64(truncatingIfNeeded: offset))
    return nhs_hash64(base + size, keyLength, front)
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
    guard offset >= 0, offset & 7 == 0, offset <= pack.count - size, let base = pack.baseAddress else {
      return nil
    }
    let start = base + offset
    // Another process may retire it at this moment.
    let state = nhs_load32(start)
    guard state == valid || state == retired else { return nil }
    guard let kind = RecordKind(rawValue: start.load(fromByteOffset: 4, as: UInt8.self)) else { return nil }
    let keyLength = Int(UInt16(littleEndian: start.load(fromByteOffset: 6, as: UInt16.self)))
    guard let payloadLength = Int(exactly: word(start, 32)), keyLength > 0,
      let extent = extent(at: offset, keyLength: keyLength, payloadLength: payloadLength),
      extent.payload + payloadLength <= pack.count, offset + size + keyLength <= pack.count
    else { return nil }
    let record = UnsafeRawBufferPointer(start: start, count: size + keyLength)
    guard checksum(record, keyLength: keyLength, at: offset, salt: salt) == word(start, 56) else {
      return nil
    }
    let header = RecordHeader(
      kind: kind,
      shape: PayloadShape(
        form: start.load(fromByteOffset: 5, as: UInt8.self),
        width: UInt32(littleEndian: start.load(fromByteOffset: 40, as: UInt32.self)),
        height: UInt32(littleEndian: start.load(fromByteOffset: 44, as: UInt32.self))),
      keyLength: keyLength, hash: KeyHash(low: word(start, 8), high: word(start, 16)),
      sequence: word(start, 24),
      payloadLength: payloadLength, payloadChecksum: word(start, 48))
    return Found(
      header: header, offset: offset, payload: extent.payload, end: extent.end, isRetired: state == retired)
  }

  @inline(__always)
  private static func word(_ start: UnsafeRawPointer, _ offset: Int) -> UInt64 {
    UInt64(littleEndian: start.load(fromByteOffset: offset, as: UInt64.self))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a number in little-endian order.
  func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
