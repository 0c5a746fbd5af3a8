extension PixelBuffer {
  /// Returns the picture, or a part of it, in another size.
  public func resampled(to target: ImageSize, crop: ImageRect? = nil) throws(ImageFault) -> PixelBuffer {
    let resampler = try RowResampler(
      source: size, crop: crop ?? ImageRect(size), target: target, opaque: isOpaque)
    try resampler.push(rows: pixels, count: height, stride: stride)
    return try resampler.finish()
  }
}
