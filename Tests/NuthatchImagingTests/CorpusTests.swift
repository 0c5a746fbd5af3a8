import Glibc
import Testing

@testable import NuthatchImaging

/// Odd pictures, which aren't part of the project.
@Suite(
  "Pictures of the corpus that NUTHATCH_CORPUS names",
  .enabled(if: getenv("NUTHATCH_CORPUS") != nil, "NUTHATCH_CORPUS names no folder"))
struct CorpusTests {
  private static let folder = getenv("NUTHATCH_CORPUS").map { String(cString: $0) }

  private func names(_ path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted()
  }

  private func read(_ path: String) -> [UInt8] {
    guard let file = fopen(path, "rb") else { return [] }
    defer { fclose(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
    return bytes
  }

  private func files(in subfolder: String? = nil) -> [(name: String, bytes: [UInt8])] {
    guard let folder = Self.folder else { return [] }
    let folders = subfolder.map { [$0] } ?? names(folder)
    return folders.flatMap { sub in
      names("\(folder)/\(sub)").map { ("\(sub)/\($0)", read("\(folder)/\(sub)/\($0)")) }
    }
  }

  @Test("a corpus file below 400 kB gives the same pixels or fault at once and in pieces")
  func nothingTrapsAndPiecesAgree() {
    for (name, bytes) in files() where bytes.count < 400_000 {
      let whole = Decode.thumbnails(bytes, [ThumbnailBox(64), ThumbnailBox(20, fit: .cover)])
      let pieces = Decode.pieces(bytes, 997, [ThumbnailBox(64), ThumbnailBox(20, fit: .cover)])
      #expect(whole.summary == pieces.summary, "\(name)")
      var options = DecodeOptions()
      options.allowDamaged = true
      if case .success(let result) = Decode.thumbnails(bytes, [ThumbnailBox(64)], options) {
        #expect(!result.report.isPartial || whole.fault != nil, "\(name)")
      }
    }
  }

  @Test("thumbnails of a corpus picture that are made together equal those made alone")
  func severalBoxesGiveTheSameAsEachAlone() {
    let boxes = [512, 256, 128, 64, 16].map { ThumbnailBox($0) }
    var options = DecodeOptions()
    options.allowDamaged = true
    for (name, bytes) in files() {
      guard case .success(let together) = Decode.thumbnails(bytes, boxes, options) else { continue }
      for (box, picture) in zip(boxes, together.pictures) {
        let alone = Decode.thumbnails(bytes, [box], options).picture
        let isSame = picture.bytes == alone?.bytes
        #expect(isSame, "\(name), \(box.width): \(alone.map(picture.largestDifference) ?? 256) levels apart")
      }
    }
  }

  // Thumbnails are decoded without filters. In pictures of several layers, that would show.
  @Test("a thumbnail of a corpus AVIF is close to one of full size")
  func thumbnailsAreCloseToThePicture() throws {
    for (name, bytes) in files(in: "avif") {
      guard let full = Decode.whole(bytes).picture else { continue }
      let side = max(full.size.width, full.size.height)
      for part in [3, 5, 9] where side / part >= 16 {
        let picture = try #require(Decode.thumbnails(bytes, [ThumbnailBox(side / part)]).picture)
        let decibels = picture.decibels(from: try full.resampled(to: picture.size))
        #expect(decibels > 44, "\(name) at 1/\(part): \(decibels) dB")
      }
    }
  }

  @Test("the damaged files of PngSuite are refused, and all others are decoded")
  func damagedPNGsAreRefused() {
    for (name, bytes) in files(in: "pngsuite") where name.hasSuffix(".png") {
      let outcome = Decode.whole(bytes)
      #expect((outcome.fault != nil) == name.contains("/x"), "\(name)")
    }
  }

  @Test("a corpus PNG gives the same pixels or fault with and without ISA-L")
  func bothPNGDecodersAgree() {
    for (name, bytes) in files() where name.hasSuffix(".png") {
      Decode.withExactCopy(of: bytes) { bytes in
        guard case .found(let info) = ImageProbe.probe(bytes) else { return }
        let outcomes = [false, true].map { libpng in
          Decode.capture { () throws(ImageFault) -> [UInt8] in
            let decoder = try PNGRowDecoder(bytes, options: DecodeOptions(), forceLibpng: libpng)
            return try decoder.decode([StoredPlan(whole: info)], options: DecodeOptions())[0].bytes
          }.mapError(\.word.asError)
        }
        #expect(outcomes[0] == outcomes[1], "\(name)")
      }
    }
  }

  @Test("samples of EXIF orientations give thumbnails of one size that differ by under 4 levels on average")
  func allOrientationsComeOutAlike() throws {
    for kind in ["Landscape", "Portrait"] {
      let pictures = try files(in: "exif-orientation").filter { $0.name.contains(kind) }.map { file in
        try #require(Decode.thumbnails(file.bytes, [ThumbnailBox(64)]).picture, "\(file.name)")
      }
      for picture in pictures.dropFirst() {
        #expect(picture.size == pictures[0].size)
        let sum = zip(picture.bytes, pictures[0].bytes).reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
        #expect(Double(sum) / Double(picture.byteCount) < 4)
      }
    }
  }

  @Test("a reference JPEG is decoded to within 3 levels of its PNG, or refused if it is lossless")
  func referencePairsAgree() throws {
    for (name, bytes) in files(in: "jpeg-decoder-reftest") where name.hasSuffix(".jpg") {
      var options = DecodeOptions()
      options.convertColors = false  // as the references were made
      switch Decode.whole(bytes, options) {
      case .failure(let fault):
        #expect(fault.word == "unsupported_format" && name.contains("lossless"), "\(name): \(fault)")
      case .success(let result):
        let folder = try #require(Self.folder)
        let reference = try #require(Decode.whole(read("\(folder)/\(name.dropLast(4)).png"), options).picture)
        #expect(result.pictures[0].largestDifference(from: reference) <= 3, "\(name)")
      }
    }
  }
}

/// A fault's word as an error, so that outcomes can be compared.
struct FaultWord: Error, Equatable {
  let word: String
}

extension String {
  fileprivate var asError: FaultWord { FaultWord(word: self) }
}
