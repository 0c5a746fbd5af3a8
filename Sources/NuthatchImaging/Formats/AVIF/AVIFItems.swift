/// Finds the picture among the items of `meta`.
struct AVIFItems {
  /// Each tile costs time, however small it is.
  private static let mostTiles = 4096

  private let meta: ItemBoxes
  private let tables: ItemTables
  private let main: ItemProperties

  init(_ meta: ItemBoxes, _ tables: ItemTables) throws(ImageFault) {
    self.meta = meta
    self.tables = tables
    main = try ItemProperties(of: tables.primary, tables)
  }

  private var place: Int? { meta.boxes["pitm"]?.place }

  private func corrupt(_ message: String) -> ImageFault {
    ImageFault(.corrupt, "the AVIF's \(message)", at: place)
  }

  /// Returns the size of the whole picture.
  func announcedSize() throws(ImageFault) -> ImageSize {
    guard let size = main.size else { throw corrupt("picture has no size") }
    return size
  }

  func profile() throws(ImageFault) -> [UInt8]? {
    guard let profile = main.profile, profile.contents.count <= JPEGHeaderParser.maxProfileBytes else {
      return nil
    }
    return try tables.read(profile) { (reader) throws(ImageFault) in Array(reader.rest()) }
  }

  func picture() throws(ImageFault) -> AVIFPicture {
    let color = try layer(tables.primary, main)
    var picture = AVIFPicture(color: color, crop: main.crop(of: color.size))
    picture.orientation = main.orientation
    picture.hasProfile = main.profile != nil
    picture.hasEXIF = tables.kinds.values.contains("Exif")
    if let (item, alpha) = try alphaLayer(of: color) {
      picture.alpha = alpha
      picture.isPremultiplied = tables.references.contains {
        $0.kind == "prem" && $0.from == tables.primary && (item == nil || $0.to.contains(item ?? 0))
      }
    }
    return picture
  }

  /// Reads an item that is one bitstream or a grid.
  private func layer(_ item: Int, _ properties: ItemProperties) throws(ImageFault) -> AVIFPicture.Layer {
    if let unknown = properties.unknown {
      throw ImageFault(
        .unsupportedFormat("avif"), "the AVIF needs the property \(unknown), which isn't known", at: place)
    }
    let size = try judged(properties.size)
    switch tables.kinds[item] {
    case "av01":
      let coding = try coding(item, properties)
      return AVIFPicture.Layer(codings: [coding], size: size, colors: properties.colors)
    case "grid":
      let tiles = tables.references.first { $0.kind == "dimg" && $0.from == item }?.to ?? []
      guard !tiles.isEmpty else { throw corrupt("grid has no tiles") }
      return try grid(of: tiles, at: extents(of: item), size, properties.colors)
    case let kind?:
      throw ImageFault(
        .unsupportedFormat("avif"), "the AVIF's picture is an item of the kind \(kind), which isn't decoded",
        at: place)
    case nil: throw corrupt("picture is the item \(item), which doesn't exist")
    }
  }

  private func grid(
    of tiles: [Int], at description: [Range<Int>]?, _ size: ImageSize, _ colors: AVIFColors?
  ) throws(ImageFault) -> AVIFPicture.Layer {
    guard tiles.count <= Self.mostTiles else {
      throw ImageFault(
        .tooLarge, "the AVIF's grid has \(tiles.count) tiles; the limit is \(Self.mostTiles)", at: place)
    }
    var codings: [AVIFPicture.Coding] = []
    var found = colors
    for tile in tiles {
      guard tables.kinds[tile] == "av01" else { throw corrupt("grid has a tile that isn't AV1") }
      let properties = try ItemProperties(of: tile, tables)
      if let unknown = properties.unknown {
        throw ImageFault(
          .unsupportedFormat("avif"), "the AVIF needs the property \(unknown), which isn't known", at: place)
      }
      let coding = try coding(tile, properties)
      if let first = codings.first, coding.size != first.size || coding.config != first.config {
        throw corrupt("grid has tiles of several kinds")
      }
      if found == nil { found = properties.colors }
      codings.append(coding)
    }
    return AVIFPicture.Layer(codings: codings, grid: description, size: size, colors: found)
  }

