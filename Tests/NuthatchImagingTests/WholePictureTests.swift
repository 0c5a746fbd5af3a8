import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite struct WholePictureTests {
  private func isWhole(_ bytes: [UInt8]) -> Bool {
    Decode.withExactCopy(of: bytes) { WholePicture.isWhole($0) }
  }

  @Test func onlyTheLastByteMakesItWhole() {
    let exif = Fixture.segment(0xE1, Array("Exif\0\0".utf8) + Fixture.jpeg(8, 8))
    for bytes in [
      Fixture.jpeg(40, 30), Fixture.jpeg(40, 30) { $0.is_progressive = 1 },
      Fixture.jpeg(40, 30) { $0.restart_rows = 1 }, Fixture.inserting(exif, into: Fixture.jpeg(40, 30)),
      Fixture.png(40, 30), Fixture.png(40, 30) { $0.idat_bytes = 100 },
    ] {
      #expect(isWhole(bytes))
      #expect(isWhole(bytes + [1, 2, 3]))
      for count in 0..<bytes.count { #expect(!isWhole(Array(bytes[..<count])), "\(count) of \(bytes.count)") }
    }
  }

  @Test func otherBytesAreNeverWhole() {
    #expect(!isWhole([]))
    #expect(!isWhole(Array("GIF89a".utf8)))
    #expect(!isWhole([0xFF, 0xD8, 0xFF, 0xD9]))
    let noPixels = Array(Fixture.png(1, 1)[..<33]) + Fixture.chunk("IEND", [])
    #expect(!isWhole(noPixels))
  }
}
