/// Parses a JPEG's segments up to the first scan.
struct JPEGHeaderParser: HeaderParser {
  private enum State {
    case marker
    case code
    case length(UInt8)
    case frame(UInt8)
    case scan
    case exifName(rest: Int)
    case exif
    case profileName(rest: Int)
    case profile(index: UInt8, count: UInt8)
    case adobe(rest: Int)
    case jfif(rest: Int)
  }

  /// With more bytes between segments, the input is corrupt.
  private static let maxGarbage = 65_536
  /// A larger profile is ignored.
  static let maxProfileBytes = 4 << 20

  private var state = State.marker
  private var garbage = 0
  private var info: ImageInfo?
  private var blocks: JPEGBlocks?
  private var isJFIF = false
  private var adobeTransform: UInt8?
  private var orientation: Orientation?
  private var hasICC = false
  private let collectsProfile: Bool
  private var profileParts: [UInt8: [UInt8]] = [:]
  private var profileBytes = 0
  private var profileCount: UInt8 = 0

  init(collectsProfile: Bool) {
    self.collectsProfile = collectsProfile
  }

  /// Known after the frame header, before the rest of the header.
  var size: ImageSize? { info?.size }

  /// The ICC profile, if all its parts are present.
  var profile: [UInt8]? {
    guard profileCount > 0, profileParts.count == Int(profileCount) else { return nil }
    var whole: [UInt8] = []
    for index in 1...profileCount {
      guard let part = profileParts[index] else { return nil }
      whole += part
    }
    return whole
  }

