import NuthatchImaging

/// Decoded pixels and what is known of their source, without a URL: several answers may share one.
final class Picture: Sendable {
  let payload: SharedBytes
  let width: Int
  let height: Int
  /// The upright source's.
  let originalSize: ImageSize
  let isPartial: Bool
  /// What to encode from; nil for pixels that lie in the store.
  private let buffer: PixelBuffer?

  /// Whether the pixels are private memory, and not part of a pack.
  var ownsPixels: Bool { buffer != nil }

  init(
    payload: SharedBytes, width: Int, height: Int, originalSize: ImageSize, isPartial: Bool
  ) {
    self.payload = payload
    self.width = width
    self.height = height
    self.originalSize = originalSize
    self.isPartial = isPartial
    buffer = nil
  }

  init(_ pixels: PixelBuffer, originalSize: ImageSize, isPartial: Bool) {
    payload = SharedBytes(pixels)
    width = pixels.width
    height = pixels.height
    self.originalSize = originalSize
    self.isPartial = isPartial
    buffer = pixels
  }

  /// The pixels to encode from; copied when they lie in the store.
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
  /// Whether bytes are a picture, of whatever format, by what they begin with.
  static func isOne(_ answer: ImageProbe.Answer) -> Bool {
    switch answer {
    case .found, .unsupported: true
    case .fault(let fault): fault.kind != .notAnImage
    case .needMore, .notAnImage: false
    }
  }

  /// Why there will be no picture, from what the probe says of its first bytes.
  static func fault(_ answer: ImageProbe.Answer) -> ImageFault {
    switch answer {
    case .unsupported(let format):
      ImageFault(.unsupportedFormat(format.rawValue), "\(format.rawValue) isn't decoded", at: 0)
    case .fault(let fault): fault
    case .notAnImage, .found, .needMore: ImageFault(.notAnImage, "the bytes are no picture")
    }
  }
}
