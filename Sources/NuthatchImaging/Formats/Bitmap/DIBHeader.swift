/// The header of a device-independent bitmap, as BMP files and icons have it: 12 to 124 bytes, perhaps with masks after it.
struct DIBHeader: Sendable {
  enum Compression { case none, runs8, runs4 }

  /// The known lengths: OS/2's two and its short form, and five versions of Windows.
  static let lengths: Set<Int> = [12, 16, 40, 52, 56, 64, 108, 124]

  /// The bytes of the header, with the masks after it. The colour table follows.
  let byteCount: Int
  let size: ImageSize
  /// Whether the first row in the file is the top one.
  let isTopDown: Bool
  /// The bits of a pixel.
  let bits: Int
  let compression: Compression
  /// The entries of the colour table, and the bytes of each.
  let colorCount: Int
  let colorBytes: Int
  /// The bits of red, green, blue and alpha, of pixels of 16 bits and more. No bit means that there is no such channel.
  let masks: [UInt32]

  /// The bytes of a row: rows begin at multiples of four bytes.
  var rowBytes: Int { (size.width * bits + 31) / 32 * 4 }

  /// The colour table's bytes.
  var tableBytes: Int { colorCount * colorBytes }

  var hasAlpha: Bool { masks[3] != 0 }

  /// Returns how many bytes are missing after these, which begin a header; at least its first four are there.
  static func missing(_ header: UnsafeRawBufferPointer) -> Int {
    let length = header.littleEndian32(at: 0)
    guard header.count >= length else { return length - header.count }
    return length + masksAfter(header) - header.count
  }

  /// A header of 40 bytes has masks after it.
  private static func masksAfter(_ header: UnsafeRawBufferPointer) -> Int {
    guard header.littleEndian32(at: 0) == 40 else { return 0 }
    switch header.littleEndian32(at: 16) {
    case 3: return 12
    case 6: return 16
    default: return 0
    }
  }

  /// - Parameters:
  ///   - bytes: the header, complete as `missing` says.
  ///   - place: where it ends in the file, for messages.
  ///   - isInIcon: the height includes a mask's rows, and 32 bits a pixel include alpha.
  init(_ bytes: UnsafeRawBufferPointer, at place: Int, isInIcon: Bool) throws(ImageFault) {
    let length = bytes.littleEndian32(at: 0)
    byteCount = length + Self.masksAfter(bytes)
    var height: Int
    let width: Int
    let code: Int
    var colors = 0
    if length == 12 {
      (width, height) = (bytes.littleEndian16(at: 4), bytes.littleEndian16(at: 6))
      (bits, code) = (bytes.littleEndian16(at: 10), 0)
    } else {
      width = Int(Int32(truncatingIfNeeded: bytes.littleEndian32(at: 4)))
      height = Int(Int32(truncatingIfNeeded: bytes.littleEndian32(at: 8)))
      bits = bytes.littleEndian16(at: 14)
      code = length >= 40 ? bytes.littleEndian32(at: 16) : 0
      colors = length >= 40 ? bytes.littleEndian32(at: 32) : 0
    }
    isTopDown = height < 0
    height = abs(height)
    if isInIcon { height /= 2 }
    size = ImageSize(width: width, height: height)
    guard width > 0, height > 0, height <= Int32.max else {
      throw ImageFault(.corrupt, "the bitmap's size is \(size), which is not allowed", at: place)
    }
    compression = try Self.compression(code, bits: bits, length: length, at: place)
    colorCount = bits > 8 ? 0 : colors > 0 ? colors : 1 << bits
    colorBytes = length == 12 ? 3 : 4
    let hasMasks = code == 3 || code == 6
    masks = Self.masks(hasMasks ? bytes : nil, bits: bits, isInIcon: isInIcon)
    guard bits <= 8 || masks[0] | masks[1] | masks[2] != 0 else {
      throw ImageFault(.corrupt, "the bitmap's masks have no bits", at: place)
    }
  }

  private static func compression(
    _ code: Int, bits: Int, length: Int, at place: Int
  ) throws(ImageFault) -> Compression {
    func unsupported(_ name: String, _ message: String) -> ImageFault {
      ImageFault(.unsupportedFormat(name), message, at: place)
    }
    switch code {
    case 0 where [1, 2, 4, 8, 16, 24, 32].contains(bits): return .none
    case 0: throw unsupported("bmp-\(bits)bit", "a bitmap of \(bits) bits a pixel isn't decoded")
    case 1 where bits == 8: return .runs8
    case 2 where bits == 4: return .runs4
    // OS/2 gives two numbers another meaning.
    case 3 where length == 64: throw unsupported("bmp-huffman", "a bitmap in Huffman's code isn't decoded")
    case 4 where length == 64: throw unsupported("bmp-rle24", "a bitmap of runs of 24 bits isn't decoded")
    case 3 where [16, 24, 32].contains(bits), 6 where [16, 24, 32].contains(bits): return .none
    case 4: throw unsupported("bmp-jpeg", "a JPEG in a bitmap isn't decoded")
    case 5: throw unsupported("bmp-png", "a PNG in a bitmap isn't decoded")
    case 11, 12, 13: throw unsupported("bmp-cmyk", "a bitmap of CMYK isn't decoded")
    default:
      throw ImageFault(
        .corrupt, "the bitmap has \(bits) bits a pixel with compression \(code), which is not allowed",
        at: place)
    }
  }

  /// Returns the masks of a header that has some, or the usual ones.
  private static func masks(_ header: UnsafeRawBufferPointer?, bits: Int, isInIcon: Bool) -> [UInt32] {
    var masks: [UInt32] = bits == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
    if bits == 32 && isInIcon { masks[3] = 0xFF00_0000 }
    guard let header else { return masks }
    // Red, green and blue are there in any case, and alpha from 56 bytes on.
    let given = (0..<min(4, (header.count - 40) / 4)).map { header.littleEndian32(at: 40 + 4 * $0) }
    guard given.contains(where: { $0 != 0 }) else {
      return bits == 32 ? [0xFF_0000, 0xFF00, 0xFF, 0xFF00_0000] : [0, 0, 0, 0]
    }
    for (index, mask) in given.enumerated() { masks[index] = UInt32(truncatingIfNeeded: mask) }
    return masks
  }

  /// What the probe says of such a bitmap.
  func info(_ format: ImageFormat) -> ImageInfo {
    let widest = masks.prefix(3).map(\.nonzeroBitCount).max() ?? 8
    var info = ImageInfo(
      format: format, size: size, color: bits <= 8 ? .palette : hasAlpha ? .rgba : .rgb,
      depth: bits <= 8 ? bits : widest)
    info.hasAlpha = hasAlpha
    if compression != .none { info.wholePictureBytes = size.area }
    return info
  }
}
