import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("Progressive pictures during the transfer") struct ScanWatchTests {
  /// Returns the number of bytes at which the watch first said that they may be enough, or nil if it never did.
  static func due(_ jpeg: [UInt8], _ boxes: [ThumbnailBox], piece: Int) throws -> Int? {
    let info = jpeg.withUnsafeBytes { (bytes) -> ImageInfo? in
      guard case .found(let info) = ImageProbe.probe(bytes) else { return nil }
      return info
    }
    guard var watch = EarlyEnd.watch(try #require(info), boxes: boxes) else { return nil }
    return jpeg.withUnsafeBytes { bytes in
      for at in stride(from: 0, to: bytes.count, by: piece) {
        let end = min(bytes.count, at + piece)
        if watch.feed(UnsafeRawBufferPointer(rebasing: bytes[at..<end])) { return end }
      }
      return nil
    }
  }

  @Test("the scan watch says enough at the scan at which the decoder stops", arguments: [1, 7, 4096])
  func agrees(piece: Int) throws {
    var stopped = 0
    for (color, sampling) in [
      (NHT_YCC, (2, 2)), (NHT_YCC, (1, 1)), (NHT_YCC, (2, 1)), (NHT_YCC, (1, 2)), (NHT_YCC, (4, 1)),
      (NHT_GRAY, (1, 1)), (NHT_RGB, (1, 1)), (NHT_CMYK, (1, 1)), (NHT_YCCK, (2, 2)),
    ] as [(Int, (Int32, Int32))] {
      let jpeg = Fixture.jpeg(230, 170, color: color, sampling: sampling) { $0.is_progressive = 1 }
      for side in [12, 14, 30, 55, 110] {
        let whole = try Decode.thumbnails(jpeg, [ThumbnailBox(side)]).get()
        let due = try Self.due(jpeg, [ThumbnailBox(side)], piece: piece)
        guard whole.report.denominator > 1 else {
          #expect(due == nil)
          continue
        }
        // All scans of YCCK at half its size: then nothing is told.
        guard whole.report.stoppedEarly || due != nil else { continue }
        let count = try #require(due, "\(color), \(sampling), \(side)")
        #expect((whole.report.bytesUsed...whole.report.bytesUsed + piece + 2).contains(count))
        let early = try Decode.thumbnails(Array(jpeg[..<count]), [ThumbnailBox(side)]).get()
        #expect(early.pictures[0].largestDifference(from: whole.pictures[0]) == 0)
        if whole.report.stoppedEarly { stopped += 1 }
      }
    }
    #expect(stopped > 20)
  }

  @Test("the scan watch waits for all scans that the largest thumbnail needs")
  func several() throws {
    let jpeg = Fixture.jpeg(230, 170) { $0.is_progressive = 1 }
    let small = try #require(try Self.due(jpeg, [ThumbnailBox(12)], piece: 1))
    let large = try #require(try Self.due(jpeg, [ThumbnailBox(30)], piece: 1))
    #expect(small < large)
    #expect(try Self.due(jpeg, [ThumbnailBox(12), ThumbnailBox(30)], piece: 1) == large)
    #expect(try Self.due(jpeg, [ThumbnailBox(12), ThumbnailBox(230)], piece: 1) == nil)
  }

  @Test("the scan watch is never due for a picture that isn't progressive")
  func others() throws {
    #expect(try Self.due(Fixture.jpeg(230, 170), [ThumbnailBox(12)], piece: 100) == nil)
    #expect(try Self.due(Fixture.png(230, 170), [ThumbnailBox(12)], piece: 100) == nil)
  }

  @Test("a damaged progressive picture never traps the scan watch")
  func damage() throws {
    let jpeg = Fixture.jpeg(230, 170) { $0.is_progressive = 1 }
    let info = try jpeg.withUnsafeBytes { try Thumbnailer.info(from: ImageProbe.probe($0)) }
    var random = SplitMix(11)
    for _ in 0..<300 {
      var damaged = jpeg
      for _ in 0..<8 {
        damaged[Int.random(in: 0..<jpeg.count, using: &random)] =
          [0, 0xFF, 0xDA, 0xC2, 17].randomElement() ?? 0
      }
      damaged.removeLast(Int.random(in: 0..<jpeg.count, using: &random))
      var watch = try #require(ScanWatch(info, boxes: [ThumbnailBox(12)]))
      damaged.withUnsafeBytes { bytes in
        for at in stride(from: 0, to: bytes.count, by: 97) {
          _ = watch.feed(UnsafeRawBufferPointer(rebasing: bytes[at..<min(bytes.count, at + 97)]))
        }
      }
    }
  }
}
