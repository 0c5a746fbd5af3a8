/// Parses a picture's bytes up to the pixels, in the pieces that it asks for.
protocol HeaderParser: Sendable {
  /// The first step.
  var first: HeaderStep { get }

  /// The stored size, as soon as it is known.
  var size: ImageSize? { get }

  /// The ICC profile, if it was asked for and is complete.
  var profile: [UInt8]? { get }

  /// What the decoder takes if the bytes end now; nil if it needs more of the header.
  var infoAtEnd: ImageInfo? { get }

  /// Takes the bytes that the last step asked for. They end at the offset `end` of the file.
  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep
}

extension HeaderParser {
  var infoAtEnd: ImageInfo? { nil }

  /// Calls `consume`, and returns the size that is known then. To read a property of an `any HeaderParser` copies all of it.
  mutating func step(_ bytes: UnsafeRawBufferPointer, end: Int) -> (HeaderStep, ImageSize?) {
    (consume(bytes, end: end), size)
  }
}

/// The next step of a header parser. Small reads allow input in pieces of any size.
enum HeaderStep {
  /// Skip `skip` bytes, then collect `count` (at most 64 KiB).
  case read(skip: Int, count: Int)
  case found(ImageInfo)
  case fault(ImageFault)
}

extension HeaderParser {
  /// Parses a picture whose header is known to be complete and valid. Returns where it ends.
  mutating func parse(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) -> Int {
    var step = first
    var end = 0
    while case .read(let skip, let count) = step {
      let start = end + skip
      end = start + count
      guard start >= 0, end <= bytes.count else {
        throw ImageFault(.truncated, "the picture ends within its header", at: bytes.count)
      }
      step = consume(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), end: end)
    }
    if case .fault(let fault) = step { throw fault }
    return end
  }
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

  /// A little-endian 16-bit number; the caller has checked the bounds.
  func littleEndian16(at offset: Int) -> Int {
    Int(self[offset]) | Int(self[offset + 1]) << 8
  }

  /// A little-endian 32-bit number; the caller has checked the bounds.
  func littleEndian24(at offset: Int) -> Int { littleEndian16(at: offset) | Int(self[offset + 2]) << 16 }

  func littleEndian32(at offset: Int) -> Int {
    littleEndian16(at: offset) | littleEndian16(at: offset + 2) << 16
  }
}
