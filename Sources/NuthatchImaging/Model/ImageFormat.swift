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
  case jp2
  case psd

  /// Such as "image/jpeg".
  public var mediaType: String {
    switch self {
    case .ico: "image/x-icon"
    case .svg: "image/svg+xml"
    case .psd: "image/vnd.adobe.photoshop"
    default: "image/\(rawValue)"
    }
  }

  /// Whether this room can decode it.
  public var isDecodable: Bool { PictureFormats.of(self) != nil }
}
