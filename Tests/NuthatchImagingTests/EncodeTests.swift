import CSystem
import Testing

@testable import NuthatchImaging

@Suite("Encoding as PNG and JPEG") struct EncodeTests {
  static let shapes = [(1, 1), (1, 7), (9, 1), (2, 3), (17, 33), (256, 171), (333, 250), (5, 3000)].map {
    w, h in
    ImageSize(width: w, height: h)
  }

  @Test("a picture that is encoded as PNG decodes to the same pixels", arguments: shapes, [false, true])
  func pngKeepsEveryPixel(_ size: ImageSize, opaque: Bool) throws {
    let noisy = try buffer(size, noise(size, seed: 7, transparent: !opaque))
    let smooth = try buffer(size, gradient(size, opaque: opaque))
    for picture in [noisy, smooth] {
      for setting in [PNGSetting.fast, .small] {
        let encoded = try picture.encodedPNG(setting)
        let decoded = try decodePNG(encoded)
        #expect(decoded.pixels == bytes(picture), "\(size) \(setting)")
        #expect(decoded.info.is_opaque == (picture.isFullyOpaque ? 1 : 0))
      }
    }
  }

  @Test("a grey picture becomes a grey PNG with the setting `small` and keeps its pixels")
  func pngOfGrayIsGrayWhenSmall() throws {
    let size = ImageSize(width: 40, height: 30)
    let opaque = (0..<size.area).flatMap { i -> [UInt8] in
      let level = UInt8(i % 256)
      return [level, level, level, 255]
    }
    let clear = (0..<size.area).flatMap { i -> [UInt8] in
      let level = UInt8(i % 256)
      return [level, level, level, UInt8(i % 251)]
    }
    for pixels in [opaque, clear] {
      let decoded = try decodePNG(buffer(size, pixels).encodedPNG(.small))
      #expect(decoded.info.is_gray == 1)
      #expect(decoded.pixels == pixels)
    }
  }

  @Test("a picture of any width from 1 to 40 keeps its pixels as PNG", arguments: 1...40)
  func pngOfAnyWidth(_ width: Int) throws {
    // Smooth but not straight, so that rows take Paeth's filter, one after the other.
    let size = ImageSize(width: width, height: 21)
    for opaque in [false, true] {
      let pixels = (0..<size.area).flatMap { i -> [UInt8] in
        let (x, y) = (i % width, i / width)
        return [UInt8(x * y % 256), UInt8((x * x + y * y) / 9 % 256), UInt8((x + 2 * y) * 3 % 256)]
          + [opaque ? 255 : UInt8((x * 3 + y * y) % 256)]
      }
      #expect(try decodePNG(buffer(size, pixels).encodedPNG()).pixels == pixels)
    }
  }

  @Test("a picture of 900 x 700 random pixels keeps every pixel as PNG")
  func pngLargerThanOnePiece() throws {
    let size = ImageSize(width: 900, height: 700)
    for transparent in [false, true] {
      let pixels = noise(size, seed: 3, transparent: transparent)
      #expect(try decodePNG(buffer(size, pixels).encodedPNG()).pixels == pixels)
    }
  }

  @Test(
    "a gradient that is encoded as JPEG of quality 95 decodes to nearly the same levels",
    arguments: shapes, [JPEGChroma.full, .quarter])
  func jpegComesCloseToThePixels(_ size: ImageSize, chroma: JPEGChroma) throws {
    let pixels = gradient(size, opaque: true)
    let encoded = try buffer(size, pixels, opaque: true).encodedJPEG(quality: 95, chroma: chroma)
    let decoded = try decodeJPEG(encoded)
    #expect(decoded.count == pixels.count)
    let worst = zip(decoded, pixels).map { abs(Int($0) - Int($1)) }.max() ?? 0
    // Where a gradient is steep, a colour shared by four pixels is far from each.
    let steep = chroma == .quarter && min(size.width, size.height) < 16
    #expect(worst <= (steep ? 130 : 24), "\(size)")
  }

  @Test("chroma `asSeen` stores a picture with soft colours as `quarter` does")
  func coloursAreHalvedWhereNobodySeesIt() throws {
    let size = ImageSize(width: 200, height: 150)
    // Colours that turn slowly under sharp brightness, and a little noise.
    let photograph = picture(size) { x, y in
      let light = (x / 8 + y / 8) % 2 * 80
      return (light + x / 3 + (x * 7 + y * 3) % 5, light + 40 + y / 4, light + 30 + (x * 3 + y) % 6)
    }
    try expect(photograph, size, .quarter)
    try expect(
      gradient(ImageSize(width: 2, height: 2), opaque: true), ImageSize(width: 2, height: 2), .quarter)
  }

