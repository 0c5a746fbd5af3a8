import CSystem

/// The SHA-256 of some bytes. Bodies are stored under it.
struct Digest: Hashable, Sendable {
  static let size = Int(nhs_sha256_size)

  let bytes: [UInt8]

  /// The digest of these bytes.
  init(of content: UnsafeRawBufferPointer) {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    nhs_sha256(content.baseAddress, content.count, &bytes)
    self.bytes = bytes
  }

  /// A digest that was computed before. Returns nil if it isn't 32 bytes.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = Array(bytes)
  }
}
