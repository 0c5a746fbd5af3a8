/// Reads a HEIC's `meta` box, which has the size of the primary picture.
struct HEICHeaderParser: HeaderParser {
  private enum State {
    case box
    case largeSize(BoxName)
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
      let (length, name) = (bytes.bigEndian32(at: 0), BoxName(bytes.bigEndian32(at: 4)))
      guard length != 1 else {
        state = .largeSize(name)
        return .read(skip: 0, count: 8)
      }
      return box(name, contents: length - 8, end: end)
    case .largeSize(let name):
      let length = bytes.bigEndian32(at: 0) << 32 | bytes.bigEndian32(at: 4)
      return box(name, contents: max(length, 0) - 16, end: end)
    case .meta(let missing):
      meta += bytes
      if missing > bytes.count { return next(missing - bytes.count) }
      return found(end: end)
    }
  }

  private mutating func box(_ name: BoxName, contents: Int, end: Int) -> HeaderStep {
    guard contents >= 0, contents < 1 << 60 else {
      return .fault(
        ImageFault(.corrupt, "the HEIC's box \(name) has a size that is not allowed", at: end - 8))
    }
    guard name == "meta" else {
      state = .box
      return .read(skip: contents, count: 8)
    }
    guard contents <= Self.mostInMeta, contents > 4 else {
      return .fault(ImageFault(.corrupt, "the HEIC's header has \(contents) bytes", at: end - 8))
    }
    return next(contents)
  }

  private mutating func next(_ missing: Int) -> HeaderStep {
    state = .meta(missing: missing)
    return .read(skip: 0, count: min(missing, Self.mostAtOnce))
  }

  private mutating func found(end: Int) -> HeaderStep {
    do throws(ImageFault) {
      let whole = MediaBox(name: "meta", bytes: meta, place: end - meta.count)
      var boxes = ItemBoxes()
      try whole.read { (reader) throws(ImageFault) in
        try reader.skip(4)
        while let box = try reader.box() {
          guard ItemBoxes.names.contains(box.name) else { continue }
          boxes.boxes[box.name] = MediaBox(name: box.name, bytes: Array(box.rest()), place: box.place)
        }
      }
      let info = try ImageInfo(heic: ItemTables(boxes), end: end)
      size = info.size
      return .found(info)
    } catch {
      return .fault(error)
    }
  }
}

extension ImageInfo {
  /// The size of a HEIC's primary picture with its crop and its turns, and the bits of its samples.
  init(heic tables: ItemTables, end: Int) throws(ImageFault) {
    let properties = try ItemProperties(of: tables.primary, tables)
    guard let stored = properties.size, stored.width > 0, stored.height > 0, stored.width <= Int32.max,
      stored.height <= Int32.max
    else {
      throw ImageFault(.corrupt, "the HEIC doesn't say the size of its picture", at: end)
    }
    let shown = properties.roundedCrop(of: stored)
    let depth = properties.depth.map { (1...16).contains($0) ? $0 : 8 } ?? 8
    self.init(
      format: .heic, size: properties.turns & 1 == 1 ? shown.transposed : shown, color: .ycbcr, depth: depth)
    // libheif applies the turns of the file, and an alpha picture may stand anywhere.
    hasAlpha = true
    pixelsEnd = tables.end
  }
}

extension ItemProperties {
  /// Returns the size of the part that `clap` leaves. libheif rounds a part that isn't made of whole pixels, and cuts one that
  /// isn't within the picture.
  fileprivate func roundedCrop(of size: ImageSize) -> ImageSize {
    guard let numbers = aperture else { return size }
    func axis(_ at: Int, _ offsetAt: Int, _ side: Int, roundsDown: Bool) -> Int? {
      let (count, countBelow) = (numbers[at], numbers[at + 1])
      let offset = Int(Int32(truncatingIfNeeded: numbers[offsetAt]))
      let below = numbers[offsetAt + 1]
      let denominators = 1...(1 << 15)  // so that no product is too large
      guard denominators.contains(countBelow), denominators.contains(below), count >= countBelow else {
        return nil
      }
      // The first pixel, times `unit`.
      let unit = 2 * below * countBelow
      let start = 2 * offset * countBelow + (side * countBelow - count) * below
      guard start >= 0 else { return nil }
      let first = (roundsDown ? start : start + unit / 2) / unit
      let pixels = (count - countBelow + countBelow / 2) / countBelow + 1
      return first < side ? min(pixels, side - first) : nil
    }
    guard let width = axis(0, 4, size.width, roundsDown: true),
      let height = axis(2, 6, size.height, roundsDown: false)
    else { return size }
    return ImageSize(width: width, height: height)
  }
}
