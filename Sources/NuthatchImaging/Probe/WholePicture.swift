import Glibc

/// Tells whether bytes hold a picture down to its end, without decoding: for bodies whose transfer can't tell
/// a cut from an end. An early stop of the decoder says nothing about what follows.
public enum WholePicture {
  /// Whether a JPEG's or PNG's end marker is there, in its place. Other bytes are never whole.
  public static func isWhole(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch FormatSniffer.sniff(bytes, isComplete: true) {
    case .format(.jpeg): jpegEnds(bytes)
    case .format(.png): pngEnds(bytes)
    case .format, .needMore, .unknown: false
    }
  }

  private static func pngEnds(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var at = 8
    var hasPixels = false
    while at <= bytes.count - 12 {
      let length = bytes.bigEndian32(at: at)
      guard length <= bytes.count - at - 12 else { return false }
      switch bytes.bigEndian32(at: at + 4) {
      case 0x4945_4E44: return hasPixels
      case 0x4944_4154: hasPixels = true
      default: break
      }
      at += length + 12
    }
    return false
  }

  /// Segments are passed over by their length, so that a small picture inside one isn't taken for this one's end.
  private static func jpegEnds(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var at = 2
    var hasScan = false
    while at < bytes.count, let start = bytes.baseAddress {
      guard let found = memchr(start + at, 0xFF, bytes.count - at) else { return false }
      at = UnsafeRawPointer(found) - start
      while at < bytes.count && bytes[at] == 0xFF { at += 1 }
      guard at < bytes.count else { return false }
      let code = bytes[at]
      at += 1
      switch code {
      case 0x00, 0x01, 0xD0...0xD8: continue
      case 0xD9:
        if hasScan { return true }
      default:
        guard at <= bytes.count - 2 else { return false }
        hasScan = hasScan || code == 0xDA
        at += max(2, bytes.bigEndian16(at: at))
      }
    }
    return false
  }
}
