import Testing

@testable import NuthatchImaging

@Suite("Encoding as WebP") struct EncodeWebPTests {
  /// Noise, also in the colours of invisible pixels.
  private func pixels(_ size: ImageSize, opaque: Bool) -> [UInt8] {
    var bytes = Fixture.noise(size.area * 4, seed: 3)
    for at in stride(from: 3, to: bytes.count, by: 4) {
      bytes[at] = opaque ? 255 : at % 3 == 0 ? 0 : bytes[at]
    }
    return bytes
  }

  private func decoded(_ encoded: EncodedBytes) throws -> DecodeResult {
    try encoded.withUnsafeBytes { try Thumbnailer.decode($0) }
  }

  @Test(
    "a picture that is encoded as lossless WebP decodes to the same pixels",
    arguments: EncodeTests.shapes, [false, true])
  func lossless(_ size: ImageSize, opaque: Bool) throws {
    let samples = pixels(size, opaque: opaque)
    let picture = try buffer(size, samples)
    for setting in [WebPSetting.fast, .lossless(level: 3), .small] {
      let found = try decoded(picture.encodedWebP(setting))
      #expect(found.info.format == .webp && found.info.color != .ycbcr)
      #expect(bytes(found.pictures[0]) == samples, "\(size) \(setting)")
    }
  }

  @Test("a lossy WebP has exact alpha and similar colours, and fewer bytes of lower quality")
  func lossy() throws {
    let size = ImageSize(width: 300, height: 200)
    let samples = WebPFixture.rgba(size.width, size.height)
    let picture = try buffer(size, samples)
    let found = bytes(try decoded(picture.encodedWebP(.lossy(quality: 90))).pictures[0])
    for at in stride(from: 0, to: samples.count, by: 4) {
      #expect(found[at + 3] == samples[at + 3])
      // Where little is seen, colours may be far off.
      guard samples[at + 3] > 128 else { continue }
      for channel in at..<at + 3 where abs(Int(found[channel]) - Int(samples[channel])) > 30 {
        Issue.record("\(channel): \(found[channel]) for \(samples[channel])")
        return
      }
    }
    let counts = try [20, 50, 90].map { try picture.encodedWebP(.lossy(quality: $0)).count }
    #expect(counts == counts.sorted() && counts[0] < counts[2])
    let opaque = try decoded(buffer(size, Fixture.rgba(size)).encodedWebP(.lossy(quality: 90)))
    #expect(!opaque.info.hasAlpha)
  }

  @Test("what can't be a WebP is refused, and no more bytes are written than allowed")
  func refused() throws {
    let small = try buffer(ImageSize(width: 2, height: 2), [UInt8](repeating: 9, count: 16))
    for quality in [-1, 0, 101] {
      let fault = try #require(throws: ImageFault.self) { try small.encodedWebP(.lossy(quality: quality)) }
      #expect(fault.kind == .invalid && fault.message.contains("1 to 100"))
    }
    let long = ImageSize(width: 16_384, height: 1)
    for setting in [WebPSetting.fast, .lossy(quality: 90)] {
      let picture = try buffer(long, [UInt8](repeating: 9, count: long.area * 4))
      let fault = try #require(throws: ImageFault.self) { try picture.encodedWebP(setting) }
      #expect(fault.kind == .invalid && fault.message.contains("16383"))
    }
    let size = ImageSize(width: 60, height: 40)
    let picture = try buffer(size, pixels(size, opaque: false))
    let count = try picture.encodedWebP(.fast).count
    #expect(try picture.encodedWebP(.fast, limit: count).count == count)
    for limit in [0, 1, 100, count - 1] {
      let fault = try #require(throws: ImageFault.self) { try picture.encodedWebP(.fast, limit: limit) }
      #expect(fault.kind == .tooLarge)
    }
  }
}

extension Fixture {
  /// The smooth picture, opaque.
  fileprivate static func rgba(_ size: ImageSize) -> [UInt8] {
    let source = rgb(size.width, size.height)
    return (0..<size.area).flatMap { source[3 * $0..<3 * $0 + 3] + [255] }
  }
}
