import CSystem

/// The resolution of colour relative to brightness in a JPEG.
public enum JPEGChroma: Sendable {
  /// Full resolution: 4:4:4. The default.
  case full
  /// A quarter of the resolution: 4:2:0. A third smaller and faster; colours bleed at edges.
  case quarter
  /// A quarter if the loss is invisible, as in most photographs; full if colours meet at edges.
  case asSeen
}

/// The purpose of a PNG.
public enum PNGSetting: Sendable {
  /// Fast to write: RGB or RGBA, ISA-L's deflate. The default.
  case fast
  /// Small: libpng with zlib's best level; grey if all pixels are. Some fifty times slower.
  case small
}

/// How a WebP is encoded.
public enum WebPSetting: Sendable, Equatable {
  /// Quality 1…100. Alpha is exact, colours are not.
  case lossy(quality: Int)
  /// Exactly these pixels, with libwebp's level 0 (fast) to 9 (small).
  case lossless(level: Int)

  /// Level 0 takes a quarter of the time for a quarter more bytes, higher levels up to ten times as long for a fifth less.
  public static let fast = lossless(level: 1)
  /// Takes long to write.
  public static let small = lossless(level: 9)
}

extension PixelBuffer {
  /// The longest side of a WebP.
  public static let longestWebP = 16_383

  /// The default limit of an encoded picture: 64 MiB.
  public static let encodedLimit = 64 << 20

  /// Whether every pixel has alpha 255. Reads the pixels unless `isOpaque` is true.
  public var isFullyOpaque: Bool { isOpaque || nhs_all_opaque(shimPixels) != 0 }

  /// Encodes a baseline JPEG of quality 1…100. JPEG has no transparency: a transparent picture throws `invalid` unless it is
  /// blended `onWhite`. More than `limit` bytes throw `tooLarge`.
  public func encodedJPEG(
    quality: Int = 92, chroma: JPEGChroma = .full, onWhite: Bool = false, limit: Int = encodedLimit
  ) throws(ImageFault) -> EncodedBytes {
    guard (1...100).contains(quality) else {
      throw ImageFault(.invalid, "the JPEG quality is \(quality); it must be 1 to 100")
    }
    let opaque = isFullyOpaque
    guard opaque || onWhite else {
      throw ImageFault(.invalid, "the picture has transparency, which JPEG can't store")
    }
    let half =
      switch chroma {
      case .full: false
      case .quarter: true
      case .asSeen: nhs_colours_are_soft(shimPixels) != 0
      }
    return try EncodedBytes(limit: limit) { out in
      _ = nhs_encode_jpeg(&out, shimPixels, Int32(quality), half ? 1 : 0, opaque ? 0 : 1)
    }
  }

  /// Encodes a PNG with exactly these pixels. More than `limit` bytes throw `tooLarge`.
  public func encodedPNG(_ setting: PNGSetting = .fast, limit: Int = encodedLimit) throws(ImageFault)
    -> EncodedBytes
  {
    let opaque = isFullyOpaque
    switch setting {
    case .fast:
      return try EncodedBytes(limit: limit) { out in
        _ = nhs_encode_png_fast(&out, shimPixels, opaque ? 1 : 0)
      }
    case .small:
      let colors = nhs_all_gray(shimPixels) != 0 ? 1 : 3
      return try EncodedBytes(limit: limit) { out in
        _ = nhs_encode_png_small(&out, shimPixels, Int32(colors + (opaque ? 0 : 1)))
      }
    }
  }

  /// Encodes a WebP. Sides beyond `longestWebP` throw `invalid`; more than `limit` bytes throw `tooLarge`.
  public func encodedWebP(_ setting: WebPSetting, limit: Int = encodedLimit) throws(ImageFault)
    -> EncodedBytes
  {
    let opaque: Int32 = isFullyOpaque ? 1 : 0
    switch setting {
    case .lossy(let quality):
      guard (1...100).contains(quality) else {
        throw ImageFault(.invalid, "the WebP quality is \(quality); it must be 1 to 100")
      }
      return try EncodedBytes(limit: limit) { out in
        _ = nhs_encode_webp(&out, shimPixels, Int32(quality), -1, opaque)
      }
    case .lossless(let level):
      return try EncodedBytes(limit: limit) { out in
        _ = nhs_encode_webp(&out, shimPixels, 0, Int32(min(max(level, 0), 9)), opaque)
      }
    }
  }

  private var shimPixels: nhs_pixels { nhs_pixels(rgba: pixels, width: width, height: height) }
}
