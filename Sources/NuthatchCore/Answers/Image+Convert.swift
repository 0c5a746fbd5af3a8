import Glibc

/// Pixel formats that an image's RGBA can be converted to. For a format without alpha, transparent pixels are drawn on white.
public enum PixelFormat: Int32, Sendable, CaseIterable {
  /// Straight alpha, as in the image.
  case rgba = 1
  case bgra = 2
  /// Colours multiplied by alpha.
  case premultipliedRGBA = 3
  case premultipliedBGRA = 4
  case rgb = 5
  case bgr = 6
  /// One byte a pixel: 0.299 R + 0.587 G + 0.114 B.
  case grey = 7

  /// Bytes of a pixel.
  public var bytesPerPixel: Int {
    switch self {
    case .rgba, .bgra, .premultipliedRGBA, .premultipliedBGRA: 4
    case .rgb, .bgr: 3
    case .grey: 1
    }
  }
}

extension Image {
  /// Writes the pixels in another format.
  ///
  /// - Parameters:
  ///   - target: gets the pixels; bytes between rows aren't changed.
  ///   - stride: bytes from one row to the next; nil for no space between them.
  /// - Throws: `invalid` if the target is too small or the stride shorter than a row.
  public func convert(
    to format: PixelFormat, into target: UnsafeMutableRawBufferPointer, stride: Int? = nil
  ) throws(NuthatchError) {
    let row = width * format.bytesPerPixel
    let step = stride ?? row
    guard step >= row else {
      throw NuthatchError(.invalid, "the stride is \(step) bytes, but a row has \(row)")
    }
    let (before, overflow) = step.multipliedReportingOverflow(by: height - 1)
    guard !overflow, let base = target.baseAddress, before <= target.count - row else {
      throw NuthatchError(
        .invalid, "the buffer has \(target.count) bytes, too few for \(height) rows of \(step) bytes")
    }
    withPixels { pixels in
      guard let source = pixels.baseAddress else { return }
      for y in 0..<height {
        convertRow(
          source + y * self.stride, to: base + y * step, count: width, format)
      }
    }
  }
}

/// `convert` has checked that the pointers stay in bounds.
private func convertRow(
  _ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, count: Int, _ format: PixelFormat
) {
  let from = source.assumingMemoryBound(to: UInt8.self)
  let to = target.assumingMemoryBound(to: UInt8.self)
  switch format {
  case .rgba:
    memcpy(target, source, count * 4)
  case .bgra:
    for x in 0..<count {
      let (p, q) = (from + 4 * x, to + 4 * x)
      (q[0], q[1], q[2], q[3]) = (p[2], p[1], p[0], p[3])
    }
  case .premultipliedRGBA:
    for x in 0..<count {
      let (p, q) = (from + 4 * x, to + 4 * x)
      let alpha = UInt32(p[3])
      (q[0], q[1], q[2], q[3]) = (times(p[0], alpha), times(p[1], alpha), times(p[2], alpha), p[3])
    }
  case .premultipliedBGRA:
    for x in 0..<count {
      let (p, q) = (from + 4 * x, to + 4 * x)
      let alpha = UInt32(p[3])
      (q[0], q[1], q[2], q[3]) = (times(p[2], alpha), times(p[1], alpha), times(p[0], alpha), p[3])
    }
  case .rgb:
    for x in 0..<count {
      let (p, q) = (from + 4 * x, to + 3 * x)
      let alpha = UInt32(p[3])
      (q[0], q[1], q[2]) = (onWhite(p[0], alpha), onWhite(p[1], alpha), onWhite(p[2], alpha))
    }
  case .bgr:
    for x in 0..<count {
      let (p, q) = (from + 4 * x, to + 3 * x)
      let alpha = UInt32(p[3])
      (q[0], q[1], q[2]) = (onWhite(p[2], alpha), onWhite(p[1], alpha), onWhite(p[0], alpha))
    }
  case .grey:
    for x in 0..<count {
      let p = from + 4 * x
      let alpha = UInt32(p[3])
      let (red, green, blue) = (onWhite(p[0], alpha), onWhite(p[1], alpha), onWhite(p[2], alpha))
      // The weights in 65536ths; their sum is exactly 65536.
      to[x] = UInt8(
        truncatingIfNeeded: (19595 * UInt32(red) + 38470 * UInt32(green) + 7471 * UInt32(blue) + 32768) >> 16)
    }
  }
}

/// value × alpha / 255, rounded.
@inline(__always)
private func times(_ value: UInt8, _ alpha: UInt32) -> UInt8 {
  let product = UInt32(value) &* alpha &+ 128
  return UInt8(truncatingIfNeeded: (product &+ (product >> 8)) >> 8)
}

@inline(__always)
private func onWhite(_ value: UInt8, _ alpha: UInt32) -> UInt8 {
  times(value, alpha) &+ UInt8(truncatingIfNeeded: 255 &- alpha)
}