  /// Skips the two bytes of SOI.
  var first: HeaderStep { .read(skip: 2, count: 1) }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch state {
    case .marker:
      if bytes[0] == 0xFF {
        state = .code
      } else {
        garbage += 1
        if garbage > Self.maxGarbage {
          return corrupt("a JPEG marker is missing", end)
        }
      }
      return .read(skip: 0, count: 1)
    case .code:
      return code(bytes[0], end: end)
    case .length(let code):
      let length = bytes.bigEndian16(at: 0)
      guard length >= 2 else {
        return corrupt("a JPEG segment has the length \(length), which is too short", end)
      }
      return segment(code, rest: length - 2, end: end)
    case .frame(let code):
      return frame(code, bytes, end: end)
    case .scan:
      return scan(components: Int(bytes[0]), end: end)
    case .exifName(let rest):
      if bytes.starts(with: "Exif\0".utf8) {
        guard rest >= 8 else { return next(skip: rest) }
        state = .exif
        return .read(skip: 0, count: rest)
      }
      return next(skip: rest)
    case .exif:
      if orientation == nil { orientation = EXIFOrientation.read(bytes) }
      return next(skip: 0)
    case .profileName(let rest):
      guard bytes.starts(with: "ICC_PROFILE\0".utf8) else { return next(skip: rest) }
      hasICC = true
      profileBytes += rest
      guard collectsProfile, profileBytes <= Self.maxProfileBytes, rest > 0 else { return next(skip: rest) }
      state = .profile(index: bytes[12], count: bytes[13])
      return .read(skip: 0, count: rest)
    case .profile(let index, let count):
      profileCount = count
      profileParts[index] = Array(bytes)
      return next(skip: 0)
    case .adobe(let rest):
      if bytes.starts(with: "Adobe".utf8) { adobeTransform = bytes[11] }
      return next(skip: rest)
    case .jfif(let rest):
      if bytes.starts(with: "JFIF\0".utf8) { isJFIF = true }
      return next(skip: rest)
    }
  }

  private func corrupt(_ message: String, _ place: Int) -> HeaderStep {
    .fault(ImageFault(.corrupt, message, at: place))
  }

  private func unsupported(_ name: String, _ message: String, _ place: Int) -> HeaderStep {
    .fault(ImageFault(.unsupportedFormat(name), message, at: place))
  }

  private mutating func next(skip: Int) -> HeaderStep {
    state = .marker
    return .read(skip: skip, count: 1)
  }

  private mutating func code(_ code: UInt8, end: Int) -> HeaderStep {
    switch code {
    case 0xFF:
      garbage += 1
      if garbage > Self.maxGarbage {
        return corrupt("a JPEG marker is missing", end)
      }
      return .read(skip: 0, count: 1)
    case 0x00:
      garbage += 2
      return next(skip: 0)
    case 0x01, 0xD0...0xD7:
      return next(skip: 0)
    case 0xD8:
      return corrupt("the JPEG has a second start-of-image marker", end)
    case 0xD9:
      return corrupt("the JPEG ends before its first scan", end)
    default:
      state = .length(code)
      return .read(skip: 0, count: 2)
    }
  }

  private mutating func segment(_ code: UInt8, rest: Int, end: Int) -> HeaderStep {
    switch code {
    case 0xC0...0xC3, 0xC5...0xCB, 0xCD...0xCF:
      if info != nil { return corrupt("the JPEG has a second frame header", end) }
      guard rest >= 6 else { return corrupt("the JPEG's frame header has \(rest) bytes, too few", end) }
      state = .frame(code)
      return .read(skip: 0, count: rest)
    case 0xDA:
      guard info != nil else { return corrupt("the JPEG has a scan before its frame header", end) }
      guard rest >= 1 else { return corrupt("a scan of the JPEG has an empty header", end) }
      state = .scan
      return .read(skip: 0, count: 1)
    case 0xE0 where rest >= 5:
      state = .jfif(rest: rest - 5)
      return .read(skip: 0, count: 5)
    case 0xE1 where rest >= 6:
      state = .exifName(rest: rest - 6)
      return .read(skip: 0, count: 6)
    case 0xE2 where rest >= 14:
      state = .profileName(rest: rest - 14)
      return .read(skip: 0, count: 14)
    case 0xEE where rest >= 12:
      state = .adobe(rest: rest - 12)
      return .read(skip: 0, count: 12)
    default:
      return next(skip: rest)
    }
  }

  private mutating func frame(_ code: UInt8, _ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch code {
    case 0xC0, 0xC1, 0xC2, 0xC9, 0xCA: break
    case 0xC3, 0xCB: return unsupported("jpeg-lossless", "a lossless JPEG isn't decoded", end)
    default: return unsupported("jpeg-hierarchical", "a hierarchical JPEG isn't decoded", end)
    }
    if bytes[0] != 8 {
      return unsupported("jpeg-\(bytes[0])bit", "a JPEG of \(bytes[0]) bits a sample isn't decoded", end)
    }
    let size = ImageSize(width: bytes.bigEndian16(at: 3), height: bytes.bigEndian16(at: 1))
    let count = Int(bytes[5])
    guard bytes.count == 6 + 3 * count, count > 0 else {
      return corrupt("the JPEG's frame header has \(bytes.count) bytes, the wrong number", end)
    }
    guard size.width > 0, size.height > 0 else {
      return corrupt("the JPEG's size is \(size), which is not allowed", end)
    }
    guard count == 1 || count == 3 || count == 4 else {
      return unsupported("jpeg-\(count)components", "a JPEG of \(count) components isn't decoded", end)
    }
    var found = ImageInfo(format: .jpeg, size: size, color: .gray, depth: 8)
    found.isProgressive = code == 0xC2 || code == 0xCA
    guard let blocks = JPEGBlocks(size, UnsafeRawBufferPointer(rebasing: bytes[6...])) else {
      return corrupt("the JPEG has invalid sampling factors", end)
    }
    found.wholePictureBytes = blocks.coefficientBytes
    found.greatestReduction = blocks.greatestReduction
    self.blocks = blocks
    info = found
    return next(skip: 0)
  }

  private mutating func scan(components: Int, end: Int) -> HeaderStep {
    guard var found = info else { return .fault(ImageFault(.internal, "a scan without a frame", at: end)) }
    // A sequential JPEG whose first scan has all components needs no memory for the whole picture.
    if !found.isProgressive && components >= blocks?.count ?? 0 { found.wholePictureBytes = 0 }
    found.color = color
    if found.isProgressive { found.meansBytes = blocks?.meansBytes(found.color) }
    found.orientation = orientation ?? .upright
    found.hasEXIF = orientation != nil
    found.hasICC = hasICC
    return .found(found)
  }

  /// Guesses as libjpeg does.
  private var color: ImageInfo.Color {
    switch blocks?.count {
    case 1: return .gray
    case 4: return adobeTransform == 2 ? .ycck : .cmyk
    default:
      if isJFIF { return .ycbcr }
      if let adobeTransform { return adobeTransform == 0 ? .rgb : .ycbcr }
      return blocks?.isNamedRGB == true ? .rgb : .ycbcr
    }
  }
}
