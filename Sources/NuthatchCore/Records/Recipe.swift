import NuthatchImaging

/// How a thumbnail is made from a body: two requests with the same recipe get the same thumbnail.
struct Recipe: Hashable, Sendable {
  /// Increase it with each change after which the same source gives other pixels. Older thumbnails are then made again.
  static let decoderVersion: UInt8 = 1

  let box: ThumbnailBox
  let allowsDamage: Bool

  init(_ box: ThumbnailBox, allowsDamage: Bool) {
    self.box = box
    self.allowsDamage = allowsDamage
  }

  /// Hashes only the sides, to be fast: each hit of several sizes hashes its recipes, and they usually differ in their sides.
  func hash(into hasher: inout Hasher) { hasher.combine(box.width << 24 ^ box.height) }

  /// Reads `bytes`. Returns nil if they are of another decoder version.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count == 8, bytes[0] == Self.decoderVersion, bytes[1] & 3 < 3 else { return nil }
    func side(_ at: Int) -> Int { Int(bytes[at]) | Int(bytes[at + 1]) << 8 | Int(bytes[at + 2]) << 16 }
    let flags = bytes[1]
    let fit: ThumbnailBox.Fit = flags & 3 == 0 ? .inside : flags & 3 == 1 ? .cover : .stretch
    self.init(
      ThumbnailBox(
        width: side(2), height: side(5), fit: fit, enlarge: flags & 4 != 0,
        scaling: flags & 8 != 0 ? .fast : .best),
      allowsDamage: flags & 16 != 0)
  }

  /// The recipe as part of a key: little-endian.
  var bytes: [UInt8] { withUnsafeBytes(of: number.littleEndian) { Array($0) } }

  /// Returns the bytes of the key of a thumbnail of this content, or, with `mark`, of another record about it.
  func key(_ content: Digest, mark: UInt8? = nil) -> [UInt8] {
    var encoder = RecordEncoder(capacity: Digest.size + 9)
    if let mark { encoder.put(mark) }
    encoder.append(content.bytes)
    encoder.put(number)
    return encoder.bytes
  }

  /// These numbers are stored on disk and must not change.
  private var number: UInt64 {
    let fit: UInt8 =
      switch box.fit {
      case .inside: 0
      case .cover: 1
      case .stretch: 2
      }
    let flags: UInt8 =
      fit | (box.enlarge ? 4 : 0) | (box.scaling == .fast ? 8 : 0) | (allowsDamage ? 16 : 0)
    let (width, height) = (UInt32(clamping: box.width), UInt32(clamping: box.height))
    return UInt64(Self.decoderVersion) | UInt64(flags) << 8 | UInt64(width & 0xFF_FFFF) << 16
      | UInt64(height & 0xFF_FFFF) << 40
  }
}
