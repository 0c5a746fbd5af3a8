/// Recognises a picture's format by its first bytes.
public enum FormatSniffer {
  /// The present result.
  public enum Verdict: Equatable, Sendable {
    /// The bytes begin a picture of that format.
    case format(ImageFormat)
    /// Several answers are still possible.
    case needMore
    /// Not a known picture format.
    case unknown
  }

  /// The most bytes that are judged. An SVG may need many, because it may begin with comments.
  public static let maxBytes = 64 << 10

  /// Judges the first bytes of a file. With `isComplete` there are no more, so the result is never `needMore`.
  public static func sniff(_ head: UnsafeRawBufferPointer, isComplete: Bool = false) -> Verdict {
    var open = false
    for signature in signatures {
      switch signature.compare(head) {
      case .equal: return .format(signature.format)
      case .prefix: open = true
      case .different: break
      }
    }
    for test in [baseMedia, bitmap, SVGSniffer.sniff] {
      switch test(head) {
      case .format(let format): return .format(format)
      case .needMore: open = true
      case .unknown: break
      }
    }
    return open && !isComplete && head.count < maxBytes ? .needMore : .unknown
  }

  private enum Match { case equal, prefix, different }

  private struct Signature {
    let format: ImageFormat
    /// nil matches any byte.
    let pattern: [UInt8?]

    init(_ format: ImageFormat, _ pattern: [UInt8?]) {
      self.format = format
      self.pattern = pattern
    }

    init(_ format: ImageFormat, _ text: StaticString) {
      self.init(format, text.withUTF8Buffer { $0.map { $0 } })
    }

    func compare(_ head: UnsafeRawBufferPointer) -> Match {
      for (byte, expected) in zip(head, pattern) {
        if let expected, byte != expected { return .different }
      }
      return head.count >= pattern.count ? .equal : .prefix
    }
  }

  private static let signatures: [Signature] = [
    Signature(.jpeg, [0xFF, 0xD8, 0xFF]),
    Signature(.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
    Signature(.gif, "GIF87a"),
    Signature(.gif, "GIF89a"),
    Signature(.webp, [0x52, 0x49, 0x46, 0x46, nil, nil, nil, nil, 0x57, 0x45, 0x42, 0x50]),
    Signature(.tiff, [0x49, 0x49, 0x2A, 0x00]),
    Signature(.tiff, [0x4D, 0x4D, 0x00, 0x2A]),
    Signature(.tiff, [0x49, 0x49, 0x2B, 0x00, 0x08, 0x00]),
    Signature(.tiff, [0x4D, 0x4D, 0x00, 0x2B, 0x00, 0x08]),
    Signature(.jxl, [0xFF, 0x0A]),
    Signature(.jxl, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
    Signature(.jp2, [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
    Signature(.jp2, [0xFF, 0x4F, 0xFF, 0x51]),
    Signature(.psd, [0x38, 0x42, 0x50, 0x53, 0]),
    // Reserved word, type (icon or cursor), at least one picture but fewer than 256.
    Signature(.ico, [0, 0, 1, 0, nil, 0]),
    Signature(.ico, [0, 0, 2, 0, nil, 0]),
  ]

  /// AVIF and HEIC: an "ftyp" box; its brands decide. Videos are excluded. If the brands name only the container, the parser of
  /// AVIF finds out which of the two is in it.
  private static func baseMedia(_ head: UnsafeRawBufferPointer) -> Verdict {
    let name: [UInt8] = [0x66, 0x74, 0x79, 0x70]
    for (index, byte) in name.enumerated() where head.count > 4 + index && head[4 + index] != byte {
      return .unknown
    }
    if let first = head.first, first != 0 { return .unknown }
    guard head.count >= 16 else { return .needMore }
    let length = head.prefix(4).reduce(0) { $0 << 8 | Int($1) }
    guard length >= 16, length <= 1024 else { return .unknown }
    if head.count < length { return .needMore }
    var known: ImageFormat?
    for offset in stride(from: 8, through: length - 4, by: 4) where offset != 12 {
      switch BoxName(head.bigEndian32(at: offset)) {
      case "avif", "avis": return .format(.avif)
      case "heic", "heix", "heim", "heis", "hevc", "hevx": known = .heic
      case "mif1", "msf1": known = known ?? .avif
      default: break
      }
    }
    return known.map { .format($0) } ?? .unknown
  }

  /// Texts can begin with "BM", so the size of the second header must be valid, too.
  private static func bitmap(_ head: UnsafeRawBufferPointer) -> Verdict {
    if head.count > 0 && head[0] != 0x42 { return .unknown }
    if head.count > 1 && head[1] != 0x4D { return .unknown }
    guard head.count >= 18 else { return .needMore }
    let sizes: [UInt8] = [12, 16, 40, 52, 56, 64, 108, 124]
    return sizes.contains(head[14]) && head[15] == 0 && head[16] == 0 && head[17] == 0
      ? .format(.bmp) : .unknown
  }
}
