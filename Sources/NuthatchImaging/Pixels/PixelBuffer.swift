import Glibc

/// A finished picture: 8-bit RGBA, sRGB, straight alpha, upright, no row padding.
///
/// Immutable once it is handed out, hence Sendable; its bytes are lent without a copy.
public final class PixelBuffer: @unchecked Sendable {
  /// Columns, at least 1.
  public let width: Int
  /// Rows, at least 1.
  public let height: Int
  /// Whether every pixel is known to have alpha 255. A picture that isn't known to be may still be opaque.
  public let isOpaque: Bool
  // Written only by whoever makes the buffer, before anybody else can see it.
  let pixels: UnsafeMutablePointer<UInt8>

  /// Bytes from one row to the next: always four times the width.
  public var stride: Int { width * 4 }
  /// Bytes in all.
  public var byteCount: Int { stride * height }
  /// Width and height.
  public var size: ImageSize { ImageSize(width: width, height: height) }

  /// Uninitialised pixels, for this room to fill before handing them out.
  init(uninitialized size: ImageSize, opaque: Bool) throws(ImageFault) {
    let (bytes, overflow) = size.area.multipliedReportingOverflow(by: 4)
    guard size.width > 0, size.height > 0 else { throw ImageFault(.invalid, "a picture of \(size)") }
    guard !overflow, let memory = malloc(bytes) else {
      throw ImageFault(.outOfMemory, "no memory for a picture of \(size)")
    }
    self.pixels = memory.bindMemory(to: UInt8.self, capacity: bytes)
    self.width = size.width
    self.height = size.height
    self.isOpaque = opaque
  }

  /// A picture from the bytes of its pixels, straight RGBA, row after row.
  public convenience init(size: ImageSize, rgba: UnsafeRawBufferPointer, opaque: Bool = false)
    throws(ImageFault)
  {
    try self.init(uninitialized: size, opaque: opaque)
    guard rgba.count == byteCount, let source = rgba.baseAddress else {
      throw ImageFault(.invalid, "\(rgba.count) bytes for a picture of \(size)")
    }
    memcpy(pixels, source, byteCount)
    if opaque { fillAlpha() }
  }

  deinit { free(pixels) }

  /// The pixels, for as long as the closure runs.
  public func withUnsafeBytes<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: pixels, count: byteCount))
  }

  /// The first pixel's address, valid as long as this object is held.
  public var baseAddress: UnsafeRawPointer { UnsafeRawPointer(pixels) }

  /// Makes every pixel opaque; only before the buffer is handed out.
  func fillAlpha() {
    for i in Swift.stride(from: 3, to: byteCount, by: 4) { pixels[i] = 255 }
  }
}
