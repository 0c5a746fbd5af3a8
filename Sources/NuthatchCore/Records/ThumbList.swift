import NuthatchStore

/// Which thumbnails were made of a content: what smaller ones can be made from, when the body is gone.
///
/// A record beside theirs, found by the content alone. It may name some that were dropped since, and miss one that another
/// process made at the same moment: it is a hint, and whoever reads it looks for them.
enum ThumbList {
  /// Begins no name of an answer (`AnswerName.key`), whose first byte is a partition's length, or 255.
  private static let mark: UInt8 = 254
  private static let version: UInt8 = 0x81
  /// More than anybody has use for; the oldest go.
  private static let most = 64

  private static func key(_ content: Digest) -> RecordKey { RecordKey(.meta, [mark] + content.bytes) }

  /// Whether smaller ones can be made from such a thumbnail: it shows all of the picture, undistorted.
  private static func isOfUse(_ recipe: Recipe) -> Bool { recipe.box.fit == .inside }

  /// Notes that these have been made.
  static func add(_ recipes: some Collection<Recipe>, of content: Digest, in store: Store) {
    guard recipes.contains(where: isOfUse) else { return }
    let key = key(content)
    let known = read(key, in: store)
    let missing = recipes.filter { isOfUse($0) && !known.contains($0) }
    guard !missing.isEmpty else { return }
    var encoder = RecordEncoder(capacity: 64)
    encoder.put(version)
    for recipe in (known + missing).suffix(most) { encoder.put(recipe.bytes) }
    // Without it a size may have to be fetched that needn't be.
    _ = try? store.commit(key, encoder.bytes)
  }

  /// Those that were made, as far as anybody noted them.
  static func read(_ content: Digest, in store: Store) -> [Recipe] { read(key(content), in: store) }

  private static func read(_ key: RecordKey, in store: Store) -> [Recipe] {
    // Whatever the store can't give is a miss.
    guard let lease = (try? store.lookup(key)) ?? nil else { return [] }
    return lease.reading { (bytes) -> [Recipe]? in
      var decoder = RecordDecoder(bytes)
      guard (try? decoder.number(UInt8.self)) == version else { return [] }
      var recipes: [Recipe] = []
      while !decoder.isAtEnd, let bytes = try? decoder.content() {
        if let recipe = Recipe(bytes) { recipes.append(recipe) }
      }
      return recipes
    } ?? []
  }
}
