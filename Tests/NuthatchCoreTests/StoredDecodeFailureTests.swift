import NuthatchImaging
import NuthatchStore
import Testing

@testable import NuthatchCore

@Suite("Stored failures of decoding") struct StoredDecodeFailureTests {
  @Test("a stored verdict that a format isn't decoded doesn't count once it is")
  func outdatedVerdictsAreNotUsed() throws {
    let folder = try Bench.makeFolder()
    defer { removeTree(folder) }
    let store = try Store.open(folder)
    defer { store.close() }
    let content = try #require(Digest((0..<32).map { UInt8($0) }))
    let recipe = Recipe(ThumbnailBox(2), allowsDamage: false)
    func read(_ fault: ImageFault) throws -> ImageFault? {
      try StoredDecodeFailure.write(fault, content, [recipe], in: store)
      return StoredDecodeFailure.read(content, recipe, in: store)
    }
    let outdated = ImageFault(.unsupportedFormat("webp"), "webp isn't decoded", at: 0)
    #expect(try read(outdated) == nil)
    for fault in [
      ImageFault(.unsupportedFormat("tiff"), "tiff isn't decoded", at: 0),
      ImageFault(.unsupportedFormat("jpeg"), "a JPEG of an unknown colour space", at: 200),
      ImageFault(.unsupportedFormat("jpeg-12bit"), "a JPEG of 12 bits a sample isn't decoded", at: 20),
      ImageFault(.corrupt, "the WebP's pixels are damaged", at: 0),
    ] { #expect(try read(fault) == fault) }
  }
}
