import NuthatchImaging
import NuthatchStore

/// A thumbnail in the store: facts about its source, then its pixels in one of four forms.
enum ThumbRecord {
  /// The form of a thumbnail on disk. A version that doesn't know a form makes the thumbnail again.
  enum Form: UInt8 {
    case raw = 1
    case jpeg = 2
    case png = 3
    case webp = 4

    var word: String {
      switch self {
      case .raw: "raw"
      case .jpeg: "jpeg"
      case .png: "png"
      case .webp: "webp"
      }
    }
  }

  /// The bytes before the pixels: a multiple of the alignment of payloads, so that the pixels can be used without a copy.
  static let headSize = 64
  /// Packing a thumbnail of at most this size saves too little to be worth a decode.
  static let rawLimit = 16_384
  private static let version: UInt8 = 1
  /// A format's number is its place here, from 1 on. New formats are added at the end.
  private static let formats: [ImageFormat] = [
    .jpeg, .png, .webp, .avif, .heic, .gif, .svg, .tiff, .jxl, .bmp, .ico, .jp2, .psd,
  ]

  private enum Flag {
    static let partial: UInt8 = 1
    static let animated: UInt8 = 2
  }

  /// The key of a thumbnail.
  static func key(_ content: Digest, _ recipe: Recipe) -> RecordKey {
    RecordKey(.thumb, recipe.key(content))
  }

  /// Stores a thumbnail in the form that `keeping` selects.
  static func write(
    _ picture: Picture, _ key: RecordKey, keeping: ThumbStore, in store: Store
  ) throws(StoreFault) {
    // Pixels that can't be packed (sides too long for JPEG, no memory) aren't stored; they are made again when needed.
    guard let pixels = try? picture.pixels() else { return }
    let form = form(of: pixels, keeping)
    guard let packed = try? pack(pixels, form) else { return }
    let shape = PayloadShape(
      form: form.rawValue, width: UInt32(clamping: pixels.width), height: UInt32(clamping: pixels.height))
    let head = head(of: picture)
    try packed.withBytes { (bytes) throws(StoreFault) in
      try head.withUnsafeBufferPointer { (head) throws(StoreFault) in
        _ = try store.commit(key, shape: shape, parts: [UnsafeRawBufferPointer(head), bytes])
      }
    }
  }

  private static func pack(_ pixels: PixelBuffer, _ form: Form) throws(ImageFault) -> SharedBytes {
    switch form {
    case .raw: SharedBytes(pixels)
    case .jpeg: SharedBytes(try pixels.encodedJPEG(chroma: .asSeen))
    case .png: SharedBytes(try pixels.encodedPNG())
    case .webp: SharedBytes(try pixels.encodedWebP(.lossy(quality: 90)))
    }
  }

  private static func form(of pixels: PixelBuffer, _ keeping: ThumbStore) -> Form {
    if keeping == .raw || pixels.byteCount <= rawLimit { return .raw }
    if keeping != .lossless, pixels.isFullyOpaque { return .jpeg }
    let isWebP = keeping == .small && max(pixels.width, pixels.height) <= PixelBuffer.longestWebP
    return isWebP ? .webp : .png
  }

  private static func head(of picture: Picture) -> [UInt8] {
    var head = RecordEncoder(capacity: headSize)
    head.put(version)
    head.put(UInt8((picture.isPartial ? Flag.partial : 0) | (picture.facts.isAnimated ? Flag.animated : 0)))
    head.put(UInt32(clamping: picture.originalSize.width))
    head.put(UInt32(clamping: picture.originalSize.height))
    head.put(picture.facts.format.flatMap { formats.firstIndex(of: $0) }.map { UInt8($0 + 1) } ?? 0)
    head.put(UInt8(clamping: picture.facts.depth ?? 0))
    head.put(UInt32(clamping: picture.facts.frameCount ?? 0))
    head.append(repeatElement(0, count: headSize - head.bytes.count))
    return head.bytes
  }

  /// A stored thumbnail, before its pixels are decoded.
  struct Stored: Sendable {
    let lease: Lease
    let form: Form
    let isPartial: Bool
    let originalSize: ImageSize
    /// Zeros in the record, as version 0.1 wrote them, mean that nothing is known.
    let facts: PictureFacts
    /// The requested box, if this thumbnail is to be scaled down.
    private(set) var smaller: ThumbnailBox?

