/// The properties of one item that matter for its pixels.
struct ItemProperties {
  var size: ImageSize?
  var config: AVIFPicture.Config?
  var colors: AVIFColors?
  /// Bits of a sample, as `hvcC` or `pixi` say.
  var depth: Int?
  /// The contents of `colr` with an ICC profile.
  var profile: (name: BoxName, contents: Range<Int>)?
  var operatingPoint = 0
  var layer: Int?
  var isAlpha = false
  var aperture: [Int]?
  /// Quarters of a turn to the left.
  var turns = 0
  /// 0 exchanges top and bottom, 1 exchanges left and right.
  var mirror: Int?
  /// A property that is essential and unknown.
  var unknown: BoxName?

  /// Essential or not, these change nothing here.
  private static let ignored: Set<BoxName> = ["pasp", "a1lx", "clli", "mdcv", "cclv", "amve", "rloc"]

  init() {}

  /// Reads the properties of an item.
  init(of item: Int, _ tables: ItemTables) throws(ImageFault) {
    for association in tables.associations[item] ?? [] where association.property > 0 {
      guard association.property <= tables.properties.count else {
        throw ImageFault(
          .corrupt, "an item of the file has the property \(association.property), which doesn't exist",
          at: tables.propertyBox.place)
      }
      let property = tables.properties[association.property - 1]
      let isKnown = try tables.read(property) { (reader) throws(ImageFault) in
        try self.take(&reader, property)
      }
      if !isKnown && association.isEssential { unknown = property.name }
    }
  }

  /// Reads a property; returns false if it is unknown.
  mutating func take(_ reader: inout BoxReader, _ property: (name: BoxName, contents: Range<Int>))
    throws(ImageFault) -> Bool
  {
    switch reader.name {
    case "ispe":
      try reader.skip(4)
      size = ImageSize(width: try reader.number(4), height: try reader.number(4))
    case "av1C": config = try Self.config(&reader)
    case "hvcC": depth = reader.rest().dropFirst(17).first.map { Int($0 & 7) + 8 }
    // `hvcC` is of the pixels themselves.
    case "pixi": depth = depth ?? reader.rest().dropFirst(5).first.map { Int($0) }
    case "colr":
      switch try reader.readName() {
      case "nclx": colors = try Self.colors(&reader)
      case "prof", "rICC":
        profile = (property.name, property.contents.lowerBound + 4..<property.contents.upperBound)
      default: break
      }
    case "a1op": operatingPoint = try reader.number(1) & 31
    case "lsel":
      let wanted = try reader.number(2)
      layer = wanted < 4 ? wanted : nil
    case "auxC":
      try reader.skip(4)
      isAlpha = Self.isAlpha(reader.rest())
    case "clap":
      var numbers: [Int] = []
      for _ in 0..<8 { numbers.append(try reader.number(4)) }
      aperture = numbers
    case "irot": turns = try reader.number(1) & 3
    case "imir": mirror = try reader.number(1) & 1
    default: return Self.ignored.contains(reader.name)
    }
    return true
  }

  /// The names that `auxC` and `auxi` have for alpha, with a zero behind them.
  static func isAlpha(_ text: UnsafeRawBufferPointer) -> Bool {
    let name = text.prefix { $0 != 0 }
    return name.elementsEqual("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha".utf8)
      || name.elementsEqual("urn:mpeg:hevc:2015:auxid:1".utf8)
  }

  static func config(_ reader: inout BoxReader) throws(ImageFault) -> AVIFPicture.Config {
    let bits = try reader.number(4)
    guard bits >> 24 == 0x81 else { throw reader.fault("has a version that doesn't exist") }
    let isDeep = bits >> 14 & 1 == 1
    let isDeepest = bits >> 13 & 1 == 1
    let isGrey = bits >> 12 & 1 == 1
    let halves = (columns: bits >> 11 & 1 == 1, rows: bits >> 10 & 1 == 1)
    return AVIFPicture.Config(
      depth: isDeep ? (isDeepest ? 12 : 10) : 8,
      chroma: isGrey ? 0 : halves.rows ? 1 : halves.columns ? 2 : 3)
  }

  private static func colors(_ reader: inout BoxReader) throws(ImageFault) -> AVIFColors {
    AVIFColors(
      primaries: try reader.number(2), transfer: try reader.number(2), matrix: try reader.number(2),
      isFullRange: try reader.number(1) >> 7 == 1)
  }

  /// The order of application is fixed: the turn comes before the mirror.
  var orientation: Orientation {
    switch (turns, mirror) {
    case (0, 0): .flipped
    case (0, 1): .mirrored
    case (1, nil): .rotated270
    case (1, 0): .transposed
    case (1, 1): .transversed
    case (2, nil): .rotated180
    case (2, 0): .mirrored
    case (2, 1): .flipped
    case (3, nil): .rotated90
    case (3, 0): .transversed
    case (3, 1): .transposed
    default: .upright
    }
  }

  /// The part that `clap` leaves. As browsers do it, one that isn't made of whole pixels, or isn't within the picture, is
  /// ignored.
  func crop(of size: ImageSize) -> AVIFPicture.Crop {
    let whole = AVIFPicture.Crop(size: size)
    guard let numbers = aperture else { return whole }
    /// Returns the first pixel and the number of pixels along one axis.
    func axis(_ at: Int, _ offsetAt: Int, _ side: Int) -> (first: Int, count: Int)? {
      let (count, countBelow) = (numbers[at], numbers[at + 1])
      let offset = Int(Int32(truncatingIfNeeded: numbers[offsetAt]))
      let below = numbers[offsetAt + 1]
      guard countBelow > 0, count % countBelow == 0, below > 0, below <= Int32.max, side <= Int32.max else {
        return nil
      }
      let pixels = count / countBelow
      guard pixels > 0, pixels <= side else { return nil }
      // The middle of the part is `offset` away from the picture's.
      let twice = 2 * offset + (side - pixels) * below
      guard twice >= 0, twice % (2 * below) == 0, twice / (2 * below) <= side - pixels else { return nil }
      return (twice / (2 * below), pixels)
    }
    guard let columns = axis(0, 4, size.width), let rows = axis(2, 6, size.height) else { return whole }
    return AVIFPicture.Crop(
      x: columns.first, y: rows.first, size: ImageSize(width: columns.count, height: rows.count))
  }
}
