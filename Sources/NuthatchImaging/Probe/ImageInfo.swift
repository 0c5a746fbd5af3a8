/// The properties of a picture from its first bytes, without decoding.
public struct ImageInfo: Equatable, Sendable {
  /// How colour is stored.
  public enum Color: Sendable {
    case gray
    case grayAlpha
    case palette
    case rgb
    case rgba
    case ycbcr
    case cmyk
    case ycck
  }

  /// The format, recognised by content.
  public var format: ImageFormat
  /// Columns and rows as stored.
  public var size: ImageSize
  /// From EXIF, of an AVIF from its container; `.upright` if that is missing or invalid.
  public var orientation: Orientation = .upright
  /// How colour is stored.
  public var color: Color
  /// Bits in each sample: 1, 2, 4, 8, 10, 12 or 16.
  public var depth: Int
  /// A progressive JPEG, or an interlaced PNG or GIF.
  public var isProgressive = false
  /// An alpha channel, or transparent colours.
  public var hasAlpha = false
  /// There is an ICC profile, which may be invalid.
  public var hasICC = false
  /// There is EXIF data, which may be invalid.
  public var hasEXIF = false
  /// The header says that it is an animation. Only the first or default frame is decoded.
  public var isAnimated = false
  /// The number of frames, if the header says it; nil if all bytes are needed to count them.
  public var frameCount: Int? = 1
  /// The bytes that a decoder must hold for the whole picture: the coefficients of a progressive JPEG, the pixels of an
  /// interlaced PNG, the indices of an interlaced GIF, the planes of a WebP or an AVIF. 0 if rows are decoded as the input arrives.
  public var wholePictureBytes = 0
  /// The memory in bytes to decode a progressive JPEG at 1:8 from its blocks' mean values; nil if these are not enough.
  var meansBytes: Int?
  /// The offset of the first frame's codes, in a GIF.
  var pixelsStart: Int?
  /// The offset behind the first frame of an animated WebP or AVIF, or behind a HEIC's items.
  var pixelsEnd: Int?

  /// The greatest reduction of an AVIF while it is decoded; 1 if it can't be reduced.
  var greatestReduction = 8

  /// "a progressive JPEG", for messages.
  var kindForMessage: String { PictureFormats.of(format)?.kind(self) ?? "a picture" }

  /// The size of the upright picture, as callers see it.
  public var orientedSize: ImageSize { orientation.applied(to: size) }

  /// An info with default values for everything else.
  public init(format: ImageFormat, size: ImageSize, color: Color, depth: Int) {
    self.format = format
    self.size = size
    self.color = color
    self.depth = depth
  }
}
