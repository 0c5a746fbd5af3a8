/// Parses the boxes of an AVIF up to the end of `meta`, or of `moov` if the file is a sequence.
///
/// Only the boxes that are needed are collected, and their sizes are limited. The bytes of pictures are skipped.
struct AVIFHeaderParser: HeaderParser {
  private enum State {
    case header(Parent)
    case largeSize(BoxName, start: Int, Parent)
    case metaVersion(end: Int)
    case contents(Collected)
  }

  /// Where the next box lies.
  private enum Parent {
    case file
    case meta(end: Int)
  }

  private struct Collected {
    let name: BoxName
    let place: Int
    let end: Int
    let parent: Parent
  }

  /// The most bytes that are read at once.
  private static let maxPiece = 65_536
  /// The most bytes of a box that is collected. A profile lies in one of them.
  private static let maxBox = JPEGHeaderParser.maxProfileBytes + (1 << 20)
  /// No box ends beyond, so that no sum of places overflows.
  private static let maxPlace = 1 << 60

  private let collectsProfile: Bool
  private var state = State.header(.file)
  private var bytes: [UInt8] = []
  private var brand: BoxName?
  private var meta = ItemBoxes()
  private var hasMeta = false
  /// The item of a sequence, until its track is found.
  fileprivate var item: AVIFPicture?
  private(set) var picture: AVIFPicture?
  private(set) var profile: [UInt8]?
  private(set) var size: ImageSize?

  init(collectsProfile: Bool) {
    self.collectsProfile = collectsProfile
  }

  var first: HeaderStep { .read(skip: 0, count: 8) }

  /// A sequence without a track shows its item.
  var infoAtEnd: ImageInfo? { item.map(Self.info) }

  mutating func consume(_ piece: UnsafeRawBufferPointer, end: Int) -> HeaderStep {
    do throws(ImageFault) {
      switch state {
      case .header(let parent):
        let size = piece.bigEndian32(at: 0)
        let name = BoxName(piece.bigEndian32(at: 4))
        if size == 1 {
          state = .largeSize(name, start: end - 8, parent)
          return .read(skip: 0, count: 8)
        }
        return try box(name, start: end - 8, size: size, parent, end: end)
      case .largeSize(let name, let start, let parent):
        let (high, low) = (piece.bigEndian32(at: 0), piece.bigEndian32(at: 4))
        guard high < 1 << 28 else { throw Self.misfit(name, start) }
        return try box(name, start: start, size: high << 32 | low, parent, end: end)
      case .metaVersion(let metaEnd):
        return try goOn(at: end, .meta(end: metaEnd), end: end)
      case .contents(let box):
        bytes += piece
        if bytes.count < box.end - box.place { return readMore(of: box) }
        let found = MediaBox(name: box.name, bytes: bytes, place: box.place)
        bytes = []
        return try take(found, box, end: end)
      }
    } catch {
      return .fault(error)
    }
  }

  private static func misfit(_ name: BoxName, _ start: Int) -> ImageFault {
    ImageFault(.corrupt, "the AVIF's box \(name) has a size that is not allowed", at: start)
  }

  /// Judges a box whose header ends at `end`.
  private mutating func box(
    _ name: BoxName, start: Int, size: Int, _ parent: Parent, end: Int
  ) throws(ImageFault) -> HeaderStep {
    var boxEnd = start + size
    // Without a size, it is the file's last box.
    if size == 0, case .file = parent, name != "meta", name != "moov" { boxEnd = Self.maxPlace }
    guard boxEnd >= end, boxEnd <= Self.maxPlace else { throw Self.misfit(name, start) }
    switch parent {
    case .file:
      switch name {
      case "meta" where !hasMeta:
        guard boxEnd >= end + 4 else { throw Self.misfit(name, start) }
        hasMeta = true
        meta.place = end
        state = .metaVersion(end: boxEnd)
        return .read(skip: 0, count: 4)
      case "ftyp" where brand == nil, "moov" where brand == "avis" || !hasMeta:
        return try collect(Collected(name: name, place: end, end: boxEnd, parent: parent), start)
      default: break
      }
    case .meta(let metaEnd):
      guard boxEnd <= metaEnd else { throw Self.misfit(name, start) }
      if name == "idat" { meta.data = end..<boxEnd }
      if ItemBoxes.names.contains(name) {
        guard meta.boxes[name] == nil else {
          throw ImageFault(.corrupt, "the AVIF has two boxes \(name)", at: start)
        }
        return try collect(Collected(name: name, place: end, end: boxEnd, parent: parent), start)
      }
    }
    return try goOn(at: boxEnd, parent, end: end)
  }

