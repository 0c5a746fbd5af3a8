/// A picture format, recognised by content, not by name.
public enum ImageFormat: String, Sendable, CaseIterable {
  case jpeg
  case png
  case webp
  case avif
  case heic
  case gif
  case svg
  case tiff
  case jxl
  case bmp
  case ico

  /// Such as "image/jpeg".
  public var mediaType: String {
    switch self {
    case .ico: "image/x-icon"
    case .svg: "image/svg+xml"
    default: "image/\(rawValue)"
    }
  }

  /// Whether this room can decode it.
  public var isDecodable: Bool { PictureFormats.of(self) != nil }
}
