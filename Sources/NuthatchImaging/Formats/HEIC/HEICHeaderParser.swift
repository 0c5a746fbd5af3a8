/// Reads a HEIC's `meta` box, which has the size of the primary picture.
struct HEICHeaderParser: HeaderParser {
  private enum State {
    case box
    case meta(missing: Int)
  }

  private static let mostInMeta = 1 << 20
  private static let mostAtOnce = 64 << 10

  private var state = State.box
  private var meta: [UInt8] = []
  private(set) var size: ImageSize?

  var first: HeaderStep { .read(skip: 0, count: 8) }
  var profile: [UInt8]? { nil }

  mutating func consume(_ bytes: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    switch state {
    case .box:
      let length = bytes.bigEndian32(at: 0)
      guard length >= 8 else {
        return .fault(
          ImageFault(.corrupt, "the HEIC has a box of \(length) bytes before its header", at: end - 8))
      }
      // `meta`
      guard bytes.bigEndian32(at: 4) == 0x6D65_7461 else { return .read(skip: length - 8, count: 8) }
      guard length - 8 <= Self.mostInMeta, length > 12 else {
        return .fault(ImageFault(.corrupt, "the HEIC's header has \(length) bytes", at: end - 8))
      }
      return next(length - 8)
    case .meta(let missing):
      meta += bytes
      if missing > bytes.count { return next(missing - bytes.count) }
      return found(end: end)
    }
  }

  private mutating func next(_ missing: Int) -> HeaderStep {
    state = .meta(missing: missing)
    return .read(skip: 0, count: min(missing, Self.mostAtOnce))
  }

  private mutating func found(end: Int) -> HeaderStep {
    guard let picture = meta.withUnsafeBytes({ HEICProperties.primary($0) }) else {
      return .fault(ImageFault(.corrupt, "the HEIC doesn't say the size of its picture", at: end))
    }
    size = picture
    var info = ImageInfo(format: .heic, size: picture, color: .ycbcr, depth: 8)
    // libheif applies the turns of the file, and an alpha picture may stand anywhere.
    info.hasAlpha = true
    return .found(info)
  }
}

/// The properties of a HEIC's primary picture that change its size.
private enum HEICProperties {
  private typealias Box = (kind: Int, body: UnsafeRawBufferPointer)

  private static let (pitm, iprp, ipco, ipma) = (0x7069_746D, 0x6970_7270, 0x6970_636F, 0x6970_6D61)
  private static let (ispe, irot, clap) = (0x6973_7065, 0x6972_6F74, 0x636C_6170)

  /// - Parameter meta: the content of the `meta` box.
  static func primary(_ meta: UnsafeRawBufferPointer) -> ImageSize? {
    let top = boxes(UnsafeRawBufferPointer(rebasing: meta[4...]))
    guard let item = top.first(where: { $0.kind == pitm }).flatMap({ itemID($0.body) }),
      let parts = top.first(where: { $0.kind == iprp }).map({ boxes($0.body) }),
      let properties = parts.first(where: { $0.kind == ipco }).map({ boxes($0.body) })
    else { return nil }
    var size: ImageSize?
    for part in parts where part.kind == ipma {
      for place in places(part.body, of: item) where properties.indices.contains(place - 1) {
        apply(properties[place - 1], to: &size)
      }
    }
    guard let size, size.width > 0, size.height > 0, size.width <= Int32.max, size.height <= Int32.max else {
      return nil
    }
    return size
  }

  private static func boxes(_ bytes: UnsafeRawBufferPointer) -> [Box] {
    var found: [Box] = []
    var at = 0
    while at + 8 <= bytes.count {
      let length = bytes.bigEndian32(at: at)
      guard length >= 8, length <= bytes.count - at else { break }
      found.append(
        (bytes.bigEndian32(at: at + 4), UnsafeRawBufferPointer(rebasing: bytes[at + 8..<at + length])))
      at += length
    }
    return found
  }

  private static func itemID(_ body: UnsafeRawBufferPointer) -> Int? {
    guard body.count >= 6 else { return nil }
    if body[0] == 0 { return body.bigEndian16(at: 4) }
    return body.count >= 8 ? body.bigEndian32(at: 4) : nil
  }

  /// Returns the places of an item's properties, from 1 on.
  private static func places(_ body: UnsafeRawBufferPointer, of item: Int) -> [Int] {
    guard body.count >= 8 else { return [] }
    let isLong = body[3] & 1 != 0
    let (idBytes, placeBytes) = (body[0] == 0 ? 2 : 4, isLong ? 2 : 1)
    var at = 8
    for _ in 0..<body.bigEndian32(at: 4) {
      guard at + idBytes + 1 <= body.count else { break }
      let id = idBytes == 2 ? body.bigEndian16(at: at) : body.bigEndian32(at: at)
      let count = Int(body[at + idBytes])
      at += idBytes + 1
      guard at + count * placeBytes <= body.count else { break }
      if id == item {
        // The first bit says that a reader must know the property.
        return (0..<count).map {
          isLong ? body.bigEndian16(at: at + 2 * $0) & 0x7FFF : Int(body[at + $0] & 0x7F)
        }
      }
      at += count * placeBytes
    }
    return []
  }

  private static func apply(_ property: Box, to size: inout ImageSize?) {
    let body = property.body
    switch property.kind {
    case ispe where body.count >= 12:
      size = ImageSize(width: body.bigEndian32(at: 4), height: body.bigEndian32(at: 8))
    case irot where body.count >= 1 && body[0] & 1 == 1:
      size = size?.transposed
    case clap where body.count >= 16:
      let (width, height) = (body.bigEndian32(at: 4), body.bigEndian32(at: 12))
      guard width > 0, height > 0 else { return }
      size = ImageSize(width: body.bigEndian32(at: 0) / width, height: body.bigEndian32(at: 8) / height)
    default: break
    }
  }
}
