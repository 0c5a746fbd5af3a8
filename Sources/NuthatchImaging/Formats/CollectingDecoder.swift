/// Collects a picture, and decodes it at the end.
final class CollectingDecoder: PictureDecoder {
  struct Decoded {
    var pictures: [PixelBuffer]
    var report = DecodeReport()
    var warnings: [String] = []
  }

  private let decode: (UnsafeRawBufferPointer) throws(ImageFault) -> Decoded
  private var collected = ByteStore()
  private var borrowed: UnsafeRawBufferPointer?
  private var isAtEnd = false
  private(set) var report = DecodeReport()
  private(set) var warnings: [String] = []

  init(_ decode: @escaping (UnsafeRawBufferPointer) throws(ImageFault) -> Decoded) {
    self.decode = decode
  }

  func borrow(_ bytes: UnsafeRawBufferPointer) {
    borrowed = bytes
    end()
  }

  func begin(_ bytes: consuming ByteStore) { collected = bytes }

  func feed(_ bytes: UnsafeRawBufferPointer) throws(ImageFault) { try collected.append(bytes) }

  func end() { isAtEnd = true }

  func advance() -> DecodeProgress { isAtEnd ? .done : .needMore }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    let decoded = try decode(borrowed ?? collected.bytes)
    report = decoded.report
    warnings = decoded.warnings
    return decoded.pictures
  }
}
