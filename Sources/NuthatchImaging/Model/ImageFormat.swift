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

  /// Whether this room can decode it.
  public var isDecodable: Bool { PictureFormats.of(self) != nil }
}
