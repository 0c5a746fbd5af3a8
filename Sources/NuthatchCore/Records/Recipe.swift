import NuthatchImaging

/// How a thumbnail is made from a body: two requests with one recipe get one thumbnail.
struct Recipe: Hashable, Sendable {
  /// Raised with every change that makes other pixels of the same source: older thumbnails are made anew then.
  static let decoderVersion: UInt8 = 1

  let box: ThumbnailBox
  let allowsDamage: Bool

  init(_ box: ThumbnailBox, allowsDamage: Bool) {
    self.box = box
    self.allowsDamage = allowsDamage
  }

  /// By its sides, in which recipes that stand beside each other differ: every hit of several sizes asks for it.
  func hash(into hasher: inout Hasher) { hasher.combine(box.width << 24 ^ box.height) }

  /// From `bytes`; nil for those of another decoder.
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

  /// The bytes of the key of what this recipe makes of a content.
  func key(_ content: Digest, mark: UInt8? = nil) -> [UInt8] {
    var encoder = RecordEncoder(capacity: Digest.size + 9)
    if let mark { encoder.put(mark) }
    encoder.append(content.bytes)
    encoder.put(number)
    return encoder.bytes
  }

  /// Stores live long: the numbers stay.
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