  private mutating func collect(_ box: Collected, _ start: Int) throws(ImageFault) -> HeaderStep {
    let count = box.end - box.place
    guard count <= Self.maxBox else {
      throw ImageFault(
        .tooLarge, "the AVIF's box \(box.name) has \(count) bytes; the limit is \(Self.maxBox)", at: start)
    }
    guard count > 0 else {
      return try take(MediaBox(name: box.name, bytes: [], place: box.place), box, end: box.place)
    }
    return readMore(of: box)
  }

  private mutating func readMore(of box: Collected) -> HeaderStep {
    state = .contents(box)
    return .read(skip: 0, count: min(Self.maxPiece, box.end - box.place - bytes.count))
  }

  /// Goes on with the box at `place`, or behind `meta`.
  private mutating func goOn(at place: Int, _ parent: Parent, end: Int) throws(ImageFault) -> HeaderStep {
    if case .meta(let metaEnd) = parent, place > metaEnd - 8 {
      if let step = try finishMeta(end: end) { return step }
      return try goOn(at: metaEnd, .file, end: end)
    }
    state = .header(parent)
    return .read(skip: place - end, count: 8)
  }

  private mutating func take(_ box: MediaBox, _ collected: Collected, end: Int) throws(ImageFault)
    -> HeaderStep
  {
    switch box.name {
    case "ftyp": brand = try box.read { (reader) throws(ImageFault) in try reader.readName() }
    case "moov":
      if let step = try finishTracks(box) { return step }
    default: meta.boxes[box.name] = box
    }
    return try goOn(at: collected.end, collected.parent, end: end)
  }

  /// Returns nil if a track may follow that counts more than the item.
  private mutating func finishMeta(end: Int) throws(ImageFault) -> HeaderStep? {
    let isSequence = brand == "avis"
    do throws(ImageFault) {
      let tables = try ItemTables(meta)
      // The brands may name only the container.
      if tables.isHEVC && !isSequence {
        let info = try ImageInfo(heic: tables, end: end)
        size = info.size
        return .found(info)
      }
      let items = try AVIFItems(meta, tables)
      size = try items.announcedSize()
      let found = try items.picture()
      if !isSequence { return finish(found, try items.profile()) }
      item = found
      if collectsProfile { profile = try items.profile() }
    } catch {
      if !isSequence { throw error }
    }
    meta = ItemBoxes()
    return nil
  }

  private mutating func finishTracks(_ box: MediaBox) throws(ImageFault) -> HeaderStep? {
    let tracks = try AVIFTracks(box)
    guard let found = tracks.picture else {
      guard let item else { return nil }
      return .found(Self.info(item))
    }
    size = found.color.size
    return finish(found, tracks.profile)
  }

  private mutating func finish(_ found: AVIFPicture, _ icc: [UInt8]?) -> HeaderStep {
    picture = found
    profile = collectsProfile ? icc : nil
    return .found(Self.info(found))
  }

  private static func info(_ picture: AVIFPicture) -> ImageInfo {
    var info = ImageInfo(
      format: .avif, size: picture.crop.size, color: picture.isGrey ? .gray : .ycbcr, depth: picture.depth)
    info.orientation = picture.orientation
    info.hasAlpha = picture.alpha != nil
    info.hasICC = picture.hasProfile
    info.hasEXIF = picture.hasEXIF
    info.isAnimated = picture.frameCount > 1
    info.frameCount = picture.frameCount
    if info.isAnimated { info.pixelsEnd = picture.end }
    info.wholePictureBytes = picture.decoderBytes
    info.greatestReduction = picture.greatestReduction
    return info
  }
}

extension AVIFPicture {
  /// Finds the picture in the bytes of a file, which hold at least its header.
  static func found(in bytes: UnsafeRawBufferPointer) throws(ImageFault) -> AVIFPicture {
    var parser = AVIFHeaderParser(collectsProfile: false)
    do throws(ImageFault) { _ = try parser.parse(bytes) } catch {
      guard error.kind == .truncated, let item = parser.item else { throw error }
      return item
    }
    guard let picture = parser.picture ?? parser.item else {
      throw ImageFault(.internal, "an AVIF without a picture was found")
    }
    return picture
  }
}
