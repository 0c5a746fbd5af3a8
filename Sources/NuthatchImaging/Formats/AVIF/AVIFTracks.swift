/// Finds the first picture of a sequence among the tracks of `moov`.
struct AVIFTracks {
  private struct Track {
    var number = 0
    var isPicture = false
    /// The tracks that it belongs to, by the kind of reference.
    var references: [BoxName: [Int]] = [:]
    var coding: AVIFPicture.Coding?
    var properties = ItemProperties()
    var count = 0
  }

  /// More tracks aren't read.
  private static let mostTracks = 64

  /// Nil if no track has pictures.
  private(set) var picture: AVIFPicture?
  private(set) var profile: [UInt8]?

  init(_ box: MediaBox) throws(ImageFault) {
    var tracks: [Track] = []
    try box.read { (reader) throws(ImageFault) in
      while let inner = try reader.box() {
        guard inner.name == "trak", tracks.count < Self.mostTracks else { continue }
        tracks.append(try Self.track(inner))
      }
    }
    guard
      let color = tracks.first(where: { $0.isPicture && $0.coding != nil && $0.references["auxl"] == nil }),
      let coding = color.coding
    else { return }
    let layer = AVIFPicture.Layer(codings: [coding], size: coding.size, colors: color.properties.colors)
    var picture = AVIFPicture(color: layer, crop: color.properties.crop(of: coding.size))
    picture.orientation = color.properties.orientation
    picture.frameCount = color.count
    if let icc = color.properties.profile {
      picture.hasProfile = true
      if icc.contents.count <= JPEGHeaderParser.maxProfileBytes {
        profile = try box.read(icc.contents, as: icc.name) { (reader) throws(ImageFault) in
          Array(reader.rest())
        }
      }
    }
    let alpha = tracks.first {
      $0.properties.isAlpha && $0.references["auxl"]?.contains(color.number) == true
    }
    if let alpha, let coding = alpha.coding {
      guard coding.size == layer.size else {
        throw ImageFault(
          .corrupt, "the AVIF's alpha is \(coding.size), but the picture is \(layer.size)", at: box.place)
      }
      picture.alpha = AVIFPicture.Layer(codings: [coding], size: coding.size)
      picture.isPremultiplied = color.references["prem"]?.contains(alpha.number) == true
    }
    self.picture = picture
  }

  private static func track(_ box: BoxReader) throws(ImageFault) -> Track {
    var track = Track()
    if var header = try box.first("tkhd") {
      let version = try header.version().version
      try header.skip(version == 1 ? 16 : 8)
      track.number = try header.number(4)
    }
    if var list = try box.first("tref") {
      while var reference = try list.box() {
        while reference.left >= 4 {
          track.references[reference.name, default: []].append(try reference.number(4))
        }
      }
    }
    if var handler = try box.first("mdia", "hdlr") {
      try handler.skip(8)
      let kind = try handler.readName()
      track.isPicture = kind == "pict" || kind == "auxv"
    }
    guard track.isPicture, let table = try box.first("mdia", "minf", "stbl"),
      let sample = try firstSample(table), var entries = try table.first("stsd")
    else { return track }
    track.count = sample.count
    try entries.skip(8)
    guard var entry = try entries.box(), entry.name == "av01" else { return track }
    try entry.skip(24)
    let size = ImageSize(width: try entry.number(2), height: try entry.number(2))
    try entry.skip(50)
    track.properties.isAlpha = track.references["auxl"] != nil
    while var property = try entry.box() {
      let contents = property.place..<property.place + property.left
      if property.name == "auxi" {
        try property.skip(4)
        track.properties.isAlpha = ItemProperties.isAlpha(property.rest())
      } else {
        _ = try track.properties.take(&property, (property.name, contents))
      }
    }
    guard let config = track.properties.config, size.width > 0, size.height > 0 else {
      throw entry.fault("has no size, or no box av1C")
    }
    track.coding = AVIFPicture.Coding(
      extents: [sample.range], size: size, config: config, operatingPoint: track.properties.operatingPoint,
      layer: track.properties.layer)
    return track
  }

  /// Returns where the first sample lies in the file, and how many there are.
  private static func firstSample(_ table: BoxReader) throws(ImageFault) -> (range: Range<Int>, count: Int)? {
    guard var sizes = try table.first("stsz") else { return nil }
    try sizes.skip(4)
    var size = try sizes.number(4)
    let count = try sizes.number(4)
    guard count > 0 else { return nil }
    if size == 0 { size = try sizes.number(4) }
    var start: Int?
    for (name, bytes): (BoxName, Int) in [("stco", 4), ("co64", 8)] {
      guard var chunks = try table.first(name) else { continue }
      try chunks.skip(4)
      guard try chunks.number(4) > 0 else { continue }
      start = try chunks.number(bytes)
    }
    guard let start else { return nil }
    let (end, overflow) = start.addingReportingOverflow(size)
    guard !overflow, size > 0 else { throw sizes.fault("has a sample without bytes, or with too many") }
    return (start..<end, count)
  }
}