  @Test("chroma `asSeen` stores coloured edges and noise as `full` does", arguments: 0..<8)
  func coloursWithEdgesAreKeptWhole(_ shift: Int) throws {
    let size = ImageSize(width: 203, height: 151)
    let edges: [(Int, Int) -> Bool] = [
      { x, _ in (x + shift) % 16 < 8 }, { _, y in (y + shift) % 16 < 8 }, { _, y in y % 8 == shift },
      { x, _ in x % 8 == shift }, { x, y in (x / 2 + y / 2 + shift) % 2 == 0 },
    ]
    for edge in edges {
      for (one, other) in [
        ((255, 0, 0), (0, 0, 255)), ((250, 250, 250), (250, 250, 120)), ((0, 90, 0), (0, 0, 0)),
      ] {
        try expect(picture(size) { x, y in edge(x, y) ? one : other }, size, .full)
      }
    }
    try expect(noise(size, seed: UInt64(shift), transparent: false), size, .full)
  }

  @Test(
    "chroma `asSeen` finds the same colours soft as a scalar reference, at each width",
    arguments: [3, 4, 7, 11, 16, 19, 37, 64, 203, 1100])
  func softColoursAreFoundAtEveryWidth(_ width: Int) throws {
    let size = ImageSize(width: width, height: 9)
    var random = SplitMix(UInt64(width))
    var found = Set<Bool>()
    for noise in 8..<40 {
      let pixels = picture(size) { x, _ in
        let light = x * 31 % 150
        return (light + Int(random.next() % UInt64(noise)), light + noise / 2, light)
      }
      let isSoft = Self.isSoft(pixels, size)
      found.insert(isSoft)
      try expect(pixels, size, isSoft ? .quarter : .full)
    }
    #expect(found.count == 2)
  }

  /// What the vectors do, one value after the other.
  private static func isSoft(_ pixels: [UInt8], _ size: ImageSize) -> Bool {
    func pair(_ x: Int, _ y: Int, _ color: Int) -> Int {
      let at = (y * size.width + x) * 4 + color
      return (Int(pixels[at]) - Int(pixels[at + 1]) + 256) >> 1
    }
    var squares = 0
    var visible = 0
    for y in stride(from: 0, to: size.height, by: 2) {
      for x in 0..<size.width - 2 {
        for color in 0...1 {
          let here = pair(x, y, color)
          let above = pair(x, max(0, y - 1), color)
          let step = max(
            abs(pair(x + 1, y, color) - here), abs(above - here), abs(pair(x, max(0, y - 2), color) - above))
          squares += step * step
          visible += step > 24 ? 1 : 0
        }
      }
    }
    let values = (size.width - 2) * 2 * ((size.height + 1) / 2)
    return visible * 100 <= values && squares <= values * 49
  }

  /// That colours are kept as finely as `chroma` says.
  private func expect(_ pixels: [UInt8], _ size: ImageSize, _ chroma: JPEGChroma) throws {
    let made = try buffer(size, pixels, opaque: true)
    let asSeen = try made.encodedJPEG(chroma: .asSeen).withUnsafeBytes { Array($0) }
    let wanted = try made.encodedJPEG(chroma: chroma).withUnsafeBytes { Array($0) }
    let isSame = asSeen == wanted
    #expect(isSame, "\(size), \(chroma)")
  }

  private func picture(_ size: ImageSize, _ color: (Int, Int) -> (Int, Int, Int)) -> [UInt8] {
    (0..<size.area).flatMap { i -> [UInt8] in
      let (red, green, blue) = color(i % size.width, i / size.width)
      return [UInt8(red), UInt8(green), UInt8(blue), 255]
    }
  }

  @Test("a transparent picture is refused for JPEG, unless `onWhite` blends it with white")
  func jpegOnWhite() throws {
    let size = ImageSize(width: 64, height: 64)
    let clear = (0..<size.area).flatMap { i -> [UInt8] in i % 64 < 32 ? [255, 0, 0, 0] : [0, 0, 0, 128] }
    let picture = try buffer(size, clear)
    #expect(throws: ImageFault(.invalid, "the picture has transparency, which JPEG can't store")) {
      _ = try picture.encodedJPEG()
    }
    let decoded = try decodeJPEG(picture.encodedJPEG(onWhite: true))
    for y in 0..<64 {
      #expect(decoded[(y * 64 + 8) * 4..<(y * 64 + 8) * 4 + 4].allSatisfy { $0 >= 253 })
      #expect(decoded[(y * 64 + 56) * 4..<(y * 64 + 56) * 4 + 3].allSatisfy { abs(Int($0) - 127) <= 2 })
    }
  }

  @Test("`isFullyOpaque` is found from the pixels: one alpha of 254 makes it false")
  func opaqueIsFoundOut() throws {
    let size = ImageSize(width: 33, height: 5)
    var pixels = [UInt8](repeating: 255, count: size.area * 4)
    #expect(try buffer(size, pixels).isFullyOpaque)
    #expect(try !buffer(size, pixels).isOpaque)
    pixels[pixels.count - 1] = 254
    #expect(try !buffer(size, pixels).isFullyOpaque)
  }

  @Test("a limit below the encoded size is refused as `tooLarge`, a quality of 0 or 101 as `invalid`")
  func limitsAreKept() throws {
    let size = ImageSize(width: 300, height: 300)
    let picture = try buffer(size, noise(size, seed: 5, transparent: false), opaque: true)
    let jpeg = try picture.encodedJPEG().count
    let png = try picture.encodedPNG().count
    #expect(try picture.encodedJPEG(limit: jpeg).count == jpeg)
    #expect(try picture.encodedPNG(limit: png).count == png)
    for limit in [-1, 0, 1, 100, 10_000] {
      #expect(fault { try picture.encodedJPEG(limit: limit) } == .tooLarge)
      #expect(fault { try picture.encodedPNG(.fast, limit: limit) } == .tooLarge)
      #expect(fault { try picture.encodedPNG(.small, limit: limit) } == .tooLarge)
    }
    #expect(fault { try picture.encodedJPEG(limit: jpeg - 1) } == .tooLarge)
    #expect(fault { try picture.encodedPNG(limit: png - 1) } == .tooLarge)
    #expect(fault { try picture.encodedJPEG(quality: 0) } == .invalid)
    #expect(fault { try picture.encodedJPEG(quality: 101) } == .invalid)
  }

  @Test("a picture 65,501 pixels wide is refused for JPEG as `invalid`, and encoded as PNG")
  func jpegHasNoMoreThan65500PixelsASide() throws {
    let size = ImageSize(width: 65_501, height: 1)
    let picture = try buffer(size, gradient(size, opaque: true), opaque: true)
    #expect(fault { try picture.encodedJPEG() } == .invalid)
    #expect(try decodePNG(picture.encodedPNG()).pixels == bytes(picture))
  }

  private func fault(_ body: () throws -> EncodedBytes) -> ImageFault.Kind? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? ImageFault)?.kind
    }
  }

  private func gradient(_ size: ImageSize, opaque: Bool) -> [UInt8] {
    var pixels: [UInt8] = []
    for y in 0..<size.height {
      for x in 0..<size.width {
        let across = UInt8(x * 255 / max(1, size.width - 1))
        let down = UInt8(y * 255 / max(1, size.height - 1))
        pixels += [across, down, 128, opaque ? 255 : across]
      }
    }
    return pixels
  }
}

