import Glibc

/// A finished picture: 8-bit RGBA, sRGB, straight alpha, upright, no row padding.
///
/// Sendable, because it is immutable once it is returned to a caller.
public final class PixelBuffer: @unchecked Sendable {
  /// Columns, at least 1.
  public let width: Int
  /// Rows, at least 1.
  public let height: Int
  /// Whether every pixel is known to have alpha 255. If false, the picture may still be opaque.
  public let isOpaque: Bool
  let pixels: UnsafeMutablePointer<UInt8>

  /// Bytes from one row to the next: always four times the width.
  public var stride: Int { width * 4 }
  /// Number of bytes.
  public var byteCount: Int { stride * height }
  /// Width and height.
  public var size: ImageSize { ImageSize(width: width, height: height) }

  init(uninitialized size: ImageSize, opaque: Bool) throws(ImageFault) {
    let (bytes, overflow) = size.area.multipliedReportingOverflow(by: 4)
    guard size.width > 0, size.height > 0 else {
      throw ImageFault(.invalid, "the picture's size is \(size), which is not allowed")
    }
    guard !overflow, let memory = malloc(bytes) else {
      throw ImageFault(.outOfMemory, "there is no memory for a picture of \(size)")
    }
    self.pixels = memory.bindMemory(to: UInt8.self, capacity: bytes)
    self.width = size.width
    self.height = size.height
    self.isOpaque = opaque
  }

  /// A picture from straight RGBA bytes, row after row.
  public convenience init(size: ImageSize, rgba: UnsafeRawBufferPointer, opaque: Bool = false)
    throws(ImageFault)
  {
    try self.init(uninitialized: size, opaque: opaque)
    guard rgba.count == byteCount, let source = rgba.baseAddress else {
      throw ImageFault(.invalid, "there are \(rgba.count) bytes, which is wrong for a picture of \(size)")
    }
    memcpy(pixels, source, byteCount)
    if opaque { fillAlpha() }
  }

  deinit { free(pixels) }

  /// Runs `body` with the pixels.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pixels, count: byteCount))
  }

  /// The first pixel's address, valid as long as this object.
  public var baseAddress: UnsafeRawPointer { UnsafeRawPointer(pixels) }

  /// Makes every pixel opaque. Call it only before the buffer is returned to a caller.
  func fillAlpha() {
    for i in Swift.stride(from: 3, to: byteCount, by: 4) { pixels[i] = 255 }
  }
}
