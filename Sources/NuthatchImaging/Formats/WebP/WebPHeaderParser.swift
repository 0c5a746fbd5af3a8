/// Parses a WebP's chunks up to the header of its first frame's pixels; if EXIF follows, up to that.
struct WebPHeaderParser: HeaderParser {
  private enum State {
    case container
    case chunk
    case canvas(ChunkPlace)
    case frame(ChunkPlace)
    case bitstream(ChunkPlace, isLossless: Bool)
    case profile(left: Int, next: Int)
    case exif(next: Int)
  }

  /// Where a chunk lies in the file.
  private struct ChunkPlace {
    let name: Int
    /// The offset of its header.
    let start: Int
    /// The bytes behind its header.
    let count: Int

    var contents: Int { start + 8 }
    /// The next chunk's offset: chunks of an odd length are padded.
    var next: Int { contents + count + count % 2 }
  }

  /// The most bytes that are read at once, and the most of EXIF: the orientation is in the first directory.
  private static let maxPiece = 65_536
  /// As libwebp: the largest number of pixels of a canvas.
  private static let maxCanvas = 1 << 32

  private let collectsProfile: Bool
  private let waitsForEXIF: Bool
  private var state = State.container
  private var fileEnd = 0
  /// The flags of VP8X; nil without it.
  private var flags: Int?
  private var canvas = ImageSize(width: 0, height: 0)
  private var hasAnimation = false
  /// The frame of an animation whose chunks are being read.
  private var inner: (x: Int, y: Int, size: ImageSize, end: Int)?
  private var alpha: ChunkPlace?
  private var orientation: Orientation?
  private var hasICC = false
  private var profileBytes: [UInt8]?
  private(set) var frame: WebPFrame?

  /// - Parameter waitsForEXIF: whether to go on behind the pixels, if EXIF is announced and hasn't come yet.
  init(collectsProfile: Bool, waitsForEXIF: Bool = true) {
    self.collectsProfile = collectsProfile
    self.waitsForEXIF = waitsForEXIF
  }

  /// Skips "RIFF"; the sniffer has seen "WEBP".
  var first: HeaderStep { .read(skip: 4, count: 8) }

  var size: ImageSize? { canvas.width > 0 ? canvas : nil }

  /// The ICC profile, if it was asked for and is complete.
  var profile: [UInt8]? {
    if case .profile = state { return nil }
    return profileBytes
  }

