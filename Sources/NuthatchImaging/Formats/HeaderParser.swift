/// Parses a picture's bytes up to the pixels, in the pieces that it asks for.
protocol HeaderParser: Sendable {
  /// The first step.
  var first: HeaderStep { get }

  /// The stored size, as soon as it is known.
  var size: ImageSize? { get }

  /// The ICC profile, if it was asked for and is complete.
  var profile: [UInt8]? { get }

  /// Takes the bytes that the last step asked for. They end at the offset `end` of the file.
  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep
}

/// The next step of a header parser. Small reads allow input in pieces of any size.
enum HeaderStep {
  /// Skip `skip` bytes, then collect `count` (at most 64 KiB).
  case read(skip: Int, count: Int)
  case found(ImageInfo)
  case fault(ImageFault)
}

extension UnsafeRawBufferPointer {
  /// A big-endian 16-bit number; the caller has checked the bounds.
  func bigEndian16(at offset: Int) -> Int {
    Int(self[offset]) << 8 | Int(self[offset + 1])
  }

  /// A big-endian 32-bit number; the caller has checked the bounds.
  func bigEndian32(at offset: Int) -> Int {
    bigEndian16(at: offset) << 16 | bigEndian16(at: offset + 2)
  }
}