    /// Returns nil if this version can't read the record. The thumbnail is then made again.
    init?(_ lease: Lease) {
      guard let form = Form(rawValue: lease.shape.form), lease.count >= headSize else { return nil }
      var head = lease.withBytes { RecordDecoder($0) }
      guard (try? head.number(UInt8.self)) == ThumbRecord.version, let flags = try? head.number(UInt8.self),
        let width = try? head.number(UInt32.self), let height = try? head.number(UInt32.self),
        let format = try? head.number(UInt8.self), let depth = try? head.number(UInt8.self),
        let frames = try? head.number(UInt32.self)
      else { return nil }
      if form == .raw {
        let (bytes, overflow) = Int(lease.shape.width).multipliedReportingOverflow(
          by: Int(lease.shape.height) * 4)
        guard !overflow, bytes > 0, lease.count - headSize == bytes else { return nil }
      }
      self.lease = lease
      self.form = form
      isPartial = flags & Flag.partial != 0
      facts = PictureFacts(
        format: (1...formats.count).contains(Int(format)) ? formats[Int(format) - 1] : nil,
        isAnimated: flags & Flag.animated != 0, frameCount: frames > 0 ? Int(frames) : nil,
        depth: depth > 0 ? Int(depth) : nil)
      originalSize = ImageSize(width: Int(width), height: Int(height))
    }

    /// Returns a smaller thumbnail to be made from this one. Returns nil if this one isn't twice as large, doesn't show the
    /// whole picture, is damaged, or was scaled by a worse method.
    func made(smaller box: ThumbnailBox, from own: ThumbnailBox) -> Stored? {
      // A drawing is larger than its original, and is drawn again at the size that is asked for.
      let isDrawn = !own.enlarge && Int(lease.shape.width) > originalSize.width
      guard own.fit == .inside, !isPartial, !isDrawn, own.scaling == .best || box.scaling == .fast,
        let plan = try? box.plan(for: originalSize)
      else { return nil }
      let crop = scaled(plan.crop)
      // One pixel of tolerance for rounding.
      guard crop.width + 1 >= Double(2 * plan.target.width), crop.height + 1 >= Double(2 * plan.target.height)
      else { return nil }
      var result = self
      result.smaller = box
      return result
    }

    /// Converts a part of the original from the original's pixels to this thumbnail's.
    private func scaled(_ part: ImageRect) -> ImageRect {
      let across = Double(lease.shape.width) / Double(max(1, originalSize.width))
      let down = Double(lease.shape.height) / Double(max(1, originalSize.height))
      return ImageRect(
        x: part.x * across, y: part.y * down, width: part.width * across, height: part.height * down)
    }

    /// Returns the picture. A raw one needs no copy. Decoding another one takes some tenths of a millisecond.
    func picture() throws(ImageFault) -> Picture {
      let whole = try ownPicture()
      guard let smaller else { return whole }
      let plan = try smaller.plan(for: originalSize)
      let pixels = try whole.pixels().resampled(to: plan.target, crop: scaled(plan.crop))
      return Picture(pixels, originalSize: originalSize, facts: facts, isPartial: false)
    }

    private func ownPicture() throws(ImageFault) -> Picture {
      if form == .raw {
        return Picture(
          payload: SharedBytes(lease, from: headSize), width: Int(lease.shape.width),
          height: Int(lease.shape.height),
          originalSize: originalSize, facts: facts, isPartial: isPartial)
      }
      let packed = SharedBytes(lease, from: headSize)
      let result = try packed.withBytes { (bytes) throws(ImageFault) in try Thumbnailer.decode(bytes) }
      guard !lease.isBroken else {
        throw ImageFault(.corrupt, "a stored thumbnail can't be read from the disk")
      }
      guard let pixels = result.pictures.first, pixels.width == Int(lease.shape.width),
        pixels.height == Int(lease.shape.height)
      else { throw ImageFault(.corrupt, "a stored thumbnail has another size than its record says") }
      return Picture(pixels, originalSize: originalSize, facts: facts, isPartial: isPartial)
    }
  }
}
