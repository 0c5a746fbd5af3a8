import NuthatchImaging

/// Decoded pixels and facts about their source, without a URL: several answers may share one picture.
final class Picture: Sendable {
  let payload: SharedBytes
  let width: Int
  let height: Int
  /// The size of the source, after its orientation was applied.
  let originalSize: ImageSize
  /// What the source says of itself.
  let facts: PictureFacts
  let isPartial: Bool
  /// The pixels for encoding; nil for pixels in the store.
  private let buffer: PixelBuffer?

  /// Whether the pixels are in private memory, not in a mapped pack.
  var ownsPixels: Bool { buffer != nil }

  init(
    payload: SharedBytes, width: Int, height: Int, originalSize: ImageSize, facts: PictureFacts,
    isPartial: Bool
  ) {
    self.payload = payload
    self.width = width
    self.height = height
    self.originalSize = originalSize
    self.facts = facts
    self.isPartial = isPartial
    buffer = nil
  }

  init(_ pixels: PixelBuffer, originalSize: ImageSize, facts: PictureFacts, isPartial: Bool) {
    payload = SharedBytes(pixels)
    width = pixels.width
    height = pixels.height
    self.originalSize = originalSize
    self.facts = facts
    self.isPartial = isPartial
    buffer = pixels
  }

  /// Returns the pixels for encoding; pixels in the store are copied.
  func pixels() throws(ImageFault) -> PixelBuffer {
    if let buffer { return buffer }
    let copy = try payload.withBytes { (bytes) throws(ImageFault) in
      try PixelBuffer(size: ImageSize(width: width, height: height), rgba: bytes)
    }
    guard !payload.isBroken else { throw ImageFault(.corrupt, "the pixels can't be read from the disk") }
    return copy
  }
}

extension Picture {
  /// Whether bytes are a picture of any format, by their first bytes.
  static func isPicture(_ answer: ImageProbe.Answer) -> Bool {
    switch answer {
    case .found, .unsupported: true
    case .fault(let fault): fault.kind != .notAnImage
    case .needMore, .notAnImage: false
    }
  }

  /// Returns the error if the first bytes show that the picture can't be decoded.
  static func fault(_ answer: ImageProbe.Answer) -> ImageFault {
    switch answer {
    case .unsupported(let format):
      ImageFault(.unsupportedFormat(format.rawValue), "\(format.rawValue) isn't decoded", at: 0)
    case .fault(let fault): fault
    case .notAnImage, .found, .needMore: ImageFault(.notAnImage, "the bytes are not a picture")
    }
  }
}
