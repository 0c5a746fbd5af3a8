@testable import NuthatchImaging

/// AVIF files that the tests make of bitstreams, box by box.
enum AVIFFixture {
  /// A bitstream of one picture.
  struct Bits {
    var bytes: [UInt8]
    var config: [UInt8]
    var size: ImageSize

    init(_ width: Int, _ height: Int, config: [UInt8], _ base64: String) {
      size = ImageSize(width: width, height: height)
      self.config = config
      let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
      bytes = []
      var (window, count) = (0, 0)
      for byte in base64.utf8 {
        guard let value = alphabet.firstIndex(of: byte) else { continue }
        (window, count) = (window << 6 | value, count + 6)
        guard count >= 8 else { continue }
        count -= 8
        bytes.append(UInt8(window >> count & 255))
      }
    }

    /// What every item of it has.
    var properties: [Property] { [Property(ispe(size)), Property(box("av1C", config), isEssential: true)] }
  }

  struct Property {
    var box: [UInt8]
    var isEssential = false

    init(_ box: [UInt8], isEssential: Bool = false) { (self.box, self.isEssential) = (box, isEssential) }
  }

  struct Item {
    var kind = "av01"
    var bytes: [UInt8]
    var properties: [Property]
    var isInData = false
    /// The bytes are stored in so many parts.
    var parts = 1

    init(_ bits: Bits, _ more: [Property] = []) {
      bytes = bits.bytes
      properties = bits.properties + more
    }

    init(kind: String, _ bytes: [UInt8], _ properties: [Property]) {
      (self.kind, self.bytes, self.properties) = (kind, bytes, properties)
    }
  }

  /// A file. The first item has the number 1, and is the primary one.
  struct File {
    var items: [Item]
    var references: [(kind: String, from: Int, to: [Int])] = []
    var brand = "avif"
    var brands = ["mif1", "avif", "miaf"]
    var locationVersion = 0
    /// Boxes of `meta` besides the usual ones.
    var more: [UInt8] = []
    /// Boxes behind `meta`.
    var behind: [UInt8] = []

    init(_ items: [Item], _ references: [(kind: String, from: Int, to: [Int])] = []) {
      (self.items, self.references) = (items, references)
    }

    var bytes: [UInt8] {
      let head = box("ftyp", name(brand) + number(0) + brands.flatMap(name))
      let data = items.filter(\.isInData).flatMap(\.bytes)
      let media = items.filter { !$0.isInData }.flatMap(\.bytes)
      let start = head.count + meta(data, 0).count + behind.count + 8
      return head + meta(data, start) + behind + box("mdat", media)
    }

    private func meta(_ data: [UInt8], _ mediaStart: Int) -> [UInt8] {
      var places = (media: mediaStart, data: 0)
      var locations: [UInt8] = number(0x4400, 2) + number(items.count, locationVersion < 2 ? 2 : 4)
      var infos: [UInt8] = []
      var all: [UInt8] = []
      var associations: [UInt8] = number(items.count)
      var count = 0
      for (index, item) in items.enumerated() {
        var place = item.isInData ? places.data : places.media
        locations += number(index + 1, locationVersion < 2 ? 2 : 4)
        if locationVersion > 0 { locations += number(item.isInData ? 1 : 0, 2) }
        locations += number(0, 2) + number(item.parts, 2)
        for part in 0..<item.parts {
          let end = item.bytes.count * (part + 1) / item.parts
          let length = end - item.bytes.count * part / item.parts
          locations += number(place) + number(length)
          place += length
        }
        if item.isInData { places.data = place } else { places.media = place }
        infos += full("infe", version: 2, number(index + 1, 2) + number(0, 2) + name(item.kind) + [0])
        associations += number(index + 1, 2) + [UInt8(item.properties.count)]
        for property in item.properties {
          all += property.box
          count += 1
          associations.append(UInt8(count) | (property.isEssential ? 0x80 : 0))
        }
      }
      var links: [UInt8] = []
      for reference in references {
        let to = number(reference.to.count, 2) + reference.to.flatMap { number($0, 2) }
        links += box(reference.kind, number(reference.from, 2) + to)
      }
      return full(
        "meta",
        full("hdlr", number(0) + name("pict") + [UInt8](repeating: 0, count: 13))
          + full("pitm", number(1, 2)) + full("iloc", version: locationVersion, locations)
          + full("iinf", number(items.count, 2) + infos) + (links.isEmpty ? [] : full("iref", links))
          + box("iprp", box("ipco", all) + full("ipma", associations))
          + (data.isEmpty ? [] : box("idat", data)) + more)
    }
  }

