/// The name of a box, of a kind of item or of a brand: four bytes.
struct BoxName: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  let code: UInt32

  init(_ code: Int) { self.code = UInt32(truncatingIfNeeded: code) }

  init(stringLiteral text: StaticString) {
    code = text.withUTF8Buffer { $0.reduce(0) { $0 << 8 | UInt32($1) } }
  }

  var description: String {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
    guard bytes.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return "0x" + String(code, radix: 16) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A box that was collected: what it contains, and the offset of that in the file.
struct MediaBox: Sendable {
  let name: BoxName
  let bytes: [UInt8]
  let place: Int

  /// Reads the contents. Faults name the box and their place.
  func read<Result>(_ body: (inout BoxReader) throws(ImageFault) -> Result) throws(ImageFault) -> Result {
    try read(place..<place + bytes.count, as: name, body)
  }

  /// Reads a box inside this one, whose contents are at this range of the file.
  func read<Result>(
    _ range: Range<Int>, as name: BoxName, _ body: (inout BoxReader) throws(ImageFault) -> Result
  ) throws(ImageFault) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(ImageFault) in
      let part = UnsafeRawBufferPointer(
        UnsafeBufferPointer(rebasing: bytes[range.lowerBound - place..<range.upperBound - place]))
      var reader = BoxReader(name, part, place: range.lowerBound)
      return try body(&reader)
    }
  }
}

/// Reads big-endian numbers of a box, and never beyond its end.
struct BoxReader {
  let name: BoxName
  private let bytes: UnsafeRawBufferPointer
  /// The offset of the contents in the file.
  private let start: Int
  private var position = 0

  init(_ name: BoxName, _ bytes: UnsafeRawBufferPointer, place: Int) {
    self.name = name
    self.bytes = bytes
    start = place
  }

  var left: Int { bytes.count - position }

  /// The offset in the file.
  var place: Int { start + position }

  func fault(_ message: String) -> ImageFault {
    ImageFault(.corrupt, "the box \(name) \(message)", at: place)
  }

  /// Returns a number of 0 to 8 bytes.
  mutating func number(_ count: Int) throws(ImageFault) -> Int {
    guard count <= left else { throw fault("ends too early") }
    var value: UInt64 = 0
    for place in position..<position + count { value = value << 8 | UInt64(bytes[place]) }
    position += count
    guard value <= UInt64(Int.max) else { throw fault("has a number that is too large") }
    return Int(value)
  }

  mutating func readName() throws(ImageFault) -> BoxName { BoxName(try number(4)) }

  mutating func skip(_ count: Int) throws(ImageFault) {
    guard count >= 0, count <= left else { throw fault("ends too early") }
    position += count
  }

  /// Returns the version, and skips the flags.
  mutating func version() throws(ImageFault) -> (version: Int, flags: Int) {
    let both = try number(4)
    return (both >> 24, both & 0xFF_FFFF)
  }

  /// Returns the rest of the contents.
  func rest() -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[position...]) }

  /// Returns the next box inside this one; nil at the end.
  mutating func box() throws(ImageFault) -> BoxReader? {
    guard left > 0 else { return nil }
    let start = position
    var size = try number(4)
    let inner = try readName()
    if size == 1 { size = try number(8) }
    if size == 0 { size = bytes.count - start }
    guard size >= position - start, size <= bytes.count - start else {
      throw ImageFault(
        .corrupt, "the box \(inner) of \(size) bytes doesn't fit into the box \(name)",
        at: self.start + start)
    }
    let contents = UnsafeRawBufferPointer(rebasing: bytes[position..<start + size])
    let reader = BoxReader(inner, contents, place: self.start + position)
    position = start + size
    return reader
  }

  /// Returns the first box with one of these names along a path; nil if there is none.
  func first(_ path: BoxName...) throws(ImageFault) -> BoxReader? {
    var found = self
    for name in path {
      var next: BoxReader?
      while let inner = try found.box() {
        guard inner.name == name else { continue }
        next = inner
        break
      }
      guard let next else { return nil }
      found = next
    }
    return found
  }
}
