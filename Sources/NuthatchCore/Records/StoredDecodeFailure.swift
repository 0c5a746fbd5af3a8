import NuthatchImaging
import NuthatchStore

/// A stored decode failure of a content and a recipe, so that the content is neither fetched nor decoded again. An error from
/// such a record says so (`NuthatchError.isInCache`).
///
/// The record is stored instead of the thumbnail's. The recipe names the decoders' version, so another version doesn't find it.
/// A version that has learned a format ignores that the format wasn't decoded.
enum StoredDecodeFailure {
  /// Differs from the first byte of an answer's key (`AnswerName.key`) and of a list of thumbnails.
  private static let mark: UInt8 = 253
  private static let version: UInt8 = 0x82

  static func key(_ content: Digest, _ recipe: Recipe) -> RecordKey {
    RecordKey(.meta, recipe.key(content, mark: mark))
  }

  /// Whether the content alone causes the failure, not the limits of a request or the memory of this machine.
  static func isLasting(_ fault: ImageFault) -> Bool {
    switch fault.kind {
    case .notAnImage, .unsupportedFormat, .corrupt, .truncated: true
    case .tooLarge, .tooManyPixels, .outOfMemory, .invalid, .internal, .decoderFailed: false
    }
  }

  /// Stores the failure for some recipes.
  static func write(
    _ fault: ImageFault, _ content: Digest, _ recipes: some Sequence<Recipe>, in store: Store
  ) throws(StoreFault) {
    var encoder = RecordEncoder()
    encoder.put(version)
    encoder.put(fault.word)
    if case .unsupportedFormat(let name) = fault.kind { encoder.put(name) } else { encoder.put("") }
    encoder.put(fault.message)
    encoder.put(Int64(fault.offset ?? -1))
    for recipe in recipes { try store.commit(key(content, recipe), encoder.bytes) }
  }

  /// Returns the stored failure; nil if there is none.
  static func read(_ content: Digest, _ recipe: Recipe, in store: Store) -> ImageFault? {
    // A store fault counts as a miss.
    ((try? store.lookup(key(content, recipe))) ?? nil)?.reading { (bytes) -> ImageFault? in
      var decoder = RecordDecoder(bytes)
      guard (try? decoder.number(UInt8.self)) == version, let word = try? decoder.text(),
        let name = try? decoder.text(), let message = try? decoder.text(),
        let offset = try? decoder.number(Int64.self), let kind = kind(word, name)
      else { return nil }
      // An earlier version, which didn't decode this format yet, has stored it. At another offset, it is about a variant.
      if case .unsupportedFormat = kind, offset == 0, ImageFormat(rawValue: name)?.isDecodable == true {
        return nil
      }
      return ImageFault(kind, message, at: Int(exactly: offset).flatMap { $0 < 0 ? nil : $0 })
    }
  }

  private static func kind(_ word: String, _ name: String) -> ImageFault.Kind? {
    [.notAnImage, .unsupportedFormat(name), .corrupt, .truncated].first { ImageFault($0, "").word == word }
  }
}