  /// If the bytes end while EXIF is awaited, the picture counts as upright, and the decoder judges the rest.
  var infoAtEnd: ImageInfo? { frame.map(info) }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch state {
    case .container:
      return container(count: bytes.littleEndian32(at: 0), end: end)
    case .chunk:
      return chunk(
        ChunkPlace(name: bytes.bigEndian32(at: 0), start: end - 8, count: bytes.littleEndian32(at: 4)),
        end: end)
    case .canvas(let place):
      return extended(place, bytes, end: end)
    case .frame(let place):
      return animated(place, bytes, end: end)
    case .bitstream(let place, let isLossless):
      return bitstream(place, isLossless, bytes, end: end)
    case .profile(let left, let next):
      profileBytes?.append(contentsOf: bytes)
      return profilePiece(left: left - bytes.count, next: next, end: end)
    case .exif(let next):
      // Some programs write the prefix of a JPEG's segment.
      let prefix = bytes.starts(with: "Exif\0\0".utf8) ? 6 : 0
      orientation = EXIFOrientation.read(UnsafeRawBufferPointer(rebasing: bytes[prefix...]))
      return goOn(at: next, end: end)
    }
  }

  private mutating func container(count: Int, end: Int) -> HeaderStep {
    // 12: the word WEBP and a chunk's header. Beyond 4 GiB, libwebp's sums would overflow.
    guard count >= 12, count <= UInt32.max - 9 else {
      return corrupt("the WebP's length is \(count), which is not allowed", end - 8)
    }
    fileEnd = 8 + count
    return goOn(at: end, end: end)
  }

  /// Reads the header of the chunk at `place`, or ends there.
  private mutating func goOn(at place: Int, end: Int) -> HeaderStep {
    if let inner, place > inner.end - 8 {
      guard frame != nil else { return corrupt("the WebP's first frame has no pixels", end) }
      self.inner = nil
      return goOn(at: inner.end + inner.end % 2, end: end)
    }
    if let frame, !isAwaitingEXIF || place > fileEnd - 8 { return .found(info(frame)) }
    guard place <= fileEnd - 8 else { return corrupt("the WebP has no pixels", end) }
    state = .chunk
    return .read(skip: place - end, count: 8)
  }

  private var isAwaitingEXIF: Bool { waitsForEXIF && orientation == nil && (flags ?? 0) & Flag.exif != 0 }

  private mutating func chunk(_ place: ChunkPlace, end: Int) -> HeaderStep {
    guard place.contents + place.count <= inner?.end ?? fileEnd else {
      return corrupt(
        "a chunk of the WebP has \(place.count) bytes, more than the WebP's length leaves", place.start)
    }
    let isFirst = place.start == 12
    switch place.name {
    case Name.VP8X where isFirst:
      guard place.count >= 10 else { return tooShort(place, "VP8X") }
      state = .canvas(place)
      return .read(skip: 0, count: 10)
    case Name.VP8 where frame == nil, Name.VP8L where frame == nil:
      if isAnimated && inner == nil {
        return corrupt("the WebP is an animation, but its pixels are in no frame", place.start)
      }
      let isLossless = place.name == Name.VP8L
      let header = isLossless ? WebPFrame.Bitstream.losslessHeader : WebPFrame.Bitstream.lossyHeader
      guard place.count >= header else { return tooShort(place, isLossless ? "VP8L" : "VP8") }
      state = .bitstream(place, isLossless: isLossless)
      return .read(skip: 0, count: header)
    case _ where isFirst:
      return corrupt("the WebP begins with another chunk than VP8, VP8L or VP8X", place.start)
    case Name.ALPH where frame == nil:
      // libwebp takes the last one.
      alpha = place.count > 0 ? place : nil
    case Name.ANIM where inner == nil:
      hasAnimation = true
    case Name.ANMF where inner == nil && isAnimated && frame == nil:
      guard hasAnimation else { return corrupt("the WebP has a frame before the chunk ANIM", place.start) }
      guard place.count >= 16 else { return tooShort(place, "ANMF") }
      state = .frame(place)
      return .read(skip: 0, count: 16)
    case Name.ICCP where inner == nil && !hasICC && (flags ?? 0) & Flag.profile != 0:
      hasICC = true
      guard collectsProfile, place.count > 0, place.count <= JPEGHeaderParser.maxProfileBytes else { break }
      profileBytes = []
      return profilePiece(left: place.count, next: place.next, end: end)
    case Name.EXIF where inner == nil && orientation == nil && (flags ?? 0) & Flag.exif != 0:
      let count = min(place.count, Self.maxPiece)
      guard count > 0 else {
        orientation = .upright
        break
      }
      state = .exif(next: place.next)
      return .read(skip: 0, count: count)
    default:
      break
    }
    return goOn(at: place.next, end: end)
  }

  private mutating func profilePiece(left: Int, next: Int, end: Int) -> HeaderStep {
    guard left > 0 else { return goOn(at: next, end: end) }
    state = .profile(left: left, next: next)
    return .read(skip: 0, count: min(left, Self.maxPiece))
  }

  private mutating func extended(_ place: ChunkPlace, _ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep
  {
    flags = Int(bytes[0])
    let size = ImageSize(width: bytes.littleEndian24(at: 4) + 1, height: bytes.littleEndian24(at: 7) + 1)
    guard size.area < Self.maxCanvas else {
      return corrupt("the WebP's size is \(size), which is not allowed", end)
    }
    canvas = size
    return goOn(at: place.next, end: end)
  }

  private mutating func animated(_ place: ChunkPlace, _ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep
  {
    let (x, y) = (2 * bytes.littleEndian24(at: 0), 2 * bytes.littleEndian24(at: 3))
    let size = ImageSize(width: bytes.littleEndian24(at: 6) + 1, height: bytes.littleEndian24(at: 9) + 1)
    guard x + size.width <= canvas.width, y + size.height <= canvas.height else {
      return corrupt("the first frame of \(size) at \(x), \(y) is not within the WebP of \(canvas)", end)
    }
    inner = (x, y, size, place.contents + place.count)
    alpha = nil
    return goOn(at: end, end: end)
  }

  private mutating func bitstream(
    _ place: ChunkPlace, _ isLossless: Bool, _ bytes: UnsafeRawBufferPointer, end: Int
  ) -> HeaderStep {
    let found: WebPFrame.Bitstream
    switch isLossless
      ? WebPFrame.Bitstream.lossless(bytes) : WebPFrame.Bitstream.lossy(bytes, of: place.count)
    {
    case .success(let bitstream): found = bitstream
    case .failure(let problem): return corrupt("the WebP's bitstream \(problem.text)", place.contents)
    }
    if flags == nil { canvas = found.size }
    let announced = inner?.size ?? canvas
    guard found.size == announced else {
      return corrupt("the WebP's pixels are \(found.size), but \(announced) is announced", place.contents)
    }
    let mayHaveAlpha = flags.map { $0 & Flag.alpha != 0 } ?? found.saysAlpha
    let hasAlpha = mayHaveAlpha && (isLossless || alpha != nil)
    let used = hasAlpha && !isLossless ? alpha : nil
    let frame = WebPFrame(
      bitstream: found, start: used?.start ?? place.start, end: place.contents + place.count,
      alpha: used.map { $0.contents..<$0.contents + $0.count }, x: inner?.x ?? 0, y: inner?.y ?? 0,
      canvas: canvas,
      hasAlpha: hasAlpha, fileEnd: fileEnd, isAnimated: isAnimated)
    self.frame = frame
    // What follows isn't needed, unless it is EXIF.
    return isAwaitingEXIF ? goOn(at: place.next, end: end) : .found(info(frame))
  }

  private var isAnimated: Bool { (flags ?? 0) & Flag.animation != 0 }

  private func info(_ frame: WebPFrame) -> ImageInfo {
    let color: ImageInfo.Color = !frame.bitstream.isLossless ? .ycbcr : frame.hasAlpha ? .rgba : .rgb
    var info = ImageInfo(format: .webp, size: frame.canvas, color: color, depth: 8)
    info.orientation = orientation ?? .upright
    info.hasAlpha = !frame.isOpaque
    info.hasICC = hasICC
    info.hasEXIF = (flags ?? 0) & Flag.exif != 0
    info.isAnimated = frame.isAnimated
    if frame.isAnimated { (info.pixelsEnd, info.frameCount) = (frame.end, nil) }
    info.wholePictureBytes = frame.decoderBytes
    return info
  }

  private func corrupt(_ message: String, _ place: Int) -> HeaderStep {
    .fault(ImageFault(.corrupt, message, at: place))
  }

  private func tooShort(_ place: ChunkPlace, _ name: String) -> HeaderStep {
    corrupt("the WebP's chunk \(name) has \(place.count) bytes, too few", place.start)
  }

  private enum Flag {
    static let animation = 0x02
    static let exif = 0x08
    static let alpha = 0x10
    static let profile = 0x20
  }

  private enum Name {
    static let VP8 = 0x5650_3820
    static let VP8L = 0x5650_384C
    static let VP8X = 0x5650_3858
    static let ALPH = 0x414C_5048
    static let ANIM = 0x414E_494D
    static let ANMF = 0x414E_4D46
    static let ICCP = 0x4943_4350
    static let EXIF = 0x4558_4946
  }
}
