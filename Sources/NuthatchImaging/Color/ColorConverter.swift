import CSystem

/// Converts pixels from an ICC profile's colour space to sRGB.
///
/// RGB and grey pictures are converted after resampling, when they have fewer pixels. The curves of their profiles are close to
/// sRGB's, so the order changes the result by less than a level. CMYK rows are converted as they are decoded, because an
/// average of inks isn't the average of their colours.
final class ColorConverter {
  enum Pixels: Int32 {
    case gray, rgb, cmyk, invertedCMYK

    fileprivate var code: Int32 {
      switch self {
      case .gray: Int32(NHS_ICC_GRAY)
      case .rgb: Int32(NHS_ICC_RGB)
      case .cmyk: Int32(NHS_ICC_CMYK)
      case .invertedCMYK: Int32(NHS_ICC_CMYK_INVERTED)
      }
    }
  }

  private let icc: OpaquePointer

  private init(_ icc: OpaquePointer) {
    self.icc = icc
  }

  deinit { nhs_icc_free(icc) }

  /// The result of opening a profile.
  private enum Verdict {
    case convert(ColorConverter)
    case nothingToDo
    /// Damaged, or for another kind of picture: the pixels are treated as sRGB.
    case unusable
    case outOfMemory
  }

  private static func open(_ profile: UnsafeRawBufferPointer, for pixels: Pixels, most: Int) -> Verdict {
    var status: Int32 = 0
    let icc = nhs_icc_open(profile.baseAddress, profile.count, pixels.code, max(0, most), &status)
    if let icc { return .convert(ColorConverter(icc)) }
    switch Int(status) {
    case Int(NHS_ICC_IS_SRGB): return .nothingToDo
    case Int(NHS_ICC_NO_MEMORY): return .outOfMemory
    default: return .unusable
    }
  }

  /// Returns the converter for a profile; nil, possibly with a warning, if the pixels stay as they are.
  ///
  /// - Parameter most: the most memory for it in bytes.
  /// - Throws: `outOfMemory`, because without the conversion the picture would have other colours.
  static func make(
    _ profile: UnsafeRawBufferPointer, for pixels: Pixels, most: Int, warnings: inout [String]
  ) throws(ImageFault) -> ColorConverter? {
    switch open(profile, for: pixels, most: most) {
    case .convert(let converter): return converter
    case .nothingToDo: return nil
    case .unusable: warnings.append("an unusable ICC profile was ignored")
    case .outOfMemory: throw ImageFault(.outOfMemory, "there is no memory for the ICC profile")
    }
    return nil
  }

  func convert(_ pictures: [PixelBuffer]) {
    for picture in pictures { convert(picture.pixels, count: picture.width * picture.height) }
  }

  /// Converts in place, to RGBA.
  func convert(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
    nhs_icc_convert(icc, pixels, count)
  }
}
