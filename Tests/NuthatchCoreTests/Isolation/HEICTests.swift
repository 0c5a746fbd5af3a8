import Foundation
import NuthatchImaging
import NuthatchTransport
import Testing

@testable import NuthatchCore

@Suite("HEIC", .enabled(if: isInstalled("libheif.so.1"), "libheif1 isn't installed")) struct HEICTests {
  /// 64 x 48 pixels: red from 0 to 252, green from 0 to 235, blue 40 or 128 in squares of 8.
  private static let picture =
    """
    AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAa1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAA\
    AAAAAA5waXRtAAAAAAACAAAAEGlkYXQAAAAAAEAAMAAAADhpbG9jAQAAAERAAAIAAQAAAAAAAAHRAAEAAAAAAAABdAACAAEA\
    AAAAAAAAAQAAAAAAAAAIAAAAOGlpbmYAAAAAAAIAAAAVaW5mZQIAAAEAAQAAaHZjMQAAAAAVaW5mZQIAAAAAAgAAZ3JpZAAA\
    AADYaXBycAAAALZpcGNvAAAAdmh2Y0MBA3AAAAAAAAAAAAAe8AD8/fj4AAAPAyAAAQAYQAEMAf//A3AAAAMAkAAAAwAAAwAe\
    ugJAIQABACpCAQEDcAAAAwCQAAADAAADAB6gIIEFlurkprm4EBAwIAAAAwAgAAADACEiAAEABkQBwXPAiQAAABRpc3BlAAAA\
    AAAAAEAAAABAAAAAFGlzcGUAAAAAAAAAQAAAADAAAAAQcGl4aQAAAAADCAgIAAAAGmlwbWEAAAAAAAAAAgABAoECAAICA4QA\
    AAAaaXJlZgAAAAAAAAAOZGltZwACAAEAAQAAAXxtZGF0AAABcCgBrwngIhvNEI9UGYnann8qGnKSg4EuFUk//l1lW4oSjxrO\
    nrWTZqeqA9KvzdPb0FYDHwaAU5domAW+64Hc8LxDE7KJeWB/puHEX2AgaASikcXtKq7Vq/QVPaebS3LMMe2VvwXriKNSD8jP\
    LRVykphgcVZDtTTs8wriEfLAeq5lvmuc2wrteBgig7WMsgIYETqnL0tAKW+bW6tcR1A24owy9xGUt+Sxg/D91CO8rNjnz04l\
    lDKDkQIhx9vfprdZueqguupJpi8wiKiocjoM3zT/Mw1Z5Mg+V1KuOhmCa+229fv84RyNzJNch/Hc9JkhqR3LGGSewwwyfXFC\
    JRkQG9db8dIRe9Nk+M8UKTDt8GipkB2uOE+57txtxm6hC6AMxWf2lVtbgfZcV+U5Ugcfk88K7Sf2Qp6EM0McqHYAs6ocFUFw\
    GhPIcz//81lpHY0DetL2dwwQ70iyy/u4Xsejk1BtgSdhRa/gv/lFvFpbX//w
    """

  private let bytes: [UInt8]

  init() throws { bytes = Array(try #require(Data(base64Encoded: Self.picture))) }

  /// Returns where a box begins.
  private func place(_ name: String) throws -> Int {
    try #require(bytes.indices.first { bytes[$0...].starts(with: name.utf8) }) - 4
  }

  @Test("a HEIC is decoded")
  func decoded() throws {
    let result = try DecoderBench().decode(bytes, [ThumbnailBox(64), ThumbnailBox(16)]).get()
    #expect(result.info.format == .heic && result.info.depth == 8)
    #expect(result.originalSize == ImageSize(width: 64, height: 48))
    #expect(
      result.pictures.map(\.size) == [ImageSize(width: 64, height: 48), ImageSize(width: 16, height: 12)])
    let pixels = result.pictures[0].bytes
    for (x, y) in [(4, 4), (36, 20), (60, 44)] {
      let found = pixels[(y * 64 + x) * 4..<(y * 64 + x) * 4 + 4].map(Int.init)
      #expect(abs(found[0] - x * 4) < 30 && abs(found[1] - y * 5) < 30 && found[3] == 255, "\(found)")
    }
  }

  @Test("a HEIC is turned as its properties say", arguments: 0..<4)
  func turned(quarters: Int) throws {
    var bytes = bytes
    // `pixi` tells only the depth, and has room for a turn to the left.
    let place = try place("pixi")
    bytes.replaceSubrange(place + 4..<place + 9, with: Array("irot".utf8) + [UInt8(quarters)])
    let result = try DecoderBench().decode(bytes, [ThumbnailBox(64)]).get()
    let isTransposed = quarters % 2 == 1
    let (width, height) = isTransposed ? (48, 64) : (64, 48)
    #expect(result.originalSize == ImageSize(width: width, height: height))
    let pixels = result.pictures[0].bytes
    // Where the picture's pixel (4, 4) is now, whose red and green are low.
    let (x, y) = [(4, 4), (4, 59), (59, 43), (43, 4)][quarters]
    let found = pixels[(y * width + x) * 4..<(y * width + x) * 4 + 2].map(Int.init)
    #expect(found[0] < 50 && found[1] < 50, "\(found)")
  }

  @Test(
    "a HEIC is cropped as its properties say; a part of broken pixels is rounded, one beyond the edge cut",
    arguments: [
      ([32, 1, 24, 1, 8, 1, 4, 1], ImageSize(width: 32, height: 24), (24, 16)),
      ([32, 1, 24, 1, 17, 2, 4, 1], ImageSize(width: 32, height: 24), (24, 16)),
      ([63, 2, 24, 1, 8, 1, 9, 2], ImageSize(width: 32, height: 24), (24, 17)),
      ([60, 1, 44, 1, 20, 1, 20, 1], ImageSize(width: 42, height: 26), (22, 22)),
    ] as [([UInt32], ImageSize, (Int, Int))])
  func cropped(_ aperture: [UInt32], _ size: ImageSize, _ first: (Int, Int)) throws {
    var bytes = bytes
    /// Adds to a number below 65,536.
    func add(_ more: Int, at place: Int) {
      let sum = Int(bytes[place + 2]) << 8 + Int(bytes[place + 3]) + more
      (bytes[place + 2], bytes[place + 3]) = (UInt8(sum >> 8), UInt8(sum & 255))
    }
    // The new property is the fifth. The picture, the second item, has it as its third.
    for name in ["meta", "iprp"] { try add(41, at: place(name)) }
    try add(40, at: place("ipco"))
    try add(41, at: place("iloc") + 22)
    let links = try place("ipma")
    add(1, at: links)
    bytes[links + 23] += 1
    bytes.insert(0x85, at: links + 26)
    let box = ([40, 0x636C_6170] + aperture).flatMap { number in
      (0..<4).map { UInt8(number >> (24 - 8 * $0) & 255) }
    }
    bytes.insert(contentsOf: box, at: links)
    let result = try DecoderBench().decode(bytes, [ThumbnailBox(64)]).get()
    #expect(result.originalSize == size && result.pictures[0].size == size)
    let found = result.pictures[0].bytes.dropFirst((4 * size.width + 4) * 4).prefix(2).map(Int.init)
    #expect(abs(found[0] - (first.0 + 4) * 4) < 30 && abs(found[1] - (first.1 + 4) * 5) < 30, "\(found)")
  }

  @Test("the depth of a HEIC is what its properties say", arguments: [8, 10, 12])
  func depth(bits: UInt8) throws {
    var bytes = bytes
    let place = try place("pixi")
    bytes.replaceSubrange(place + 13..<place + 16, with: [bits, bits, bits])
    guard case .found(let info) = bytes.withUnsafeBytes({ ImageProbe.probe($0) }) else {
      Issue.record("it wasn't recognised")
      return
    }
    #expect(info.depth == Int(bits))
  }

  @Test("a HEIC whose brands name only the container is decoded", arguments: ["mif1", "msf1"])
  func container(brand: String) throws {
    var other = bytes
    other.replaceSubrange(8..<12, with: brand.utf8)
    other.replaceSubrange(20..<24, with: "miaf".utf8)
    let bench = DecoderBench()
    let result = try bench.decode(other).get()
    #expect(result.info.format == .heic)
    #expect(try result.pictures.map(\.bytes) == bench.decode(bytes).get().pictures.map(\.bytes))
    // libheif knows a file by the brands after the first.
    other.replaceSubrange(16..<20, with: "miaf".utf8)
    guard case .failure(let fault) = bench.decode(other) else { return }
    #expect(fault.kind == .unsupportedFormat("heic"), "\(fault)")
  }

  @Test("a HEIC's box may have a size of 64 bits; one that no file has is refused, with the place")
  func largeSizes() throws {
    let bench = DecoderBench()
    /// Puts a box with such a size between the brands and `meta`.
    func with(size: UInt64, contents: Int) throws -> [UInt8] {
      var result = bytes
      result[try place("iloc") + 25] += UInt8(16 + contents)
      var box: [UInt8] = [0, 0, 0, 1] + Array("free".utf8)
      box += (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) }
      result.insert(contentsOf: box + [UInt8](repeating: 7, count: contents), at: try place("meta"))
      return result
    }
    let pixels = try bench.decode(bytes).get().pictures.map(\.bytes)
    for contents in [0, 5] {
      let file = try with(size: UInt64(16 + contents), contents: contents)
      #expect(try bench.decode(file).get().pictures.map(\.bytes) == pixels)
    }
    for size: UInt64 in [0, 15, 1 << 60 + 16, 1 << 63, .max] {
      guard case .failure(let fault) = bench.decode(try with(size: size, contents: 0)) else {
        Issue.record("\(size) was decoded")
        continue
      }
      #expect(fault.kind == .corrupt && fault.offset == 36, "\(size): \(fault)")
    }
  }

  @Test("a damaged HEIC is refused, with the place")
  func damaged() throws {
    let bench = DecoderBench()
    func fault(_ bytes: [UInt8]) -> ImageFault? {
      guard case .failure(let fault) = bench.decode(bytes) else { return nil }
      return fault
    }
    for length in [40, 100, 300, 456, 457, 465, 500, bytes.count - 100, bytes.count - 1] {
      let found = fault(Array(bytes.prefix(length)))
      #expect(found?.kind == .truncated && found?.offset == length, "\(length): \(String(describing: found))")
    }
    // What libheif refuses lies behind the header.
    var broken = bytes
    let pixels = try place("mdat")
    for place in pixels + 8..<pixels + 40 { broken[place] = 0xFF }
    #expect(fault(broken)?.kind == .corrupt && fault(broken)?.offset == pixels)
    var strange = bytes
    strange[try place("ipma") + 25] = 0x99
    #expect(fault(strange)?.kind == .corrupt)
    #expect(try fault(strange)?.offset == place("iprp") + 8)
  }
}
