/// The boxes of `meta` that describe items.
struct ItemBoxes: Sendable {
  /// Those that are collected.
  static let names: Set<BoxName> = ["hdlr", "pitm", "iloc", "iinf", "iref", "iprp"]

  var boxes: [BoxName: MediaBox] = [:]
  /// The offset of what `meta` contains, if it is known.
  var place: Int?
  /// The offsets of what `idat` contains.
  var data: Range<Int>?
}

/// The tables of `meta`: kinds, places, references and properties of all items.
struct ItemTables {
  struct Location {
    var isInData: Bool
    var extents: [(offset: Int, count: Int)]
  }

  struct Association {
    let property: Int
    let isEssential: Bool
  }

  /// An item that refers to others.
  struct Reference {
    let kind: BoxName
    let from: Int
    let to: [Int]
  }

  /// More items, parts of items, or properties of items aren't read.
  private static let most = 1 << 16

  private(set) var primary = 0
  private(set) var kinds: [Int: BoxName] = [:]
  private(set) var locations: [Int: Location] = [:]
  private(set) var references: [Reference] = []
  private(set) var associations: [Int: [Association]] = [:]
  /// The places of the properties in `iprp`, in the order of their numbers.
  private(set) var properties: [(name: BoxName, contents: Range<Int>)] = []
  let propertyBox: MediaBox

  init(_ meta: ItemBoxes) throws(ImageFault) {
    func box(_ name: BoxName) throws(ImageFault) -> MediaBox {
      if let box = meta.boxes[name] { return box }
      throw ImageFault(.corrupt, "the file has no box \(name)", at: meta.place ?? meta.boxes["hdlr"]?.place)
    }
    try box("hdlr").read { (reader) throws(ImageFault) in
      try reader.skip(8)
      let kind = try reader.readName()
      guard kind == "pict" else { throw reader.fault("says that it has \(kind), not pictures") }
    }
    propertyBox = try box("iprp")
    primary = try box("pitm").read { (reader) throws(ImageFault) in
      try reader.number(try reader.version().version == 0 ? 2 : 4)
    }
    kinds = try box("iinf").read(Self.readKinds)
    locations = try box("iloc").read(Self.readLocations)
    references = try meta.boxes["iref"]?.read(Self.readReferences) ?? []
    (properties, associations) = try propertyBox.read(Self.readProperties)
  }

  /// Whether the primary item, or the first one that it is made of, is HEVC.
  var isHEVC: Bool {
    let part = references.first { $0.kind == "dimg" && $0.from == primary }?.to.first
    let kind = kinds[part ?? primary]
    return kind == "hvc1" || kind == "hev1"
  }

  /// The offset behind the last byte of an item.
  var end: Int {
    var end = 0
    for location in locations.values where !location.isInData {
      for extent in location.extents { end = max(end, extent.offset &+ extent.count) }
    }
    return end
  }

  private static func check(_ count: Int, _ reader: BoxReader) throws(ImageFault) {
    guard count <= most else {
      throw ImageFault(
        .tooLarge, "the box \(reader.name) has \(count) entries; the limit is \(most)",
        at: reader.place)
    }
  }

  private static func readKinds(_ reader: inout BoxReader) throws(ImageFault) -> [Int: BoxName] {
    let count = try reader.number(try reader.version().version == 0 ? 2 : 4)
    try check(count, reader)
    var kinds: [Int: BoxName] = [:]
    for _ in 0..<count {
      guard var entry = try reader.box() else { throw reader.fault("ends too early") }
      guard entry.name == "infe" else { continue }
      let version = try entry.version().version
      // Older entries name no kind of item.
      guard version >= 2 else { continue }
      let item = try entry.number(version == 2 ? 2 : 4)
      try entry.skip(2)
      kinds[item] = try entry.readName()
    }
    return kinds
  }

  private static func readLocations(_ reader: inout BoxReader) throws(ImageFault) -> [Int: Location] {
    let version = try reader.version().version
    guard version <= 2 else { throw reader.fault("has the version \(version), which doesn't exist") }
    let sizes = try reader.number(2)
    let (offsetBytes, countBytes, baseBytes) = (sizes >> 12, sizes >> 8 & 15, sizes >> 4 & 15)
    let indexBytes = version == 0 ? 0 : sizes & 15
    guard [offsetBytes, countBytes, baseBytes, indexBytes].allSatisfy({ $0 == 0 || $0 == 4 || $0 == 8 })
    else {
      throw reader.fault("has numbers of a size that is not allowed")
    }
    let count = try reader.number(version < 2 ? 2 : 4)
    try check(count, reader)
    var locations: [Int: Location] = [:]
    var parts = 0
    for _ in 0..<count {
      let item = try reader.number(version < 2 ? 2 : 4)
      let method = version == 0 ? 0 : try reader.number(2) & 15
      let source = try reader.number(2)
      let base = try reader.number(baseBytes)
      let extentCount = try reader.number(2)
      parts += extentCount
      try check(parts, reader)
      var location = Location(isInData: method == 1, extents: [])
      for _ in 0..<extentCount {
        try reader.skip(indexBytes)
        let (offset, overflow) = base.addingReportingOverflow(try reader.number(offsetBytes))
        guard !overflow else { throw reader.fault("has a number that is too large") }
        location.extents.append((offset, try reader.number(countBytes)))
      }
      // Items that lie in other items or in other files aren't read.
      if method <= 1 && source == 0 { locations[item] = location }
    }
    return locations
  }

  private static func readReferences(_ reader: inout BoxReader) throws(ImageFault) -> [Reference] {
    let idBytes = try reader.version().version == 0 ? 2 : 4
    var references: [Reference] = []
    var total = 0
    while var entry = try reader.box() {
      let from = try entry.number(idBytes)
      let count = try entry.number(2)
      total += count + 1
      try check(total, entry)
      var to: [Int] = []
      for _ in 0..<count { to.append(try entry.number(idBytes)) }
      references.append(Reference(kind: entry.name, from: from, to: to))
    }
    return references
  }

  private typealias Properties = (
    [(name: BoxName, contents: Range<Int>)], [Int: [Association]]
  )

  private static func readProperties(_ reader: inout BoxReader) throws(ImageFault) -> Properties {
    var properties: [(name: BoxName, contents: Range<Int>)] = []
    var associations: [Int: [Association]] = [:]
    var total = 0
    while var inner = try reader.box() {
      if inner.name == "ipco" {
        while let property = try inner.box() {
          properties.append((property.name, property.place..<property.place + property.left))
        }
        try check(properties.count, inner)
      } else if inner.name == "ipma" {
        let (version, flags) = try inner.version()
        let count = try inner.number(4)
        try check(count, inner)
        for _ in 0..<count {
          let item = try inner.number(version == 0 ? 2 : 4)
          let own = try inner.number(1)
          total += own
          try check(total, inner)
          guard associations[item] == nil else { throw inner.fault("names the item \(item) twice") }
          var list: [Association] = []
          for _ in 0..<own {
            let value = try inner.number(flags & 1 == 1 ? 2 : 1)
            let essential = flags & 1 == 1 ? 1 << 15 : 1 << 7
            list.append(Association(property: value & (essential - 1), isEssential: value & essential != 0))
          }
          associations[item] = list
        }
      }
    }
    return (properties, associations)
  }

  /// Reads the contents of a property, which are at this range of the file.
  func read<Result>(
    _ property: (name: BoxName, contents: Range<Int>),
    _ body: (inout BoxReader) throws(ImageFault) -> Result
  ) throws(ImageFault) -> Result {
    try propertyBox.read(property.contents, as: property.name, body)
  }
}
