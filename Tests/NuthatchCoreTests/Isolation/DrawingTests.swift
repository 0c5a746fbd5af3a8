import Foundation
import NuthatchImaging
import NuthatchTransport
import Testing

@testable import NuthatchCore

private func isInstalled(_ library: String) -> Bool {
  !isThreadSanitized && dlopen(library, RTLD_LAZY) != nil
}

@Suite("SVG", .enabled(if: isInstalled("librsvg-2.so.2"), "librsvg2-2 isn't installed")) struct DrawingTests {
  private static let bench = DecoderBench()

  private func draw(
    _ text: String, _ boxes: [ThumbnailBox] = [ThumbnailBox(64)]
  ) -> Result<DecodeResult, ImageFault> {
    Self.bench.decode(Array(text.utf8), boxes)
  }

  /// A drawing whose left half is red.
  private func drawing(_ attributes: String, _ more: String = "") -> String {
    "<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' \(attributes)>"
      + "<rect width='50%' height='100%' fill='#f00'/>\(more)</svg>"
  }

  private func pixel(_ picture: PixelBuffer, _ x: Int, _ y: Int) -> [UInt8] {
    picture.withUnsafeBytes { Array($0[(y * picture.width + x) * 4..<(y * picture.width + x) * 4 + 4]) }
  }

  @Test(
    "sizes are read in all units, from attributes, style and viewBox",
    arguments: [
      ("width='40' height='20px'", 40, 20), ("width='1in' height='2.54cm'", 96, 96),
      ("width='25.4mm' height='72pt'", 96, 96), ("width='6pc' height='101.6Q'", 96, 96),
      ("width='2em' height='2ex'", 32, 16), ("width='100%' height='100%' viewBox='0 0 30 60'", 30, 60),
      ("viewBox='-5,-5 30 60'", 30, 60), ("width='60' viewBox='0 0 30 60'", 60, 120),
      ("height='60' viewBox='0 0 30 60'", 30, 60), ("", 300, 150), ("width='20'", 20, 150),
      ("style='width: 12px;height:1in'", 12, 96),
      ("width='9' style='width:12px ! important; height : 1in!important'", 12, 96),
      ("width='1e2' height='1.6e1'", 100, 16),
      ("width='10.4' height='0.2'", 10, 1), ("width='-4' height='junk'", 300, 150),
      ("viewBox='0 0 81920 40960'", 4096, 2048),
    ] as [(String, Int, Int)])
  func sizes(attributes: String, width: Int, height: Int) throws {
    let result = try draw(drawing(attributes)).get()
    #expect(result.originalSize == ImageSize(width: width, height: height))
  }

  @Test("a drawing fills its box, and is sharp at every size")
  func filled() throws {
    for side in [16, 64, 512, 2000] {
      let picture = try #require(
        try draw(drawing("width='16' height='16'"), [ThumbnailBox(side)]).get().pictures.first)
      #expect(picture.size == ImageSize(width: side, height: side))
      #expect(pixel(picture, side / 2 - 1, side / 2) == [255, 0, 0, 255])
      #expect(pixel(picture, side / 2, side / 2) == [0, 0, 0, 0])
    }
  }

  @Test("cover cuts off, stretch distorts")
  func fits() throws {
    let boxes = [
      ThumbnailBox(width: 40, height: 40, fit: .cover), ThumbnailBox(width: 40, height: 40, fit: .stretch),
    ]
    let wide = "<rect x='90' width='10' height='50' fill='#00f'/>"
    let pictures = try draw(drawing("width='100' height='50'", wide), boxes).get().pictures
    #expect(pictures.map(\.size) == [ImageSize(width: 40, height: 40), ImageSize(width: 40, height: 40)])
    #expect(pixel(pictures[0], 39, 20) == [0, 0, 0, 0])
    #expect(pixel(pictures[1], 39, 20) == [0, 0, 255, 255])
  }

  @Test("transparent pixels have straight alpha")
  func alpha() throws {
    let half = drawing("width='8' height='8'").replacingOccurrences(
      of: "<rect ", with: "<rect opacity='0.5' ")
    let picture = try #require(try draw(half).get().pictures.first)
    let found = pixel(picture, 2, 2)
    #expect(found[0] == 255 && found[1] == 0 && (126...129).contains(found[3]))
  }

  @Test("nothing outside the file is loaded, and data: URLs are")
  func outside() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("outside-\(getpid()).png")
    let png = Data(DecoderBench.picture(1))
    try png.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    for (url, isDrawn) in [
      (file.absoluteString, false), (file.path, false), ("http://127.0.0.1:9/x.png", false),
      ("data:image/png;base64," + png.base64EncodedString(), true),
    ] {
      for name in ["href", "xlink:href"] {
        let image = "<image x='50%' width='50%' height='100%' preserveAspectRatio='none' \(name)='\(url)'/>"
        let picture = try #require(try draw(drawing("width='40' height='40'", image)).get().pictures.first)
        #expect((pixel(picture, 40, 20)[3] > 0) == isDrawn, "\(url)")
      }
    }
    let entity =
      "<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]>"
      + drawing("width='40' height='40'", "<text x='50%' y='20'>&x;</text>")
    if case .success(let result) = draw(entity) {
      #expect(result.pictures.allSatisfy { pixel($0, 40, 20)[3] == 0 })
    }
  }

  @Test("text is drawn")
  func text() throws {
    let result = try draw(
      "<svg xmlns='http://www.w3.org/2000/svg' width='60' height='20'>"
        + "<text y='16' font-size='20'>WWW</text></svg>"
    ).get()
    let picture = try #require(result.pictures.first)
    let ink = picture.withUnsafeBytes { bytes in
      stride(from: 3, to: bytes.count, by: 4).reduce(0) { $0 + Int(bytes[$1]) }
    }
    // Without a font, nothing could be drawn.
    let hasFonts = FileManager.default.fileExists(atPath: "/usr/share/fonts")
    #expect(ink > 0 || !hasFonts)
  }

  @Test("UTF-16, byte order marks, comments and document types before the first tag")
  func beginnings() throws {
    let plain = drawing("width='40' height='20'")
    let declared = "<?xml version='1.0' encoding='UTF-16'?>" + plain
    let doctype =
      "<!DOCTYPE svg PUBLIC '-//W3C//DTD SVG 1.1//EN' 'http://www.w3.org/x.dtd' "
      + "[<!ENTITY a \"<b>'\"><!-- ]> ' -->]>"
    let all: [[UInt8]] = [
      Array("\u{FEFF}<!-- <svg width='9'> -->\n\(plain)".utf8), Array((doctype + plain).utf8),
      [0xFF, 0xFE] + declared.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] },
      [0xFE, 0xFF] + declared.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] },
    ]
    for bytes in all {
      let result = try Self.bench.decode(bytes).get()
      #expect(result.originalSize == ImageSize(width: 40, height: 20))
      #expect(pixel(result.pictures[0], 10, 10) == [255, 0, 0, 255])
    }
  }

  @Test("a drawing that is cut off is truncated at its end, wherever that is")
  func cut() {
    let text = drawing(
      "width='8' height='8'",
      "\n<!-- 1 -->\n<g id=\"a\"><text class = 'ä'>ö&amp;<![CDATA[x\ny]]></text></g>\n<path d='M0 0'\n/>")
    let bytes = Array(text.utf8)
    for count in 5..<bytes.count {
      guard case .failure(let fault) = Self.bench.decode(Array(bytes.prefix(count))) else {
        Issue.record("\(count) bytes were drawn")
        continue
      }
      #expect(fault.kind == .truncated && fault.offset == count, "\(count): \(fault)")
    }
    let wide: [UInt8] = [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    guard case .failure(let fault) = Self.bench.decode(wide.dropLast(40)) else {
      Issue.record("it was drawn")
      return
    }
    #expect(fault.kind == .truncated && fault.offset == wide.count - 40, "\(fault)")
  }

  @Test(
    "a damaged drawing is refused with the place",
    arguments: [
      ("<svg xmlns='http://www.w3.org/2000/svg'>\nä<a b=c/>\n</svg>", 41, 52),
      ("<svg xmlns='http://www.w3.org/2000/svg'></rect></svg>", 46, 48),
      ("<svg xmlns='http://www.w3.org/2000/svg'></rect>", 46, 48),
      ("<svg xmlns='http://www.w3.org/2000/svg'/>x", 41, 41),
      ("<svg xmlns='http://www.w3.org/2000/svg'>&x;</svg>", 40, 44),
    ] as [(String, Int, Int)])
  func damaged(text: String, first: Int, last: Int) {
    guard case .failure(let fault) = draw(text) else {
      Issue.record("it was drawn")
      return
    }
    #expect(fault.kind == .corrupt && (first...last).contains(fault.offset ?? -1), "\(fault)")
    #expect(fault.message.hasPrefix("the SVG isn't well-formed in line ") && !fault.message.hasSuffix("\n"))
  }

  @Test("a drawing of which GLib writes a warning ends no decoder")
  func warnings() throws {
    // No font of 512 pixels can be made from one that small.
    let text = drawing("viewBox='0 0 1 1'", "<text x='0' y='1' font-size='1'>A</text>")
    for side in [512, 1024] {
      guard case .failure(let fault) = draw(text, [ThumbnailBox(side)]) else { continue }
      #expect(fault.kind == .corrupt, "\(fault)")
    }
  }

  /// Each of 300 results is kept until the filter's end.
  private var hungry: String {
    let results = (0..<300).map { "<feFlood flood-opacity='0.0\($0 % 9 + 1)' result='r\($0)'/>" }
    let merged = (0..<300).map { "<feMergeNode in='r\($0)'/>" }
    return drawing(
      "width='100' height='100'",
      "<filter id='f'>\(results.joined())<feMerge>\(merged.joined())</feMerge></filter>"
        + "<rect width='100' height='100' filter='url(#f)'/>")
  }

  @Test(
    "a drawing that needs too much memory is refused, and harms no picture beside it",
    .enabled(if: !isSanitized, "the sanitizers' memory isn't limited"))
  func memory() throws {
    let bench = DecoderBench(lanes: 4, memory: 64 << 20)
    let bad = Array(hungry.utf8)
    let faults = Locked<[ImageFault]>([])
    let others = Locked<[ImageFault?]>([])
    for _ in 0..<2 {
      _ = DetachedThread.start("hungry") {
        for _ in 0..<2 {
          guard case .failure(let fault) = bench.decode(bad, [ThumbnailBox(1000)]) else { continue }
          faults.withLock { $0.append(fault) }
        }
        others.withLock { $0.append(nil) }
      }
      _ = DetachedThread.start("innocent") {
        for side in 990..<1000 {
          let result = bench.decode(DecoderBench.picture(side), [ThumbnailBox(side, enlarge: true)])
          if case .failure(let fault) = result {
            others.withLock { $0.append(fault) }
          }
        }
        others.withLock { $0.append(nil) }
      }
    }
    for _ in 0..<5 { waitUntil { others.withLock { $0.count(where: { $0 == nil }) } == 4 } }
    #expect(faults.withLock { $0.map(\.kind) } == Array(repeating: .tooManyPixels, count: 4))
    #expect(faults.withLock { $0.allSatisfy { $0.message.contains("64.0 MiB") } })
    #expect(others.withLock { $0.compactMap { $0 } } == [])
    // It is drawn at a size for which the memory is enough.
    #expect(throws: Never.self) { try bench.decode(bad).get() }
  }

  @Test("without a decoder process, nothing is drawn in this process")
  func notHere() {
    let bytes = Array(drawing("width='8' height='8'").utf8)
    let fault = bytes.withUnsafeBytes { bytes in
      #expect(throws: ImageFault.self) { try Thumbnailer.thumbnails(of: bytes, boxes: [ThumbnailBox(8)]) }
    }
    #expect(fault?.kind == .decoderFailed(refusedFor: nil))
  }
}

