/// A picture format, told by content and never by name.
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

  /// Whether this room can turn it into pixels.
  public var isDecodable: Bool { self == .jpeg || self == .png }
}
