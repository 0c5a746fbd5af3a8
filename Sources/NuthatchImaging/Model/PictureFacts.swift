/// What a picture's file says of itself, beside its size.
public struct PictureFacts: Equatable, Sendable {
  /// The format; nil if it isn't known.
  public var format: ImageFormat?
  /// Whether there are several frames. If they weren't counted, whether two were seen, or the header announces an animation.
  public var isAnimated: Bool
  /// The number of frames: 1 for a still picture; nil if it isn't known, because bytes are missing or damaged.
  public var frameCount: Int?
  /// The bits of each channel, of a palette those of its colours; nil if it isn't known.
  public var depth: Int?

  /// By default, nothing is known.
  public init(format: ImageFormat? = nil, isAnimated: Bool = false, frameCount: Int? = nil, depth: Int? = nil)
  {
    self.format = format
    self.isAnimated = isAnimated
    self.frameCount = frameCount
    self.depth = depth
  }

  /// From the bytes of a whole file; nil if they are no picture. Of a format that isn't decoded, only the name is known.
  public init?(of bytes: UnsafeRawBufferPointer) {
    switch ImageProbe.probe(bytes) {
    case .found(let info): self.init(info, bytes, isWhole: true)
    case .unsupported(let format): self.init(format: format)
    case .needMore, .notAnImage, .fault: return nil
    }
  }

  /// From the header, and from the bytes if they are there.
  init(_ info: ImageInfo, _ bytes: UnsafeRawBufferPointer?, isWhole: Bool) {
    var seen = (count: info.frameCount ?? 0, isAll: info.frameCount != nil)
    if !seen.isAll, let bytes, let format = PictureFormats.of(info.format) {
      seen = format.frames(in: bytes, isWhole: isWhole)
    }
    self.init(
      format: info.format, isAnimated: seen.count > 1 || (!seen.isAll && info.isAnimated),
      frameCount: seen.isAll ? seen.count : nil, depth: info.color == .palette ? 8 : info.depth)
  }
}