/// A picture from its bytes.
func buffer(_ size: ImageSize, _ pixels: [UInt8], opaque: Bool = false) throws -> PixelBuffer {
  try pixels.withUnsafeBytes { try PixelBuffer(size: size, rgba: $0, opaque: opaque) }
}

/// A picture's bytes.
func bytes(_ picture: PixelBuffer) -> [UInt8] {
  picture.withUnsafeBytes { Array($0) }
}

/// By libpng and by the faster decoder, which must agree.
private func decodePNG(_ encoded: EncodedBytes) throws -> (info: nhs_png_info, pixels: [UInt8]) {
  let fast = try decodePNG(encoded, forceLibpng: false)
  let plain = try decodePNG(encoded, forceLibpng: true)
  #expect(fast.pixels == plain.pixels)
  return plain
}

private func decodePNG(
  _ encoded: EncodedBytes, forceLibpng: Bool
) throws -> (info: nhs_png_info, pixels: [UInt8]) {
  var limits = nhs_png_limits(max_memory: 1 << 28, max_profile_bytes: 0, force_libpng: forceLibpng ? 1 : 0)
  let decoder = try #require(nhs_png_new(encoded.baseAddress, encoded.count, &limits))
  defer { nhs_png_free(decoder) }
  var info = nhs_png_info()
  try #require(nhs_png_open(decoder, &info) == 0)
  let stride = Int(info.width) * 4
  var pixels = [UInt8](repeating: 0, count: stride * Int(info.height))
  var rows = 0
  while rows < info.height {
    var got: Int32 = 0
    let status = pixels.withUnsafeMutableBufferPointer { to in
      nhs_png_rows(
        decoder, to.baseAddress.map { $0 + rows * stride }, stride, info.height - Int32(rows), &got)
    }
    try #require(status == 0 && got > 0)
    rows += Int(got)
  }
  try #require(nhs_png_finish(decoder) == 0)
  return (info, pixels)
}

private func decodeJPEG(_ encoded: EncodedBytes) throws -> [UInt8] {
  var limits = nhs_jpeg_limits(
    max_memory: 1 << 28, max_scans: 100, max_scan_blocks: 1 << 40, allow_damaged: 0)
  let decoder = try #require(nhs_jpeg_new(&limits))
  defer { nhs_jpeg_free(decoder) }
  nhs_jpeg_borrow(decoder, encoded.baseAddress, encoded.count)
  nhs_jpeg_end(decoder)
  var info = nhs_jpeg_info()
  try #require(nhs_jpeg_header(decoder, &info) == 0)
  var (width, height): (Int32, Int32) = (0, 0)
  try #require(nhs_jpeg_start(decoder, 1, 0, &width, &height) == 0)
  try #require(nhs_jpeg_absorb(decoder) == 0)
  let stride = Int(width) * 4
  var pixels = [UInt8](repeating: 0, count: stride * Int(height))
  var rows = 0
  while rows < height {
    var got: Int32 = 0
    let status = pixels.withUnsafeMutableBufferPointer { to in
      nhs_jpeg_rows(decoder, to.baseAddress.map { $0 + rows * stride }, stride, height - Int32(rows), &got)
    }
    try #require(status == 0 && got > 0)
    rows += Int(got)
  }
  return pixels
}
