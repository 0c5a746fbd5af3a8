import NuthatchImaging
import NuthatchStore

/// That no thumbnail can be made of a content by a recipe, and why: so that neither is the content fetched again, nor decoded.
/// An error that comes of it says so (`NuthatchError.isInCache`).
///
/// A record in the place of the thumbnail's. The recipe names the version of the decoders: for another version there is none.
enum StoredDecodeFailure {
  /// Begins no name of an answer (`AnswerName.key`), nor of a list of thumbnails.
  private static let mark: UInt8 = 253
  private static let version: UInt8 = 0x82

  static func key(_ content: Digest, _ recipe: Recipe) -> RecordKey {
    RecordKey(.meta, recipe.key(content, mark: mark))
  }

  /// Whether the content alone is why, and neither what a request allows nor the memory of this machine.
  static func isLasting(_ fault: ImageFault) -> Bool {
    switch fault.kind {
    case .notAnImage, .unsupportedFormat, .corrupt, .truncated: true
    case .tooLarge, .tooManyPixels, .outOfMemory, .invalid, .internal: false
    }
  }

  /// Keeps it for some recipes.
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

  /// Nil when none is known.
  static func read(_ content: Digest, _ recipe: Recipe, in store: Store) -> ImageFault? {
    // Whatever the store can't give is a miss.
    ((try? store.lookup(key(content, recipe))) ?? nil)?.reading { (bytes) -> ImageFault? in
      var decoder = RecordDecoder(bytes)
      guard (try? decoder.number(UInt8.self)) == version, let word = try? decoder.text(),
        let name = try? decoder.text(), let message = try? decoder.text(),
        let offset = try? decoder.number(Int64.self), let kind = kind(word, name)
      else { return nil }
      return ImageFault(kind, message, at: Int(exactly: offset).flatMap { $0 < 0 ? nil : $0 })
    }
  }

  private static func kind(_ word: String, _ name: String) -> ImageFault.Kind? {
    [.notAnImage, .unsupportedFormat(name), .corrupt, .truncated].first { ImageFault($0, "").word == word }
  }
}
