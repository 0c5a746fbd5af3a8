import NuthatchImaging
import NuthatchStore

/// Bytes that don't move: received, leased from the store, or decoded. `owner` keeps them.
///
/// They never change, hence Sendable.
struct SharedBytes: @unchecked Sendable {
  /// Keeps the bytes alive.
  private enum Owner {
    case none
    case received(ByteBuffer)
    // In a box, because a lease is large and these bytes are copied often.
    indirect case stored(Lease)
    case pixels(PixelBuffer)
    case encoded(EncodedBytes)
  }

  let bytes: UnsafeRawBufferPointer
  private let owner: Owner

  static let empty = SharedBytes(bytes: UnsafeRawBufferPointer(start: nil, count: 0), owner: .none)

  private init(bytes: UnsafeRawBufferPointer, owner: Owner) {
    self.bytes = bytes
    self.owner = owner
  }

  /// Received bytes; no more may be added to the buffer.
  init(_ received: ByteBuffer) { self.init(bytes: received.contents, owner: .received(received)) }

  /// A record, from `offset` on.
  init(_ lease: Lease, from offset: Int = 0) {
    let bytes = lease.unsafeBytes
    self.init(
      bytes: offset <= bytes.count
        ? UnsafeRawBufferPointer(rebasing: bytes[offset...]) : .init(start: nil, count: 0),
      owner: .stored(lease))
  }

  /// The pixels of a picture.
  init(_ pixels: PixelBuffer) {
    self.init(
      bytes: UnsafeRawBufferPointer(start: pixels.baseAddress, count: pixels.byteCount),
      owner: .pixels(pixels))
  }

  /// An encoded picture.
  init(_ encoded: EncodedBytes) {
    self.init(
      bytes: UnsafeRawBufferPointer(start: encoded.baseAddress, count: encoded.count),
      owner: .encoded(encoded))
  }

  /// Returns the bytes in the range; none for the part of the range that is beyond the end.
  func part(_ range: Range<Int64>) -> SharedBytes {
    let wanted = Int(clamping: max(0, range.lowerBound))..<Int(clamping: max(0, range.upperBound))
    return SharedBytes(
      bytes: UnsafeRawBufferPointer(rebasing: bytes[wanted.clamped(to: 0..<count)]), owner: owner)
  }

  var count: Int { bytes.count }

  /// Whether some of the bytes couldn't be read from the disk, and may be zeros. Check it after reading.
  var isBroken: Bool {
    switch owner {
    case .stored(let lease): lease.isBroken
    case .received(let received): received.isBroken
    case .none, .pixels, .encoded: false
    }
  }

  /// Calls `use` with the bytes, which are kept alive during the call.
  func withBytes<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { withExtendedLifetime(owner) {} }
    return try use(bytes)
  }
}
