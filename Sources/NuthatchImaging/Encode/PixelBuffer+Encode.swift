import CSystem

/// How finely a JPEG keeps colours beside brightness.
public enum JPEGChroma: Sendable {
  /// As finely: 4:4:4. Nothing bleeds; the default.
  case full
  /// A quarter as finely: 4:2:0. A third smaller and faster.
  case quarter
  /// A quarter as finely where nobody sees it, as in most photographs; as finely where colours meet in edges.
  case asSeen
}

/// What a PNG is made for.
public enum PNGSetting: Sendable {
  /// Written in a hurry: RGB or RGBA, ISA-L's deflate. The default.
  case fast
  /// Kept or sent: libpng with zlib's best, grey where all pixels are. Some fifty times slower.
  case small
}

extension PixelBuffer {
  /// What encoded pictures may have at most, unless said otherwise: 64 MiB.
  public static let encodedLimit = 64 << 20

  /// Whether every pixel has alpha 255; looks at them where that isn't known already.
  public var isFullyOpaque: Bool { isOpaque || nhs_all_opaque(shimPixels) != 0 }

  /// A baseline JPEG of quality 1…100. Since JPEG has no transparency, a picture that has some is `invalid`
  /// unless it is to be laid `onWhite`; more than `limit` bytes are `tooLarge`.
  public func encodedJPEG(
    quality: Int = 92, chroma: JPEGChroma = .full, onWhite: Bool = false, limit: Int = encodedLimit
  ) throws(ImageFault) -> EncodedBytes {
    guard (1...100).contains(quality) else { throw ImageFault(.invalid, "a JPEG quality of \(quality)") }
    let opaque = isFullyOpaque
    guard opaque || onWhite else { throw ImageFault(.invalid, "JPEG has no transparency, this picture has") }
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

  /// A PNG with exactly these pixels. More than `limit` bytes are `tooLarge`.
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

  private var shimPixels: nhs_pixels { nhs_pixels(rgba: pixels, width: width, height: height) }
}
