import CSystem

/// Parses a PNG's chunks up to the first with pixels.
struct PNGHeaderParser: HeaderParser {
  private enum State {
    case header
    case chunk
    case exif(rest: Int)
    case animation
  }

  /// The most EXIF bytes that are read. That is enough, because the orientation is in the first directory.
  private static let maxEXIF = 65_536

  private var state = State.header
  private var info: ImageInfo?

  /// Skips the signature and reads all of IHDR.
  var first: HeaderStep { .read(skip: 8, count: 25) }

  /// Known after IHDR.
  var size: ImageSize? { info?.size }

  /// The decoder finds the profile itself.
  var profile: [UInt8]? { nil }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch state {
    case .header:
      return header(bytes, end: end)
    case .chunk:
      return chunk(length: bytes.bigEndian32(at: 0), name: bytes.bigEndian32(at: 4), end: end)
    case .exif(let rest):
      info?.orientation = EXIFOrientation.read(bytes)
      return next(skip: rest)
    case .animation:
      // Other numbers are not allowed; browsers then show a still picture.
      let frames = bytes.bigEndian32(at: 0)
      if (1...Int(Int32.max)).contains(frames) {
        info?.isAnimated = true
        info?.frameCount = frames
      }
      return next(skip: 4 + 4)
    }
  }

  private mutating func next(skip: Int) -> HeaderStep {
    state = .chunk
    return .read(skip: skip, count: 8)
  }

  private mutating func header(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    if bytes.bigEndian32(at: 4) == Name.CgBI {
      return .fault(
        ImageFault(.unsupportedFormat("png-cgbi"), "Apple's variant of PNG (CgBI) isn't decoded", at: end))
    }
    guard bytes.bigEndian32(at: 0) == 13, bytes.bigEndian32(at: 4) == Name.IHDR else {
      return .fault(ImageFault(.corrupt, "the PNG's first chunk is not IHDR", at: end))
    }
    let crc = nhs_crc32(0, bytes.baseAddress?.advanced(by: 4), 17)
    guard Int(crc) == bytes.bigEndian32(at: 21) else {
      return .fault(ImageFault(.corrupt, "the PNG's IHDR chunk has a wrong checksum", at: end))
    }
    let size = ImageSize(width: bytes.bigEndian32(at: 8), height: bytes.bigEndian32(at: 12))
    guard size.width > 0, size.height > 0, size.width <= Int32.max, size.height <= Int32.max else {
      return .fault(ImageFault(.corrupt, "the PNG's size is \(size), which is not allowed", at: end))
    }
    let depth = Int(bytes[16])
    let color: ImageInfo.Color
    let depths: [Int]
    switch bytes[17] {
    case 0: (color, depths) = (.gray, [1, 2, 4, 8, 16])
    case 2: (color, depths) = (.rgb, [8, 16])
    case 3: (color, depths) = (.palette, [1, 2, 4, 8])
    case 4: (color, depths) = (.grayAlpha, [8, 16])
    case 6: (color, depths) = (.rgba, [8, 16])
    default:
      return .fault(
        ImageFault(.corrupt, "the PNG's colour type is \(bytes[17]), which doesn't exist", at: end))
    }
    guard depths.contains(depth), bytes[18] == 0, bytes[19] == 0, bytes[20] <= 1 else {
      return .fault(ImageFault(.corrupt, "the PNG's IHDR chunk has invalid values", at: end))
    }
    var found = ImageInfo(format: .png, size: size, color: color, depth: depth)
    found.isProgressive = bytes[20] == 1
    found.hasAlpha = color == .grayAlpha || color == .rgba
    if found.isProgressive {
      let (bytes, overflow) = size.area.multipliedReportingOverflow(by: 4)
      found.wholePictureBytes = overflow ? Int.max : bytes
    }
    info = found
    return next(skip: 0)
  }

  private mutating func chunk(length: Int, name: Int, end: Int) -> HeaderStep {
    guard length <= Int32.max else {
      return .fault(ImageFault(.corrupt, "a PNG chunk has \(length) bytes, more than allowed", at: end))
    }
    switch name {
    case Name.IDAT:
      guard let info else { return .fault(ImageFault(.internal, "IDAT without IHDR", at: end)) }
      return .found(info)
    case Name.IEND:
      return .fault(ImageFault(.corrupt, "the PNG ends before its pixels", at: end))
    case Name.IHDR:
      return .fault(ImageFault(.corrupt, "the PNG has a second IHDR chunk", at: end))
    case Name.tRNS:
      info?.hasAlpha = true
    case Name.iCCP:
      info?.hasICC = true
    case Name.acTL where length == 8:
      state = .animation
      return .read(skip: 0, count: 4)
    case Name.eXIf:
      info?.hasEXIF = true
      let count = min(length, Self.maxEXIF)
      guard count > 0 else { break }
      state = .exif(rest: length - count + 4)
      return .read(skip: 0, count: count)
    default:
      break
    }
    return next(skip: length + 4)
  }

  private enum Name {
    static let IHDR = 0x4948_4452
    static let IDAT = 0x4944_4154
    static let IEND = 0x4945_4E44
    static let CgBI = 0x4367_4249
    static let tRNS = 0x7452_4E53
    static let iCCP = 0x6943_4350
    static let acTL = 0x6163_544C
    static let eXIf = 0x6558_4966
  }
}
