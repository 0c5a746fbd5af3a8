import CSystem
import Glibc

/// The first 48 bytes of a record (docs/FORMAT.md, "A record").
struct RecordHeader {
  static let size = 48
  /// The alignment of payloads, enough for any vector instruction. A larger one would waste room.
  static let alignment = 16
  /// `NHR1` and `NHRx` as little-endian numbers.
  static let valid: UInt32 = 0x3152_484E
  static let retired: UInt32 = 0x7852_484E

  var kind: RecordKind
  var shape: PayloadShape
  var keyLength: Int
  var hash: KeyHash
  var sequence: UInt64
  var payloadLength: Int
  var payloadChecksum: UInt64

  /// Returns the offsets of a record's parts in its pack, or nil if they overflow.
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

  /// Writes header, key and zeros into `bytes`, which end where the payload begins.
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
    bytes.store(nhs_record_checksum(base, keyLength, offset, salt), at: 8)
  }
}

extension RecordHeader {
  /// A record that was found in a pack, with an intact header.
  struct Found {
    let header: RecordHeader
    let offset: Int
    let payload: Int
    let end: Int
    let isRetired: Bool
  }

  /// Returns the record at an offset of a pack, or nil if its header isn't intact.
  static func read(_ pack: UnsafeRawBufferPointer, at offset: Int, salt: UInt64) -> Found? {
    var found = nhs_record()
    guard nhs_read_record(pack.baseAddress, pack.count, offset, salt, &found) == 1,
      let kind = RecordKind(rawValue: found.kind)
    else { return nil }
    let name = UnsafeRawBufferPointer(rebasing: pack[(offset + size)...].prefix(Int(found.key_length)))
    let header = RecordHeader(
      kind: kind, shape: PayloadShape(found), keyLength: name.count, hash: KeyHash(kind, name),
      sequence: found.sequence, payloadLength: found.length, payloadChecksum: found.checksum)
    return Found(
      header: header, offset: offset, payload: found.payload, end: (found.payload + found.length + 7) & ~7,
      isRetired: found.is_retired != 0)
  }
}

extension PayloadShape {
  /// The shape of a record in a pack.
  @inline(__always)
  init(_ record: nhs_record) {
    self.init(form: record.form, width: record.width, height: record.height)
  }
}

extension UnsafeRawBufferPointer {
  /// Returns the little-endian number at `offset`, or 0 beyond the end.
  func word(_ offset: Int) -> UInt64 {
    guard offset >= 0, offset + 8 <= count else { return 0 }
    return UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}

extension UnsafeMutableRawBufferPointer {
  /// Stores a number in little-endian order.
  @inline(__always)
  func store<Number: FixedWidthInteger>(_ value: Number, at offset: Int) {
    storeBytes(of: value.littleEndian, toByteOffset: offset, as: Number.self)
  }
}
