/// Writes the parts of a record one after the other: numbers little-endian, bytes with their length first.
struct RecordEncoder {
  private(set) var bytes: [UInt8] = []

  /// - Parameter capacity: the number of bytes that can be written without moving them.
  init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  mutating func put(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.littleEndian) { bytes.append(contentsOf: $0) }
  }

  mutating func put(_ content: some Collection<UInt8>) {
    put(UInt32(clamping: content.count))
    bytes.append(contentsOf: content)
  }

  mutating func put(_ text: String) { put(text.utf8) }

  /// Appends bytes without their length.
  mutating func append(_ content: some Sequence<UInt8>) { bytes.append(contentsOf: content) }
}

/// Reads what a `RecordEncoder` wrote. Records come from files, so every step may fail.
struct RecordDecoder {
  struct Damaged: Error {}

  private let bytes: UnsafeRawBufferPointer
  private var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  var isAtEnd: Bool { offset == bytes.count }

  mutating func number<Number: FixedWidthInteger>(_: Number.Type = Number.self) throws(Damaged) -> Number {
    let size = MemoryLayout<Number>.size
    guard bytes.count - offset >= size else { throw Damaged() }
    defer { offset += size }
    return Number(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Number.self))
  }

  mutating func content() throws(Damaged) -> UnsafeRawBufferPointer {
    let length = Int(try number(UInt32.self))
    guard bytes.count - offset >= length else { throw Damaged() }
    defer { offset += length }
    return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + length])
  }

  mutating func text() throws(Damaged) -> String {
    let bytes = try content()
    // Almost all text is ASCII and needs no validation, which takes ten times as long as this check.
    guard !bytes.allSatisfy({ $0 < 0x80 }) else { return String(decoding: bytes, as: UTF8.self) }
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Damaged() }
    return text
  }

  /// Returns the next text if it is printable ASCII; else nil, and the text isn't consumed.
  mutating func printableText() throws(Damaged) -> String? {
    let start = offset
    let bytes = try content()
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else {
      offset = start
      return nil
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
