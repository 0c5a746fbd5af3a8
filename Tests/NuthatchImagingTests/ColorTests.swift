import ImagingFixtures
import Testing

@testable import NuthatchImaging

@Suite("Colour profiles") struct ColorTests {
  /// The largest difference from Little CMS in floating point.
  private func worst(_ picture: PixelBuffer, _ raw: [UInt8], _ profile: [UInt8], channels: Int) -> Int {
    var converted = [UInt8](repeating: 0, count: raw.count / channels * 3)
    nht_convert(profile, profile.count, raw, Int32(channels), &converted, raw.count / channels)
    let bytes = picture.bytes
    var worst = 0
    for i in 0..<raw.count / channels {
      for c in 0..<3 { worst = max(worst, abs(Int(bytes[4 * i + c]) - Int(converted[3 * i + c]))) }
    }
    return worst
  }

  @Test(
    "Adobe RGB and Display P3 are converted to within a level of Little CMS, unless conversion is off",
    arguments: [Int(NHT_ADOBE_RGB), Int(NHT_DISPLAY_P3)])
  func widerSpacesAreConverted(_ kind: Int) throws {
    let profile = Fixture.profile(kind)
    let samples = Fixture.rgb(40, 30)
    let picture = try profile.withUnsafeBufferPointer { bytes in
      let png = Fixture.png(40, 30, samples: samples) {
        $0.profile = bytes.baseAddress
        $0.profile_bytes = bytes.count
      }
      return try #require(Decode.whole(png).picture)
    }
    #expect(worst(picture, samples, profile, channels: 3) <= 1)
    let plain = try #require(Decode.whole(Fixture.png(40, 30, samples: samples)).picture)
    #expect(picture.largestDifference(from: plain) > 10)

    let jpeg = Fixture.jpeg(40, 30, sampling: (1, 1))
    let tagged = Fixture.inserting(Fixture.iccSegments(profile), into: jpeg)
    let raw = try #require(Decode.whole(jpeg).picture).bytes
    let converted = try #require(Decode.whole(tagged).picture)
    let rgb = (0..<40 * 30).flatMap { (pixel: Int) -> ArraySlice<UInt8> in raw[(4 * pixel)...].prefix(3) }
    #expect(worst(converted, rgb, profile, channels: 3) <= 1)
    var options = DecodeOptions()
    options.convertColors = false
    #expect(Decode.whole(tagged, options).picture?.bytes == raw)
  }

  @Test("an sRGB profile needs no converter and gives no warning")
  func srgbCostsNothing() throws {
    let profile = Fixture.profile(Int(NHT_SRGB))
    var warnings: [String] = []
    let converter = try profile.withUnsafeBytes {
      try ColorConverter.make($0, for: .rgb, most: 1 << 20, warnings: &warnings)
    }
    #expect(converter == nil && warnings.isEmpty)
  }

  @Test("a grey JPEG is converted by its grey profile to within a level of Little CMS")
  func grayCurvesAreFollowed() throws {
    let profile = Fixture.profile(Int(NHT_GRAY_18))
    let jpeg = Fixture.jpeg(40, 30, color: Int(NHT_GRAY), sampling: (1, 1))
    let raw = try #require(Decode.whole(jpeg).picture).bytes
    let tagged = Fixture.inserting(Fixture.iccSegments(profile), into: jpeg)
    let gray = (0..<40 * 30).map { raw[4 * $0] }
    #expect(worst(try #require(Decode.whole(tagged).picture), gray, profile, channels: 1) <= 1)
  }

  @Test(
    "CMYK and YCCK JPEGs are converted by their profile to within 8 levels of Little CMS",
    arguments: [Int(NHT_CMYK), Int(NHT_YCCK)])
  func inkIsConverted(_ color: Int) throws {
    let profile = Fixture.profile(Int(NHT_INK))
    let ink = Fixture.cmyk(40, 30)
    let jpeg = Fixture.jpeg(40, 30, color: color, sampling: (1, 1), quality: 100)
    let tagged = Fixture.inserting(Fixture.iccSegments(profile), into: jpeg)
    let result = try Decode.whole(tagged).get()
    #expect(result.warnings.isEmpty)
    // Adobe's files hold light where the profile counts ink; the codec itself is off by a few levels.
    #expect(worst(result.pictures[0], ink.map { 255 - $0 }, profile, channels: 4) <= 8)
    #expect(result.pictures[0].isOpaque)
  }

  @Test("a broken, truncated or grey profile of a colour JPEG is ignored with one warning")
  func uselessProfilesAreIgnoredWithAWarning() throws {
    let jpeg = Fixture.jpeg(20, 20)
    let raw = Decode.whole(jpeg).picture?.bytes
    let gray = Fixture.profile(Int(NHT_GRAY_18))
    var broken = Fixture.profile(Int(NHT_ADOBE_RGB))
    for i in 128..<broken.count { broken[i] = 0xAA }
    for profile in [gray, broken, [1, 2, 3], Array(broken[..<100])] {
      let result = try Decode.whole(Fixture.inserting(Fixture.iccSegments(profile), into: jpeg)).get()
      #expect(result.pictures[0].bytes == raw)
      #expect(result.warnings.count == 1 && result.report.warningCount == 1)
    }
    // A part of a profile is no profile.
    let part = Fixture.segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 2] + gray)
    #expect(Decode.whole(Fixture.inserting(part, into: jpeg)).picture?.bytes == raw)
  }

  @Test("a JPEG whose profile has random damage is still decoded")
  func brokenProfilesNeverTrap() {
    var random = Random(seed: 3)
    let jpeg = Fixture.jpeg(8, 8)
    for kind in [Int(NHT_ADOBE_RGB), Int(NHT_SRGB)] {
      let profile = Fixture.profile(kind)
      for _ in 0..<200 {
        var broken = profile
        for _ in 0..<4 { broken[random.below(broken.count)] = UInt8(random.below(256)) }
        let outcome = Decode.whole(Fixture.inserting(Fixture.iccSegments(broken), into: jpeg))
        #expect(outcome.picture != nil)
      }
    }
  }
}
