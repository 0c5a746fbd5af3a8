import Testing

@testable import NuthatchImaging

@Suite("Recognition of picture formats") struct SnifferTests {
  static let heads: [(ImageFormat, [UInt8])] = [
    (.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]),
    (.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
    (.gif, Array("GIF89a".utf8)),
    (.gif, Array("GIF87a".utf8)),
    (.webp, Array("RIFF".utf8) + [1, 2, 3, 4] + Array("WEBPVP8 ".utf8)),
    (.tiff, [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]),
    (.tiff, [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8]),
    (.avif, [0, 0, 0, 24] + Array("ftypavif".utf8) + [0, 0, 0, 0] + Array("mif1miaf".utf8)),
    (.avif, [0, 0, 0, 28] + Array("ftypmif1".utf8) + [0, 0, 0, 0] + Array("mif1avifmiaf".utf8)),
    (.heic, [0, 0, 0, 24] + Array("ftypheic".utf8) + [0, 0, 0, 0] + Array("mif1heic".utf8)),
    (.jxl, [0xFF, 0x0A, 0, 0]),
    (.jxl, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
    (.jp2, [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
    (.jp2, [0xFF, 0x4F, 0xFF, 0x51, 0, 0x2F]),
    (.psd, Array("8BPS".utf8) + [0, 1]),
    (.bmp, [0x42, 0x4D] + [UInt8](repeating: 1, count: 12) + [40, 0, 0, 0]),
    (.ico, [0, 0, 1, 0, 1, 0, 16, 16]),
    (.svg, Array("<svg xmlns='http://www.w3.org/2000/svg'>".utf8)),
    (.svg, Array("\u{FEFF}<?xml version='1.0'?>\n<!-- <html> -->\n<svg>".utf8)),
    (.svg, Array("<!DOCTYPE svg PUBLIC \"x\"><svg>".utf8)),
    (.svg, Array("  <svg:svg xmlns:svg='x'>".utf8)),
    (.svg, Array("<!doctype\n\tsvg[<!ENTITY a 'b'>]><svg>".utf8)),
    (.svg, [0xFF, 0xFE] + "<?xml version='1.0'?><svg>".utf8.flatMap { [$0, 0] }),
    (.svg, [0xFE, 0xFF] + "<svg>".utf8.flatMap { [0, $0] }),
  ]

  @Test(
    "each format is recognized by its first bytes, and a prefix is never taken for another",
    arguments: heads.indices)
  func everyFormatIsKnownByItsContent(_ index: Int) {
    let (format, head) = Self.heads[index]
    #expect(head.withUnsafeBytes { FormatSniffer.sniff($0) } == .format(format))
    for count in 0..<head.count {
      let verdict = head.prefix(count).withUnsafeBytes { FormatSniffer.sniff($0) }
      #expect(verdict == .needMore || verdict == .format(format), "after \(count) bytes of \(format)")
    }
  }

  @Test(
    "HTML, plain text and bytes that begin like a picture's are not pictures",
    arguments: [
      "", "<html><body><svg></svg></body></html>", "<!DOCTYPE html><svg>", "<!DOCTYPE\nhtml><svg>", "hello",
      "BM is a text that goes on", "<!-- a comment without an end", "<svgfoo>", "{\"a\": 1}", "GIF90a",
      "RIFFxxxxWAVEfmt ", "<?xml version='1.0'?>",
    ])
  func otherTextsAreNoPictures(_ text: String) {
    let bytes = Array(text.utf8)
    #expect(bytes.withUnsafeBytes { FormatSniffer.sniff($0, isComplete: true) } == .unknown)
    #expect(Decode.probe(bytes) == .notAnImage)
    #expect(Decode.probe(bytes, pieces: 1) == .notAnImage)
  }

  @Test("an MP4 film is not a picture")
  func aFilmIsNoPicture() {
    let film: [UInt8] = [0, 0, 0, 20] + Array("ftypisom".utf8) + [0, 0, 2, 0] + Array("mp41".utf8)
    #expect(film.withUnsafeBytes { FormatSniffer.sniff($0) } == .unknown)
  }

  @Test("an SVG is recognised behind a long comment, however it comes", arguments: [1, 7, 1000, 30_000])
  func longComments(pieces: Int) {
    for length in [900, 1020, 4090, 20_000] {
      let text = "<!--" + String(repeating: "x", count: length) + "--><svg width='3' height='2'/>"
      guard case .found(let info) = Decode.probe(Array(text.utf8), pieces: pieces) else {
        Issue.record("\(length) bytes, \(pieces) at once")
        continue
      }
      #expect(info.size == ImageSize(width: 3, height: 2))
    }
  }

  @Test("a comment longer than `FormatSniffer.maxBytes` is no picture, and no reason to wait for more")
  func aVerdictComesWithinTheLimit() {
    let comment = Array("<!--".utf8) + [UInt8](repeating: 0x20, count: FormatSniffer.maxBytes)
    #expect(comment.withUnsafeBytes { FormatSniffer.sniff($0) } == .unknown)
  }

  @Test("a TIFF picture is refused as `unsupported_format` with its name")
  func unsupportedFormatsAreNamed() {
    let head: [UInt8] = [0x49, 0x49, 0x2A, 0, 8, 0, 0, 0]
    #expect(Decode.probe(head) == .unsupported(.tiff))
    #expect(Decode.whole(head).fault?.kind == .unsupportedFormat("tiff"))
    #expect(Decode.whole(head).fault?.word == "unsupported_format")
  }
}
