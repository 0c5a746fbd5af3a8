import Testing

@testable import NuthatchImaging

private typealias AVIF = AVIFFixture

@Suite("The boxes of an AVIF") struct AVIFContainerTests {
  private func info(_ bytes: [UInt8]) -> ImageInfo? {
    let found = Decode.probe(bytes)
    for size in [1, 7] { #expect(Decode.probe(bytes, pieces: size) == found) }
    guard case .found(let info) = found else { return nil }
    return info
  }

  @Test("size, depth, colours, alpha, profile and EXIF are read from the boxes")
  func headersSayWhatThePictureIs() throws {
    let plain = try #require(info(AVIF.still(AVIF.color)))
    #expect(plain.size == ImageSize(width: 90, height: 70) && plain.format == .avif && plain.color == .ycbcr)
    #expect(plain.depth == 8 && !plain.hasAlpha && !plain.isAnimated && !plain.hasICC && !plain.hasEXIF)
    #expect(plain.orientation == .upright)
    let grey = try #require(info(AVIF.still(AVIF.alpha)))
    #expect(grey.color == .gray && !grey.hasAlpha)
    #expect(try #require(info(AVIF.still(AVIF.deep))).depth == 10)
    #expect(try #require(info(AVIF.still(AVIF.deepest))).depth == 12)
    let alpha = try #require(info(AVIF.withAlpha().bytes))
    #expect(alpha.hasAlpha && alpha.wholePictureBytes > plain.wholePictureBytes)
    let profile = AVIF.Property(AVIF.box("colr", AVIF.name("prof") + [1, 2, 3]))
    #expect(try #require(info(AVIF.still(AVIF.color, [profile]))).hasICC)
    var withEXIF = AVIF.File([AVIF.Item(AVIF.color), AVIF.Item(kind: "Exif", [0, 0, 0, 0], [])])
    withEXIF.references = [("cdsc", 2, [1])]
    #expect(try #require(info(withEXIF.bytes)).hasEXIF)
  }

  @Test("the brands avif and avis are AVIF, and so is mif1 with an item of AV1")
  func brandsDecideTheFormat() throws {
    for brands in [["avif", "mif1"], ["mif1", "avif"], ["mif1", "miaf"], ["msf1", "mif1"]] {
      let file = AVIF.still(AVIF.color) {
        $0.brand = brands[0]
        $0.brands = brands
      }
      #expect(try #require(info(file)).format == .avif, "\(brands)")
    }
  }

  @Test("if the brands name only the container, its primary item decides between AVIF and HEIC")
  func theItemDecidesTheFormat() throws {
    for brands in [["mif1"], ["mif1", "miaf"], ["msf1", "mif1"]] {
      for kind in ["hvc1", "hev1"] {
        let one = AVIF.still(AVIF.color) {
          ($0.brand, $0.brands) = (brands[0], brands)
          $0.items[0].kind = kind
        }
        let found = try #require(info(one), "\(brands), \(kind)")
        #expect(found.format == .heic && found.size == AVIF.color.size)
        #expect(Decode.whole(one).fault?.kind == .decoderFailed(refusedFor: nil))
        // A grid is what its tiles are.
        var grid = AVIF.grid(AVIF.color, rows: 2, columns: 1, ImageSize(width: 80, height: 130))
        (grid.brand, grid.brands) = (brands[0], brands)
        #expect(info(grid.bytes)?.format == .avif)
        for tile in 1...2 { grid.items[tile].kind = kind }
        let whole = try #require(info(grid.bytes), "\(brands), \(kind)")
        #expect(whole.format == .heic && whole.size == ImageSize(width: 80, height: 130))
      }
      let other = AVIF.still(AVIF.color) {
        ($0.brand, $0.brands) = (brands[0], brands)
        $0.items[0].kind = "jpeg"
      }
      #expect(Decode.whole(other).fault?.kind == .unsupportedFormat("avif"))
    }
  }

  @Test("a turn and a mirror become the orientation; the turn comes first")
  func transformsBecomeTheOrientation() throws {
    let wanted: [(UInt8?, UInt8?, Orientation)] = [
      (nil, 0, .flipped), (nil, 1, .mirrored), (1, nil, .rotated270), (2, nil, .rotated180),
      (3, nil, .rotated90), (1, 0, .transposed), (1, 1, .transversed), (2, 0, .mirrored), (2, 1, .flipped),
      (3, 0, .transversed), (3, 1, .transposed),
    ]
    for (turn, mirror, orientation) in wanted {
      let properties = (turn.map { [AVIF.turn($0)] } ?? []) + (mirror.map { [AVIF.mirror($0)] } ?? [])
      let found = try #require(info(AVIF.still(AVIF.color, properties)))
      #expect(found.orientation == orientation, "\(String(describing: turn)) \(String(describing: mirror))")
    }
  }

  @Test(
    "the clean aperture is the picture; one that isn't made of whole pixels within the picture is ignored")
  func theCleanApertureIsThePicture() throws {
    let size = AVIF.color.size
    let part = try #require(info(AVIF.still(AVIF.color, [AVIF.clap(10, 20, 31, 41, of: size)])))
    #expect(part.size == ImageSize(width: 31, height: 41))
    for (x, y, width, height) in [
      (0, 0, 91, 10), (-1, 0, 10, 10), (81, 0, 10, 10), (0, 61, 10, 10), (0, 0, 0, 10),
    ] {
      let whole = try #require(info(AVIF.still(AVIF.color, [AVIF.clap(x, y, width, height, of: size)])))
      #expect(whole.size == size, "\(x), \(y), \(width), \(height)")
    }
    let half = AVIF.Property(AVIF.box("clap", [21, 2, 10, 1, 0, 1, 0, 1].flatMap { AVIF.number($0) }))
    let nothing = AVIF.Property(AVIF.box("clap", [21, 0, 10, 0, 0, 0, 0, 0].flatMap { AVIF.number($0) }))
    for property in [half, nothing] {
      #expect(try #require(info(AVIF.still(AVIF.color, [property]))).size == size)
    }
  }

  @Test("items are found in any version of their table, in `idat`, and in several parts")
  func itemsAreFoundWhereverTheyLie() throws {
    let wanted = try #require(Decode.whole(AVIF.still(AVIF.color)).picture).bytes
    for version in 0...2 {
      for isInData in [false, true] where version > 0 || !isInData {
        for parts in [1, 2, 5] {
          let file = AVIF.still(AVIF.color) {
            $0.locationVersion = version
            $0.items[0].isInData = isInData
            $0.items[0].parts = parts
          }
          #expect(Decode.whole(file).picture?.bytes == wanted, "\(version) \(isInData) \(parts)")
          #expect(Decode.pieces(file, 9, []).picture?.bytes == wanted)
        }
      }
    }
  }

  @Test("boxes that aren't known are skipped, of any size")
  func unknownBoxesAreSkipped() throws {
    let wanted = try #require(Decode.whole(AVIF.still(AVIF.color)).picture).bytes
    let large =
      AVIF.number(1) + AVIF.name("free") + AVIF.number(16 + 70_000, 8) + [UInt8](repeating: 7, count: 70_000)
    let file = AVIF.still(AVIF.color) {
      $0.more = AVIF.box("grpl", AVIF.full("altr", AVIF.number(1)))
      $0.behind = AVIF.box("free", []) + large + AVIF.box("meta", [1])
    }
    #expect(Decode.whole(file).picture?.bytes == wanted)
    #expect(Decode.pieces(file, 100, []).picture?.bytes == wanted)
  }

  @Test("thumbnails, gain maps and other items that belong to the picture change nothing")
  func otherItemsChangeNothing() throws {
    let wanted = try #require(Decode.whole(AVIF.still(AVIF.color)).picture).bytes
    var file = AVIF.File(
      [
        AVIF.Item(AVIF.color), AVIF.Item(AVIF.deep), AVIF.Item(AVIF.deepest),
        AVIF.Item(kind: "tmap", [0, 0, 0], [AVIF.Property(AVIF.ispe(AVIF.color.size))]),
        AVIF.Item(AVIF.alpha, [AVIF.Property(AVIF.full("auxC", AVIF.name("urn:mpeg:depth") + [0]))]),
      ], [("thmb", 2, [1]), ("dimg", 4, [1, 3]), ("auxl", 5, [1])])
    #expect(Decode.whole(file.bytes).picture?.bytes == wanted)
    // An auxiliary item whose essential property isn't known doesn't count.
    file.items[4].properties =
      AVIF.alpha.properties + [
        AVIF.alphaName, AVIF.Property(AVIF.box("abcd", []), isEssential: true),
      ]
    #expect(Decode.whole(file.bytes).picture?.bytes == wanted)
  }

  @Test("a sequence is an animation that knows its number of pictures")
  func sequencesKnowTheirPictures() throws {
    let film = AVIF.sequence([AVIF.color.bytes, AVIF.color.bytes, AVIF.color.bytes], AVIF.color)
    let found = try #require(info(film))
    #expect(found.isAnimated && found.size == AVIF.color.size && !found.hasAlpha)
    let picture = try film.withUnsafeBytes { try AVIFPicture.found(in: $0) }
    #expect(picture.frameCount == 3 && picture.depth == 8)
    #expect(try #require(info(AVIF.sequence([AVIF.color.bytes], AVIF.color))).isAnimated == false)
    #expect(try #require(info(AVIF.sequence([AVIF.color.bytes], AVIF.color, alpha: AVIF.alpha))).hasAlpha)
  }

  /// A change to a file, and where and how it is refused.
  private struct Broken {
    let name: String
    let bytes: [UInt8]
    let kind: ImageFault.Kind

    init(_ name: String, _ bytes: [UInt8], _ kind: ImageFault.Kind = .corrupt) {
      (self.name, self.bytes, self.kind) = (name, bytes, kind)
    }
  }

  private static let still = AVIF.still(AVIF.color)

  /// Changes bytes behind the name of the first box with that name.
  private static func changed(_ bytes: [UInt8], _ box: String, _ at: Int, _ new: [UInt8]) -> [UInt8] {
    var out = bytes
    let name = Array(box.utf8)
    guard let place = bytes.indices.first(where: { bytes[$0...].starts(with: name) }) else { return [] }
    out.replaceSubrange(place + at..<place + at + new.count, with: new)
    return out
  }

  private static func item(_ change: (inout AVIF.File) -> Void) -> [UInt8] {
    AVIF.still(AVIF.color, [], change)
  }

  private static let broken: [Broken] = [
    Broken("a box that ends before it begins", changed(still, "hdlr", -4, AVIF.number(3))),
    Broken("a box beyond its parent", changed(still, "iloc", -4, AVIF.number(4000))),
    Broken(
      "a box of 2^62 bytes", item { $0.more = AVIF.number(1) + AVIF.name("free") + AVIF.number(1 << 62, 8) }),
    Broken(
      "a box of 2^61 bytes in meta",
      item { $0.more = AVIF.number(1) + AVIF.name("abcd") + AVIF.number(1 << 59, 8) }),
    Broken("meta without a length", changed(still, "meta", -4, AVIF.number(0))),
    Broken("a meta of audio", changed(still, "hdlr", 12, AVIF.name("soun"))),
    Broken("no kind of meta", changed(still, "hdlr", 0, AVIF.name("free"))),
    Broken("no properties", changed(still, "iprp", 0, AVIF.name("free"))),
    Broken("two primary items", item { $0.more = AVIF.full("pitm", AVIF.number(1, 2)) }),
    Broken("a primary item that doesn't exist", changed(still, "pitm", 8, AVIF.number(7, 2))),
    Broken("a table of places that ends too early", changed(still, "iloc", 10, AVIF.number(9, 2))),
    Broken("numbers of three bytes", changed(still, "iloc", 8, [0x33])),
    Broken("an unknown version of places", changed(still, "iloc", 4, [3])),
    Broken("an item without a place", changed(still, "iloc", 12, AVIF.number(9, 2))),
    Broken("a property that doesn't exist", changed(still, "ipma", 15, [9, 9])),
    Broken("no size", changed(still, "ispe", 0, AVIF.name("free"))),
    Broken("a size of zero", changed(still, "ispe", 8, AVIF.number(0))),
    Broken("another size than the pixels have", changed(still, "ispe", 8, AVIF.number(91))),
    Broken("a smaller size than the pixels have", changed(still, "ispe", 8, AVIF.number(64))),
    Broken("an unknown av1C", changed(still, "av1C", 4, [0x82])),
    Broken("no av1C", item { $0.items[0].properties.remove(at: 1) }),
    Broken(
      "an item outside of idat",
      item {
        $0.locationVersion = 1
        $0.items[0].isInData = true
        $0.more = []
      }.withIdatCut()),
    Broken(
      "an unknown essential property",
      item {
        $0.items[0].properties.append(AVIF.Property(AVIF.box("abcd", []), isEssential: true))
      }, .unsupportedFormat("avif")),
    Broken("an overlay", item { $0.items[0].kind = "iovl" }, .unsupportedFormat("avif")),
    Broken(
      "an unknown matrix", AVIF.still(AVIF.color, [AVIF.nclx(1, 13, 99, isFull: false)]),
      .unsupportedFormat("avif")),
    Broken(
      "identity with 4:2:0", AVIF.still(AVIF.color, [AVIF.nclx(1, 13, 0, isFull: true)]),
      .unsupportedFormat("avif")),
    Broken("more than AV1 allows", changed(still, "ispe", 8, AVIF.number(70_000)), .tooManyPixels),
    Broken(
      "more pixels than allowed", changed(still, "ispe", 8, AVIF.number(60_000) + AVIF.number(60_000)),
      .tooManyPixels),
    Broken(
      "a box that is too large",
      changed(still, "meta", -4, AVIF.number(1 << 30))
        .withBoxSize("iprp", 1 << 29), .tooLarge),
    Broken(
      "too many frames",
      item { file in
        file.items[0].bytes =
          AVIF.color.bytes + [UInt8](repeating: 0, count: 18).indices.flatMap { _ in [0x1A, 1, 0] }
      }, .tooLarge),
    Broken("garbage in place of pixels", item { $0.items[0].bytes = [UInt8](repeating: 0xA5, count: 200) }),
    Broken("no frame", item { $0.items[0].bytes = Array(AVIF.color.bytes[..<12]) }),
    Broken(
      "alpha of another size",
      AVIF.File(
        [AVIF.Item(AVIF.deep), AVIF.Item(AVIF.alpha, [AVIF.alphaName])], [("auxl", 2, [1])]
      ).bytes),
  ]

  @Test("a broken file is refused with its word, at once and in pieces", arguments: broken.indices)
  func brokenFilesAreRefused(_ index: Int) {
    let broken = Self.broken[index]
    let whole = Decode.whole(broken.bytes).fault
    #expect(whole?.kind == broken.kind, "\(broken.name): \(whole as Any)")
    #expect(whole?.kind != .corrupt || whole?.offset != nil, "\(broken.name)")
    for size in [1, 1000] {
      #expect(Decode.pieces(broken.bytes, size, []).fault == whole, "\(broken.name)")
    }
  }

  @Test("a grid must have its tiles, its size, and tiles that cover it")
  func brokenGridsAreRefused() {
    let good = AVIF.grid(AVIF.color, rows: 2, columns: 2, ImageSize(width: 170, height: 130))
    #expect(Decode.whole(good.bytes).picture != nil)
    var grids = [good, good, good, good, good]
    grids[0].references = []
    grids[1].items[0].bytes[3] = 2
    grids[2].items[0].bytes = [0, 0]
    grids[3].items[4] = AVIF.Item(AVIF.deep)
    grids[4].items[0].bytes[6] = 1
    for size in [(181, 130), (90, 130), (170, 70), (170, 141)] {
      grids.append(AVIF.grid(AVIF.color, rows: 2, columns: 2, ImageSize(width: size.0, height: size.1)))
    }
    for (index, grid) in grids.enumerated() {
      let fault = Decode.whole(grid.bytes).fault
      #expect(fault?.kind == .corrupt, "\(index): \(fault as Any)")
      #expect(Decode.pieces(grid.bytes, 5, []).fault == fault)
    }
    var many = AVIF.grid(AVIF.color, rows: 1, columns: 1, AVIF.color.size)
    many.references[0].to = [Int](repeating: 2, count: 5000)
    #expect(Decode.whole(many.bytes).fault?.kind == .tooLarge)
  }
}

extension [UInt8] {
  /// The file with a smaller `idat`.
  fileprivate func withIdatCut() -> [UInt8] { withBoxSize("idat", 20) }

  /// The file with another size of the first box with this name.
  fileprivate func withBoxSize(_ name: String, _ size: Int) -> [UInt8] {
    var out = self
    guard let place = indices.first(where: { self[$0...].starts(with: name.utf8) }) else { return [] }
    out.replaceSubrange(place - 4..<place, with: AVIFFixture.number(size))
    return out
  }
}
