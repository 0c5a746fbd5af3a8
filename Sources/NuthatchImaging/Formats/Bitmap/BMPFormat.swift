/// BMP: collected and decoded at the end, because most have their last row first.
struct BMPFormat: PictureFormat {
  let format = ImageFormat.bmp

  func headerParser(collectsProfile: Bool) -> any HeaderParser { BMPHeaderParser() }

  func kind(_ info: ImageInfo) -> String { "a BMP" }

  func addMemory(_ info: ImageInfo, _ plans: [StoredPlan], earlyStop: Bool, to sum: inout MemorySum) {
    sum.add(info.size.width, 4 * 17)
    sum.add(info.wholePictureBytes, 1)
  }

  func decoder(_ job: Job) throws(ImageFault) -> any PictureDecoder {
    CollectingDecoder { (bytes) throws(ImageFault) in
      var parser = BMPHeaderParser()
      _ = try parser.parse(bytes)
      guard let (header, places) = parser.found else {
        throw ImageFault(.internal, "the BMP's header was not found")
      }
      return try DIBDecoder.decode(header, bytes, places, job)
    }
  }
}

/// Parses a BMP's two headers.
struct BMPHeaderParser: HeaderParser {
  private static let fileHeader = 14

  private var header: [UInt8] = []
  /// Where the pixels are, as the file says. 0 stands for after the colour table.
  private var pixels = 0

  /// Known at the end.
  private(set) var found: (DIBHeader, DIBRows.Places)?

  var first: HeaderStep { .read(skip: 0, count: Self.fileHeader + 4) }

  var size: ImageSize? { found?.0.size }

  var profile: [UInt8]? { nil }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    if header.isEmpty {
      pixels = bytes.littleEndian32(at: 10)
      header += bytes[Self.fileHeader...]
    } else {
      header += bytes
    }
    guard DIBHeader.lengths.contains(header.withUnsafeBytes { $0.littleEndian32(at: 0) }) else {
      return .fault(ImageFault(.corrupt, "the BMP's header has a length that doesn't exist", at: end))
    }
    let missing = header.withUnsafeBytes { DIBHeader.missing($0) }
    if missing > 0 { return .read(skip: 0, count: missing) }
    do throws(ImageFault) {
      let header = try self.header.withUnsafeBufferPointer { (bytes) throws(ImageFault) in
        try DIBHeader(UnsafeRawBufferPointer(bytes), at: end, isInIcon: false)
      }
      found = (header, try places(header, end: end))
      return .found(header.info(.bmp))
    } catch {
      return .fault(error)
    }
  }

  private func places(_ header: DIBHeader, end: Int) throws(ImageFault) -> DIBRows.Places {
    let colors = Self.fileHeader + header.byteCount
    // Some writers forget the colour table when they say where the pixels are.
    if pixels == 0 || (pixels == colors && header.bits <= 8) {
      return DIBRows.Places(colors: colors, pixels: colors + header.tableBytes)
    }
    guard pixels >= colors else {
      throw ImageFault(.corrupt, "the BMP's pixels begin at byte \(pixels), within its header", at: end)
    }
    return DIBRows.Places(colors: colors, pixels: pixels)
  }
}