  private func judged(_ size: ImageSize?) throws(ImageFault) -> ImageSize {
    guard let size else { throw corrupt("picture has no size") }
    guard size.width > 0, size.height > 0, size.width <= Int32.max, size.height <= Int32.max else {
      throw corrupt("size is \(size), which is not allowed")
    }
    return size
  }

  private func coding(_ item: Int, _ properties: ItemProperties) throws(ImageFault) -> AVIFPicture.Coding {
    let size = try judged(properties.size)
    // As AV1 has it.
    guard size.width <= 65_536, size.height <= 65_536 else {
      throw ImageFault(.tooManyPixels, "a picture of the AVIF is \(size), more than AV1 allows", at: place)
    }
    guard let config = properties.config else { throw corrupt("picture has no box av1C") }
    return AVIFPicture.Coding(
      extents: try extents(of: item), size: size, config: config, operatingPoint: properties.operatingPoint,
      layer: properties.layer)
  }

  /// Returns where an item's bytes lie in the file.
  private func extents(of item: Int) throws(ImageFault) -> [Range<Int>] {
    guard let location = tables.locations[item], !location.extents.isEmpty else {
      throw corrupt("item \(item) has no place in the file")
    }
    var ranges: [Range<Int>] = []
    for extent in location.extents {
      let base = location.isInData ? meta.data?.lowerBound ?? 0 : 0
      let (start, overflow) = base.addingReportingOverflow(extent.offset)
      let (sum, tooLarge) = start.addingReportingOverflow(extent.count)
      // Without a length, an item goes to the end of the data.
      let end = extent.count == 0 && location.isInData ? meta.data?.upperBound ?? 0 : sum
      guard !overflow, !tooLarge, end > start else { throw corrupt("item \(item) has no bytes, or too many") }
      if location.isInData {
        guard let data = meta.data, end <= data.upperBound else {
          throw corrupt("item \(item) ends outside of the box idat")
        }
      }
      ranges.append(start..<end)
    }
    // Ranges that overlap could make many bytes of few.
    let total = ranges.reduce(0) { $0 &+ $1.count }
    let end = ranges.reduce(0) { max($0, $1.upperBound) }
    guard total >= 0, total <= end else { throw corrupt("item \(item) has parts that overlap") }
    return ranges
  }
}

extension AVIFItems {
  /// Returns the alpha of the picture, and its item; nil if there is none.
  private func alphaLayer(of color: AVIFPicture.Layer) throws(ImageFault) -> (Int?, AVIFPicture.Layer)? {
    let alphas = try alphaItems()
    if let item = alphas[tables.primary] {
      var properties = try ItemProperties(of: item, tables)
      properties.size = properties.size ?? color.size
      let found = try layer(item, properties)
      guard found.size == color.size else {
        throw corrupt("alpha is \(found.size), but the picture is \(color.size)")
      }
      return (item, found)
    }
    // Each tile of the colours may have alpha of its own.
    guard color.grid != nil else { return nil }
    let tiles = tables.references.first { $0.kind == "dimg" && $0.from == tables.primary }?.to ?? []
    let items = tiles.compactMap { alphas[$0] }
    guard items.count == tiles.count else { return nil }
    return (nil, try grid(of: items, at: color.grid, color.size, nil))
  }

  /// Returns the items with alpha, by the items that they belong to.
  private func alphaItems() throws(ImageFault) -> [Int: Int] {
    var found: [Int: Int] = [:]
    for reference in tables.references where reference.kind == "auxl" {
      let properties = try ItemProperties(of: reference.from, tables)
      guard properties.isAlpha && properties.unknown == nil else { continue }
      for item in reference.to where found[item] == nil { found[item] = reference.from }
    }
    return found
  }
}
