/// What a picture's first bytes tell about it, without decoding.
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

  /// The format, told by content.
  public var format: ImageFormat
  /// Columns and rows as stored.
  public var size: ImageSize
  /// From EXIF; `.upright` where EXIF is missing or damaged.
  public var orientation: Orientation = .upright
  /// How colour is stored.
  public var color: Color
  /// Bits a sample: 1, 2, 4, 8 or 16.
  public var depth: Int
  /// A progressive JPEG or an interlaced PNG.
  public var isProgressive = false
  /// An alpha channel, or transparent colours.
  public var hasAlpha = false
  /// An ICC profile is there; it may turn out to be invalid.
  public var hasICC = false
  /// EXIF data is there; it may turn out to be invalid.
  public var hasEXIF = false
  /// More than one frame; the first, or the default one, is what is decoded.
  public var isAnimated = false
  /// Bytes that a decoder has to keep for the whole picture: a progressive JPEG's coefficients, an interlaced
  /// PNG's pixels. 0 where rows come out as bytes go in.
  public var wholePictureBytes = 0
  /// Bytes of the blocks' means, when they are all that is needed of a progressive JPEG at an eighth; else nil.
  var meansBytes: Int?

  /// "a progressive JPEG", for messages.
  var kindForMessage: String {
    switch format {
    case .jpeg where isProgressive: "a progressive JPEG"
    case .jpeg where wholePictureBytes > 0: "a JPEG of several scans"
    case .jpeg: "a JPEG"
    case .png where isProgressive: "an interlaced PNG"
    case .png: "a PNG"
    default: "a picture"
    }
  }

  /// Columns and rows of the upright picture: what callers are told.
  public var orientedSize: ImageSize { orientation.applied(to: size) }

  /// Information with everything else at its default.
  public init(format: ImageFormat, size: ImageSize, color: Color, depth: Int) {
    self.format = format
    self.size = size
    self.color = color
    self.depth = depth
  }
}