  static func number(_ value: Int, _ bytes: Int = 4) -> [UInt8] {
    (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * (bytes - 1 - $0))) }
  }

  static func name(_ text: String) -> [UInt8] { Array(text.utf8) }

  static func box(_ kind: String, _ contents: [UInt8]) -> [UInt8] {
    number(contents.count + 8) + name(kind) + contents
  }

  static func full(_ kind: String, version: Int = 0, flags: Int = 0, _ contents: [UInt8]) -> [UInt8] {
    box(kind, number(version << 24 | flags) + contents)
  }

  static func ispe(_ size: ImageSize) -> [UInt8] { full("ispe", number(size.width) + number(size.height)) }

  static func nclx(_ primaries: Int, _ transfer: Int, _ matrix: Int, isFull: Bool) -> Property {
    Property(
      box(
        "colr",
        name("nclx") + number(primaries, 2) + number(transfer, 2) + number(matrix, 2) + [isFull ? 0x80 : 0]))
  }

  static let alphaName = Property(
    full("auxC", name("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha") + [0]), isEssential: true)

  static func turn(_ quarters: UInt8) -> Property { Property(box("irot", [quarters]), isEssential: true) }

  static func mirror(_ axis: UInt8) -> Property { Property(box("imir", [axis]), isEssential: true) }

  /// The shown part of a picture, from a pixel on.
  static func clap(_ x: Int, _ y: Int, _ width: Int, _ height: Int, of size: ImageSize) -> Property {
    let numbers = [
      width, 1, height, 1, 2 * x + width - size.width, 2, 2 * y + height - size.height, 2,
    ]
    return Property(box("clap", numbers.flatMap { number($0) }), isEssential: true)
  }

  /// One picture.
  static func still(_ bits: Bits, _ more: [Property] = [], _ change: (inout File) -> Void = { _ in })
    -> [UInt8]
  {
    var file = File([Item(bits, more)])
    change(&file)
    return file.bytes
  }

  /// A picture with alpha.
  static func withAlpha(_ more: [Property] = [], isPremultiplied: Bool = false) -> File {
    File(
      [Item(color, more), Item(alpha, [alphaName])],
      [("auxl", 2, [1])] + (isPremultiplied ? [("prem", 1, [2])] : []))
  }

  /// A grid of equal tiles, whose description is in `idat`.
  static func grid(_ tile: Bits, rows: Int, columns: Int, _ size: ImageSize) -> File {
    let description =
      [0, 0, UInt8(rows - 1), UInt8(columns - 1)] + number(size.width, 2) + number(size.height, 2)
    var main = Item(kind: "grid", description, [Property(ispe(size))])
    main.isInData = true
    let tiles = [Item](repeating: Item(tile), count: rows * columns)
    var file = File([main] + tiles, [("dimg", 1, Array(2...rows * columns + 1))])
    file.locationVersion = 1
    return file
  }

  /// A sequence of pictures, maybe with alpha, whose boxes come before their bytes.
  static func sequence(_ samples: [[UInt8]], _ bits: Bits, alpha: Bits? = nil, count: Int? = nil) -> [UInt8] {
    let head = box("ftyp", name("avis") + number(0) + name("avis") + name("msf1"))
    func moov(_ start: Int) -> [UInt8] {
      let alphaStart = start + samples.reduce(0) { $0 + $1.count }
      let tracks =
        track(1, samples, bits, at: start, count: count)
        + (alpha.map { track(2, [$0.bytes], $0, at: alphaStart, alphaOf: 1) } ?? [])
      return box("moov", full("mvhd", [UInt8](repeating: 0, count: 96)) + tracks)
    }
    let start = head.count + moov(0).count + 8
    return head + moov(start) + box("mdat", samples.flatMap { $0 } + (alpha?.bytes ?? []))
  }

  private static func track(
    _ id: Int, _ samples: [[UInt8]], _ bits: Bits, at start: Int, count: Int? = nil, alphaOf color: Int? = nil
  ) -> [UInt8] {
    let zeros = { (count: Int) in [UInt8](repeating: 0, count: count) }
    let entry =
      zeros(6) + number(1, 2) + zeros(16) + number(bits.size.width, 2) + number(bits.size.height, 2)
      + zeros(50)
      + box("av1C", bits.config)
      + (color == nil ? [] : full("auxi", name("urn:mpeg:mpegB:cicp:systems:auxiliary:alpha") + [0]))
    let table =
      full("stsd", number(1) + box("av01", entry))
      + full("stsz", number(0) + number(count ?? samples.count) + samples.flatMap { number($0.count) })
      + full("stsc", number(1) + number(1) + number(samples.count) + number(1))
      + full("stco", number(1) + number(start))
    let media = full("hdlr", number(0) + name(color == nil ? "pict" : "auxv") + zeros(13))
    return box(
      "trak",
      full("tkhd", zeros(8) + number(id) + zeros(68))
        + (color.map { box("tref", box("auxl", number($0))) } ?? [])
        + box("mdia", media + box("minf", box("stbl", table))))
  }
}