@Suite("HEIC", .enabled(if: isInstalled("libheif.so.1"), "libheif1 isn't installed")) struct HEICTests {
  /// 64 x 48 pixels: red from 0 to 252, green from 0 to 235, blue 40 or 128 in squares of 8.
  private static let picture =
    """
    AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA\
    AAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAAEAAMAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAABdAACAAEA\
    AAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAA\
    AADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAe\
    ugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFlurkprm4EBAwIAAAAwAgAAADACEiAAEABkQBwXPAiQAAABRpc3BlAAAA\
    AAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAQAAAADAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QA\
    AAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAAXxtZGF0AAABcCgBrwngIhvNEI9UGYnann8qGnKSg4EuFUk//l1lW4oSjxrO\
    nrWTZqeqA9KvzdPb0FYDHwaAU5domAW+64Hc8LxDE7KJeWB/puHEX2AgaASikcXtKq7Vq/QVPaebS3LMMe2VvwXriKNSD8jP\
    LRVykphgcVZDtTTs8wriEfLAeq5lvmuc2wrteBgig7WMsgIYETqnL0tAKW+bW6tcR1A24owy9xGUt+Sxg/D91CO8rNjnz04l\
    lDKDkQIhx9vfprdZueqguupJpi8wiKiocjoM3zT/Mw1Z5Mg+V1KuOhmCa+229fv84RyNzJNch/Hc9JkhqR3LGGSewwwyfXFC\
    JRkQG9db8dIRe9Nk+M8UKTDt8GipkB2uOE+57txtxm6hC6AMxWf2lVtbgfZcV+U5Ugcfk88K7Sf2Qp6EM0McqHYAs6ocFUFw\
    GhPIcz//81lpHY0DetL2dwwQ70iyy/u4Xsejk1BtgSdhRa/gv/lFvFpbX//w
    """

  @Test("a HEIC is decoded")
  func decoded() throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    let result = try DecoderBench().decode(bytes, [ThumbnailBox(64), ThumbnailBox(16)]).get()
    #expect(result.info.format == .heic && result.info.depth == 8)
    #expect(result.originalSize == ImageSize(width: 64, height: 48))
    #expect(
      result.pictures.map(\.size) == [ImageSize(width: 64, height: 48), ImageSize(width: 16, height: 12)])
    let pixels = result.pictures[0].bytes
    for (x, y) in [(4, 4), (36, 20), (60, 44)] {
      let found = pixels[(y * 64 + x) * 4..<(y * 64 + x) * 4 + 4].map(Int.init)
      #expect(abs(found[0] - x * 4) < 30 && abs(found[1] - y * 5) < 30 && found[3] == 255, "\(found)")
    }
  }

  @Test("a HEIC is turned as its properties say", arguments: 0..<4)
  func turned(quarters: Int) throws {
    var bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    // `pixi` tells only the depth, and has room for a turn to the left.
    let pixi = Array("pixi".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: pixi) })
    bytes.replaceSubrange(place..<place + 5, with: Array("irot".utf8) + [UInt8(quarters)])
    let result = try DecoderBench().decode(bytes, [ThumbnailBox(64)]).get()
    let isTransposed = quarters % 2 == 1
    let (width, height) = isTransposed ? (48, 64) : (64, 48)
    #expect(result.originalSize == ImageSize(width: width, height: height))
    let pixels = result.pictures[0].bytes
    // Where the picture's pixel (4, 4) is now, whose red and green are low.
    let (x, y) = [(4, 4), (4, 59), (59, 43), (43, 4)][quarters]
    let found = pixels[(y * width + x) * 4..<(y * width + x) * 4 + 2].map(Int.init)
    #expect(found[0] < 50 && found[1] < 50, "\(found)")
  }

  @Test(
    "a HEIC is cropped as its properties say; a part of broken pixels is rounded, one beyond the edge cut",
    arguments: [
      ([32, 1, 24, 1, 8, 1, 4, 1], ImageSize(width: 32, height: 24), (24, 16)),
      ([32, 1, 24, 1, 17, 2, 4, 1], ImageSize(width: 32, height: 24), (24, 16)),
      ([63, 2, 24, 1, 8, 1, 9, 2], ImageSize(width: 32, height: 24), (24, 17)),
      ([60, 1, 44, 1, 20, 1, 20, 1], ImageSize(width: 42, height: 26), (22, 22)),
    ] as [([UInt32], ImageSize, (Int, Int))])
  func cropped(_ aperture: [UInt32], _ size: ImageSize, _ first: (Int, Int)) throws {
    var bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    func place(_ name: String) throws -> Int {
      try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) }) - 4
    }
    /// Adds to a number below 65,536.
    func add(_ more: Int, at place: Int) {
      let sum = Int(bytes[place + 2]) << 8 + Int(bytes[place + 3]) + more
      (bytes[place + 2], bytes[place + 3]) = (UInt8(sum >> 8), UInt8(sum & 255))
    }
    // The new property is the fifth. The picture, the second item, has it as its third.
    for name in ["meta", "iprp"] { try add(41, at: place(name)) }
    try add(40, at: place("ipco"))
    try add(41, at: place("iloc") + 22)
    let links = try place("ipma")
    add(1, at: links)
    bytes[links + 23] += 1
    bytes.insert(0x85, at: links + 26)
    let box = ([40, 0x636C_6170] + aperture).flatMap { number in
      (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) }
    }
    bytes.insert(contentsOf: box, at: links)
    let result = try DecoderBench().decode(bytes, [ThumbnailBox(64)]).get()
    #expect(result.originalSize == size && result.pictures[0].size == size)
    let found = result.pictures[0].bytes.dropFirst((4 * size.width + 4) * 4).prefix(2).map(Int.init)
    #expect(abs(found[0] - (first.0 + 4) * 4) < 30 && abs(found[1] - (first.1 + 4) * 5) < 30, "\(found)")
  }

  @Test("the depth of a HEIC is what its properties say", arguments: [8, 10, 12])
  func depth(bits: UInt8) throws {
    var bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    let pixi = Array("pixi".utf8)
    let place = try #require(bytes.indices.first { bytes[$0...].starts(with: pixi) })
    bytes.replaceSubrange(place + 9..<place + 12, with: [bits, bits, bits])
    guard case .found(let info) = bytes.withUnsafeBytes({ ImageProbe.probe($0) }) else {
      Issue.record("it wasn't recognised")
      return
    }
    #expect(info.depth == Int(bits))
  }

  @Test("a HEIC whose brands name only the container is decoded", arguments: ["mif1", "msf1"])
  func container(brand: String) throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    var other = bytes
    other.replaceSubrange(8..<12, with: brand.utf8)
    other.replaceSubrange(20..<24, with: "miaf".utf8)
    let bench = DecoderBench()
    let result = try bench.decode(other).get()
    #expect(result.info.format == .heic)
    #expect(try result.pictures.map(\.bytes) == bench.decode(bytes).get().pictures.map(\.bytes))
    // libheif knows a file by the brands after the first.
    other.replaceSubrange(16..<20, with: "miaf".utf8)
    guard case .failure(let fault) = bench.decode(other) else { return }
    #expect(fault.kind == .unsupportedFormat("heic"), "\(fault)")
  }

  @Test("a HEIC's box may have a size of 64 bits; one that no file has is refused, with the place")
  func largeSizes() throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    let bench = DecoderBench()
    /// Puts a box with such a size between the brands and `meta`.
    func with(size: UInt64, contents: Int) throws -> [UInt8] {
      var result = bytes
      let meta = try #require(bytes.indices.first { bytes[$0...].starts(with: "meta".utf8) }) - 4
      let iloc = try #require(bytes.indices.first { bytes[$0...].starts(with: "iloc".utf8) }) - 4
      result[iloc + 25] += UInt8(16 + contents)
      var box: [UInt8] = [0, 0, 0, 1] + Array("free".utf8)
      box += (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) }
      result.insert(contentsOf: box + [UInt8](repeating: 7, count: contents), at: meta)
      return result
    }
    let pixels = try bench.decode(bytes).get().pictures.map(\.bytes)
    for contents in [0, 5] {
      let file = try with(size: UInt64(16 + contents), contents: contents)
      #expect(try bench.decode(file).get().pictures.map(\.bytes) == pixels)
    }
    for size: UInt64 in [0, 15, 1 << 60 + 16, 1 << 63, .max] {
      guard case .failure(let fault) = bench.decode(try with(size: size, contents: 0)) else {
        Issue.record("\(size) was decoded")
        continue
      }
      #expect(fault.kind == .corrupt && fault.offset == 36, "\(size): \(fault)")
    }
  }

  @Test("a damaged HEIC is refused, with the place")
  func damaged() throws {
    let bytes = Array(try #require(Data(base64Encoded: Self.picture)))
    let bench = DecoderBench()
    func fault(_ bytes: [UInt8]) -> ImageFault? {
      guard case .failure(let fault) = bench.decode(bytes) else { return nil }
      return fault
    }
    func place(_ name: String) throws -> Int {
      try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) }) - 4
    }
    for length in [40, 100, 300, 456, 457, 465, 500, bytes.count - 100, bytes.count - 1] {
      let found = fault(Array(bytes.prefix(length)))
      #expect(found?.kind == .truncated && found?.offset == length, "\(length): \(String(describing: found))")
    }
    // What libheif refuses lies behind the header.
    var broken = bytes
    let pixels = try place("mdat")
    for place in pixels + 8..<pixels + 40 { broken[place] = 0xFF }
    #expect(fault(broken)?.kind == .corrupt && fault(broken)?.offset == pixels)
    var strange = bytes
    strange[try place("ipma") + 25] = 0x99
    #expect(fault(strange)?.kind == .corrupt)
    #expect(try fault(strange)?.offset == place("iprp") + 8)
  }
}
