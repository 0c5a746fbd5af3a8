import Foundation
import NuthatchImaging
import NuthatchTransport
import Testing

@testable import NuthatchCore

func isInstalled(_ library: String) -> Bool {
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
      // Without a type, it is known by its first bytes.
      ("data:;base64," + png.base64EncodedString(), true),
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
      ("<svg xmlns='http://www.w3.org/2000/svg' xmlns:a='b#c#d'/>", 54, 57),
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

  @Test(
    "what a drawing that needed too much memory left behind is no other picture's loss: that has a new decoder",
    .enabled(if: !isSanitized, "the sanitizers' memory isn't limited"))
  func newAfterLack() throws {
    let bench = DecoderBench(memory: 64 << 20)
    _ = try bench.decode(Array(drawing("width='8' height='8'").utf8)).get()
    let first = try #require(bench.process.state.withLock { $0.running })
    guard case .failure = bench.decode(Array(hungry.utf8), [ThumbnailBox(1000)]) else {
      Issue.record("it was drawn")
      return
    }
    _ = try bench.decode(Array(drawing("width='8' height='8'").utf8)).get()
    #expect(bench.process.state.withLock { $0.running } !== first)
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
