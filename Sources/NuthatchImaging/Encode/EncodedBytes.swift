import CSystem
import Glibc

/// The bytes of an encoded picture, freed with this object. Sendable, because they never change.
public final class EncodedBytes: @unchecked Sendable {
  /// The number of bytes.
  public let count: Int
  /// The first byte's address, valid as long as this object.
  public let baseAddress: UnsafeRawPointer
  private let memory: UnsafeMutablePointer<UInt8>

  /// Takes ownership of an encoder's result, or throws its error.
  init(limit: Int, _ encode: (inout nhs_encoded) -> Void) throws(ImageFault) {
    var out = nhs_encoded()
    out.limit = max(0, limit)
    encode(&out)
    guard out.status == NHS_ENCODE_OK, let bytes = out.bytes else {
      free(out.bytes)
      throw Self.fault(of: out)
    }
    // Free the unused capacity. If that fails, keep it.
    let memory = realloc(bytes, out.size)?.assumingMemoryBound(to: UInt8.self) ?? bytes
    self.memory = memory
    baseAddress = UnsafeRawPointer(memory)
    count = out.size
  }

  deinit { free(memory) }

  /// Runs `body` with the bytes.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: baseAddress, count: count))
  }

  private static func fault(of out: nhs_encoded) -> ImageFault {
    let message = Swift.withUnsafeBytes(of: out.message) { bytes in
      String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
    switch Int(out.status) {
    case NHS_ENCODE_NO_MEMORY: return ImageFault(.outOfMemory, message)
    case NHS_ENCODE_OVER_LIMIT: return ImageFault(.tooLarge, message)
    default: return ImageFault(.invalid, message.isEmpty ? "nothing was encoded" : message)
    }
  }
}
