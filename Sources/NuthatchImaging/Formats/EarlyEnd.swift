/// Tells when the received bytes of a picture may be enough for thumbnails. Then a decoder tries these bytes.
public protocol EarlyEndWatch: Sendable {
  /// Takes the next bytes, from the beginning of the file. Returns true if the bytes so far may be enough.
  mutating func feed(_ bytes: UnsafeRawBufferPointer) -> Bool
}

/// Pictures whose thumbnails may need only the beginning of the file.
public enum EarlyEnd {
  /// Returns nil if the thumbnails need the whole picture.
  public static func watch(_ info: ImageInfo, boxes: [ThumbnailBox]) -> (any EarlyEndWatch)? {
    boxes.isEmpty ? nil : PictureFormats.of(info.format)?.earlyEnd(info, boxes)
  }
}
