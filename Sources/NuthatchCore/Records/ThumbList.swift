import NuthatchStore

/// The thumbnails of a content, as sources for smaller ones when the body is no longer stored.
///
/// The record of an answer names the sizes that were made when it was fetched. A record that is found by the content alone
/// names all others. Both are hints: they may name thumbnails that were dropped, and lack one that another process made at the
/// same time. A reader must look them up.
enum ThumbList {
  /// Differs from the first byte of an answer's key (`AnswerName.key`), which is a partition's length, or 255.
  private static let mark: UInt8 = 254
  private static let version: UInt8 = 0x81
  /// More than any program needs; the oldest are removed.
  private static let most = 64

  private static func key(_ content: Digest) -> RecordKey { RecordKey(.meta, [mark] + content.bytes) }

  /// Whether smaller thumbnails can be made from this one: it shows the whole picture, undistorted.
  private static func isOfUse(_ recipe: Recipe) -> Bool { recipe.box.fit == .inside }

  /// Adds thumbnails to the list.
  static func add(_ recipes: some Collection<Recipe>, of content: Digest, in store: Store) {
    guard recipes.contains(where: isOfUse) else { return }
    let key = key(content)
    let known = read(key, in: store)
    let all = adding(recipes, to: known)
    guard all != known else { return }
    var encoder = RecordEncoder(capacity: 64)
    encoder.put(version)
    for recipe in all { encoder.put(recipe.bytes) }
    // If this fails, a size may be fetched although it could be made.
    _ = try? store.commit(key, encoder.bytes)
  }

  /// Returns known thumbnails and the new ones that are of use, without those that are too many.
  static func adding(_ recipes: some Collection<Recipe>, to known: [Recipe]) -> [Recipe] {
    Array((known + recipes.filter { isOfUse($0) && !known.contains($0) }).suffix(most))
  }

  /// Returns the thumbnails in the list.
  static func read(_ content: Digest, in store: Store) -> [Recipe] { read(key(content), in: store) }

  private static func read(_ key: RecordKey, in store: Store) -> [Recipe] {
    // A store fault counts as a miss.
    guard let lease = (try? store.lookup(key)) ?? nil else { return [] }
    return lease.reading { (bytes) -> [Recipe]? in
      var decoder = RecordDecoder(bytes)
      guard (try? decoder.number(UInt8.self)) == version else { return [] }
      return sizes(&decoder)
    } ?? []
  }

  /// Returns the sizes at the end of a record.
  static func sizes(_ decoder: inout RecordDecoder) -> [Recipe] {
    var recipes: [Recipe] = []
    while !decoder.isAtEnd, let bytes = try? decoder.content() {
      if let recipe = Recipe(bytes) { recipes.append(recipe) }
    }
    return recipes
  }
}
