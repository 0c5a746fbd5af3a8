import NuthatchImaging

/// File formats for encoded images.
public enum EncodedFormat: Sendable, Equatable {
  /// Lossless. `small` makes a smaller file, but takes much longer; use it for files that are kept or sent.
  case png(small: Bool = false)
  /// Quality 1…100; transparent pixels are drawn on white.
  case jpeg(quality: Int = 92)
  /// Lossy, quality 1…100. Transparency is exact.
  case webp(quality: Int = 90)
  /// Lossless. `small` makes a smaller file, but takes much longer.
  case losslessWebP(small: Bool = false)
}

/// The bytes of an encoded image, valid as long as this object.
public final class EncodedImage: Sendable {
  private let bytes: EncodedBytes

  fileprivate init(_ bytes: EncodedBytes) { self.bytes = bytes }

  /// The number of bytes.
  public var count: Int { bytes.count }

  /// Calls `use` with the bytes, which are valid as long as this object.
  public func withBytes<Result, Failure: Error>(
    _ use: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try bytes.withUnsafeBytes(use)
  }
}

extension Image {
  /// Encodes the image as a file.
  ///
  /// - Throws: `invalid` for a quality outside 1…100 or sides that the format can't have; `out_of_memory`.
  public func encoded(as format: EncodedFormat) throws(NuthatchError) -> EncodedImage {
    do throws(ImageFault) {
      let pixels = try picture.pixels()
      switch format {
      case .png(let small): return EncodedImage(try pixels.encodedPNG(small ? .small : .fast))
      case .jpeg(let quality): return EncodedImage(try pixels.encodedJPEG(quality: quality, onWhite: true))
      case .webp(let quality): return EncodedImage(try pixels.encodedWebP(.lossy(quality: quality)))
      case .losslessWebP(let small): return EncodedImage(try pixels.encodedWebP(small ? .small : .fast))
      }
    } catch {
      throw NuthatchError(error, url: url)
    }
  }
}
