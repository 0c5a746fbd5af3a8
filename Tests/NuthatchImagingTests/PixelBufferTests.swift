import Testing

@testable import NuthatchImaging

@Suite("Pixel buffers") struct PixelBufferTests {
  @Test(
    "each EXIF orientation moves every pixel to the place where it is shown",
    arguments: Orientation.allCases)
  func orientation(_ orientation: Orientation) throws {
    for size in [(1, 1), (1, 5), (5, 1), (3, 2), (17, 33), (64, 40)].map({
      ImageSize(width: $0.0, height: $0.1)
    }) {
      let pixels = noise(size, seed: 1, transparent: true)
      let upright = try buffer(size, pixels).oriented(orientation)
      #expect(upright.size == orientation.applied(to: size))
      let got = bytes(upright)
      for y in 0..<size.height {
        for x in 0..<size.width {
          // Where EXIF says that a stored pixel is shown.
          let (right, bottom) = (size.width - 1, size.height - 1)
          let (toX, toY) =
            switch orientation {
            case .upright: (x, y)
            case .mirrored: (right - x, y)
            case .rotated180: (right - x, bottom - y)
            case .flipped: (x, bottom - y)
            case .transposed: (y, x)
            case .rotated90: (bottom - y, x)
            case .transversed: (bottom - y, right - x)
            case .rotated270: (y, right - x)
            }
          let from = (y * size.width + x) * 4
          let to = (toY * upright.width + toX) * 4
          #expect(Array(got[to..<to + 4]) == Array(pixels[from..<from + 4]), "\(size) \(x) \(y)")
        }
      }
    }
  }

  @Test("a pixel buffer whose size is zero, negative, huge or not that of its bytes is refused")
  func absurdSizesAreRefused() {
    for size in [(0, 1), (1, 0), (-4, -4), (Int.max, 2), (Int.max / 2, 1), (1 << 31, 1 << 31)] {
      #expect(throws: ImageFault.self) {
        _ = try PixelBuffer(uninitialized: ImageSize(width: size.0, height: size.1), opaque: true)
      }
    }
    #expect(throws: ImageFault.self) { _ = try buffer(ImageSize(width: 2, height: 2), [1, 2, 3, 4]) }
  }

  @Test("a pixel buffer that is declared opaque has an alpha of 255 everywhere")
  func opaqueMeansAlphaIs255() throws {
    let picture = try buffer(ImageSize(width: 2, height: 1), [1, 2, 3, 0, 4, 5, 6, 7], opaque: true)
    #expect(bytes(picture) == [1, 2, 3, 255, 4, 5, 6, 255])
    #expect(picture.stride == 8 && picture.byteCount == 8 && picture.isOpaque)
  }
}
