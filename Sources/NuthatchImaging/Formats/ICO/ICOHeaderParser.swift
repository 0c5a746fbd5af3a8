/// Parses the directory of an icon or cursor, and the header of its largest picture.
struct ICOHeaderParser: HeaderParser {
  private enum State {
    case beginning
    case directory(isCursor: Bool)
    case picture
    case png
    case bitmap
  }

  /// The picture that is decoded.
  enum Picture {
    case png(at: Int)
    /// `end` is where the directory says that it ends.
    case bitmap(DIBHeader, at: Int, end: Int)
  }

  private static let beginning = 6
  private static let entry = 16
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  private var state = State.beginning
  private var place = 0
  private var end = 0
  private var png = PNGHeaderParser()
  private var header: [UInt8] = []

  /// Known at the end.
  private(set) var picture: Picture?
  private(set) var size: ImageSize?

  var first: HeaderStep { .read(skip: 0, count: Self.beginning) }

  var profile: [UInt8]? { nil }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch state {
    case .beginning:
      let count = bytes.littleEndian16(at: 4)
      guard count > 0 else { return .fault(ImageFault(.corrupt, "the icon has no picture", at: end)) }
      state = .directory(isCursor: bytes[2] == 2)
      return .read(skip: 0, count: count * Self.entry)
    case .directory(let isCursor):
      (place, self.end) = Self.largest(bytes, isCursor: isCursor)
      guard place >= end else {
        return .fault(
          ImageFault(
            .corrupt, "the icon's largest picture begins at byte \(place), within the directory", at: end))
      }
      state = .picture
      return .read(skip: place - end, count: 8)
    case .picture:
      if bytes.elementsEqual(Self.signature) {
        state = .png
        // The signature, which the parser would skip, is behind.
        guard case .read(_, let count) = png.first else { break }
        return .read(skip: 0, count: count)
      }
      guard DIBHeader.lengths.contains(bytes.littleEndian32(at: 0)) else { break }
      state = .bitmap
      return bitmap(bytes, end: end)
    case .png:
      let step = png.consume(bytes, end: end)
      size = png.size
      guard case .found(var info) = step else { return step }
      // Of an icon, one picture is decoded, and of that the default frame.
      (info.format, info.isAnimated, info.frameCount) = (.ico, false, 1)
      picture = .png(at: place)
      return .found(info)
    case .bitmap:
      return bitmap(bytes, end: end)
    }
    return .fault(ImageFault(.corrupt, "the icon's largest picture is neither a PNG nor a bitmap", at: end))
  }

  private mutating func bitmap(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    header += bytes
    let missing = header.withUnsafeBytes { DIBHeader.missing($0) }
    if missing > 0 { return .read(skip: 0, count: missing) }
    do throws(ImageFault) {
      let header = try self.header.withUnsafeBufferPointer { (bytes) throws(ImageFault) in
        try DIBHeader(UnsafeRawBufferPointer(bytes), at: end, isInIcon: true)
      }
      picture = .bitmap(header, at: place, end: self.end)
      size = header.size
      var info = header.info(.ico)
      info.hasAlpha = true
      return .found(info)
    } catch {
      return .fault(error)
    }
  }

  /// Returns where the picture with the most pixels begins and ends; of several, of the first with the most bits.
  private static func largest(_ directory: UnsafeRawBufferPointer, isCursor: Bool) -> (Int, end: Int) {
    var best = (area: 0, depth: 0, at: 0)
    for at in stride(from: 0, to: directory.count, by: entry) {
      func side(_ byte: UInt8) -> Int { byte == 0 ? 256 : Int(byte) }
      let area = side(directory[at]) * side(directory[at + 1])
      let depth = depth(directory, at, isCursor: isCursor)
      guard (area, depth) > (best.area, best.depth) else { continue }
      best = (area, depth, at)
    }
    let place = directory.littleEndian32(at: best.at + 12)
    return (place, place + directory.littleEndian32(at: best.at + 8))
  }

  /// Returns the bits of a pixel. What says nothing of them has 8 or more; it counts as the most.
  private static func depth(_ directory: UnsafeRawBufferPointer, _ at: Int, isCursor: Bool) -> Int {
    // A cursor has the place of its tip there.
    let bits = isCursor ? 0 : directory.littleEndian16(at: at + 6)
    if bits > 0 { return bits }
    let colors = Int(directory[at + 2])
    return colors > 0 ? Int.bitWidth - (colors - 1).leadingZeroBitCount : Int(UInt16.max)
  }
}
