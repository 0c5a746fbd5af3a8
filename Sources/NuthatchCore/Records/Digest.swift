import CSystem

/// The SHA-256 of some bytes: what bodies are named by.
struct Digest: Hashable, Sendable {
  static let size = Int(nhs_sha256_size)

  let bytes: [UInt8]

  /// Of those bytes.
  init(of content: UnsafeRawBufferPointer) {
    var bytes = [UInt8](repeating: 0, count: Self.size)
    nhs_sha256(content.baseAddress, content.count, &bytes)
    self.bytes = bytes
  }

  /// One that was computed before. Nil for anything that isn't 32 bytes.
  init?(_ bytes: some Collection<UInt8>) {
    guard bytes.count == Self.size else { return nil }
    self.bytes = Array(bytes)
  }
}
