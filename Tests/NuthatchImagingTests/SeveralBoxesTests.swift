import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite struct SeveralBoxesTests {
  private func textured(_ width: Int, _ height: Int) -> [UInt8] {
    let noise = Fixture.noise(width * height * 3, seed: 3)
    return zip(noise, Fixture.rgb(width, height)).map { UInt8(Int($0) / 8 + Int($1) / 2 + 40) }
  }

  @Test(arguments: [(1, 1), (2, 2)] as [(Int32, Int32)])
  func severalBoxesGiveTheSameAsEachAlone(_ horizontal: Int32, _ vertical: Int32) throws {
    let samples = textured(1003, 754)
    let boxes = [ThumbnailBox(40), ThumbnailBox(60), ThumbnailBox(130), ThumbnailBox(260)]
    for bytes in [
      Fixture.jpeg(1003, 754, sampling: (horizontal, vertical), quality: 85, samples: samples),
      Fixture.png(1003, 754, samples: samples),
    ] {
      let together = try Decode.thumbnails(bytes, boxes).get()
      #expect(together.pictures.count == boxes.count)
      for (box, picture) in zip(boxes, together.pictures) {
        let alone = try #require(Decode.thumbnails(bytes, [box]).picture)
        #expect(
          picture.largestDifference(from: alone) <= 2, "\(box.width), sampling \(horizontal), \(picture.size)"
        )
      }
    }
  }

  @Test func boxesMakeSense() {
    let png = Fixture.png(10, 10)
    #expect(Decode.thumbnails(png, []).fault?.kind == .invalid)
    #expect(Decode.thumbnails(png, [ThumbnailBox(0)]).fault?.kind == .invalid)
    #expect(Decode.thumbnails(png, Array(repeating: ThumbnailBox(4), count: 65)).fault?.kind == .invalid)
  }

  @Test func thumbnailsHaveTheirSize() throws {
    let jpeg = Fixture.jpeg(100, 40)
    let boxes = [
      ThumbnailBox(50), ThumbnailBox(width: 30, height: 30, mode: .fill),
      ThumbnailBox(width: 33, height: 20, mode: .exact), ThumbnailBox(200), ThumbnailBox(200, enlarge: true),
    ]
    let sizes = try Decode.thumbnails(jpeg, boxes).get().pictures.map(\.size)
    #expect(
      sizes == [
        ImageSize(width: 50, height: 20), ImageSize(width: 30, height: 30), ImageSize(width: 33, height: 20),
        ImageSize(width: 100, height: 40), ImageSize(width: 200, height: 80),
      ])
  }
}
