/// Collects a picture, and decodes it at the end.
final class CollectingDecoder: KeepsInput {
  struct Decoded {
    var pictures: [PixelBuffer]
    var report = DecodeReport()
    var warnings: [String] = []
  }

  private let decode: (UnsafeRawBufferPointer) throws(ImageFault) -> Decoded
  let input = KeptInput()
  private(set) var report = DecodeReport()
  private(set) var warnings: [String] = []

  init(_ decode: @escaping (UnsafeRawBufferPointer) throws(ImageFault) -> Decoded) {
    self.decode = decode
  }

  func advance() -> DecodeProgress { input.isAtEnd ? .done : .needMore }

  func finish() throws(ImageFault) -> [PixelBuffer] {
    let decoded = try decode(input.bytes)
    report = decoded.report
    warnings = decoded.warnings
    return decoded.pictures
  }
}
