import NuthatchImaging
import NuthatchStore

/// The stored thumbnail of one size of a picture. `indirect` makes each case one pointer: code for an enum as large as its
/// largest case reads bytes that were never written, which valgrind reports.
indirect enum StoredThumbnail: Sendable {
  /// Its pixels are in the memory tier.
  case inMemory(MemoryPicture)
  /// The record of this size, or of a larger one to make it from (`ThumbRecord.Stored.smaller`).
  case record(ThumbRecord.Stored)
  /// This content can't be decoded to this size.
  case undecodable(ImageFault)

  /// The picture, if it needs no decoding.
  var picture: Picture? {
    switch self {
    case .inMemory(let kept): kept.picture
    case .record(let stored) where stored.form == .raw && stored.smaller == nil: try? stored.picture()
    case .record, .undecodable: nil
    }
  }

  /// The size of the upright source picture. Nil if no picture states it.
  var originalSize: ImageSize? {
    switch self {
    case .inMemory(let kept): kept.picture.originalSize
    case .record(let stored): stored.originalSize
    case .undecodable: nil
    }
  }
}

/// The stored thumbnails of a request's sizes. They are few, so a linear search is enough.
struct StoredThumbnails: Sendable {
  private var items: [(recipe: Recipe, thumbnail: StoredThumbnail)] = []

  subscript(recipe: Recipe) -> StoredThumbnail? {
    get { items.first { $0.recipe == recipe }?.thumbnail }
    set {
      if !items.isEmpty { items.removeAll { $0.recipe == recipe } }
      if let newValue { items.append((recipe, newValue)) }
    }
  }

  var isEmpty: Bool { items.isEmpty }
  var all: some Sequence<StoredThumbnail> { items.lazy.map(\.thumbnail) }
  var originalSize: ImageSize? { all.lazy.compactMap(\.originalSize).first }
}

/// Finds and keeps thumbnails by content: in the memory tier, in their own records, or as larger ones to make them from. A
/// store that is closed, or belongs to a parent process, has none; the caller gets that error elsewhere.
struct Thumbnails: Sendable {
  let store: Store

  func find(_ content: Digest, _ recipe: Recipe) -> StoredThumbnail? {
    var isUnchecked = false
    return find(content, recipe, checking: .max, &isUnchecked)
  }

  /// - Parameters:
  ///   - most: the longest record that is read in order to verify it.
  ///   - isUnchecked: set to true if there is a longer record; then the result is nil.
  func find(
    _ content: Digest, _ recipe: Recipe, checking most: Int, _ isUnchecked: inout Bool
  ) -> StoredThumbnail? {
    let key = ThumbRecord.key(content, recipe)
    if let kept = inMemory(key) {
      // The record on disk counts as used, too.
      _ = try? store.touch(key)
      return .inMemory(kept)
    }
    if let stored = record(key, checking: most, &isUnchecked) { return .record(stored) }
    return failure(content, recipe)
  }

  /// Finds a thumbnail by its record first, because the record says how it is stored.
  func findRecord(_ content: Digest, _ recipe: Recipe) -> StoredThumbnail? {
    let key = ThumbRecord.key(content, recipe)
    var isUnchecked = false
    if let stored = record(key, checking: .max, &isUnchecked) { return .record(stored) }
    return inMemory(key).map { .inMemory($0) } ?? failure(content, recipe)
  }

  /// Returns whether a thumbnail is in memory or on disk.
  func isThere(_ content: Digest, _ recipe: Recipe) -> Bool {
    let key = ThumbRecord.key(content, recipe)
    return (try? store.touch(key)) == true || inMemory(key) != nil
  }

  /// Finds thumbnails of at least twice the size, for those of the recipes that can be made from one.
  ///
  /// - Parameter sizes: those that the answer's record names.
  func findLarger(
    _ content: Digest, _ sizes: [Recipe], _ recipes: [Recipe], _ found: inout StoredThumbnails,
    checking most: Int, _ isUnchecked: inout Bool
  ) {
    let others = Set(sizes + ThumbList.read(content, in: store))
    // Begin with the smallest, because it costs the least to make a thumbnail from.
    for other in others.sorted(by: { $0.box.width < $1.box.width }) {
      guard let larger = record(ThumbRecord.key(content, other), checking: most, &isUnchecked) else {
        continue
      }
      for recipe in recipes where found[recipe] == nil {
        found[recipe] = larger.made(smaller: recipe.box, from: other.box).map { .record($0) }
      }
    }
  }

  /// Keeps a picture in memory for later requests. Returns nil if memory has no room; the picture is then still on disk.
  ///
  /// - Parameter stored: the record that holds the pixels.
  @discardableResult
  func remember(
    _ picture: Picture, _ key: RecordKey, _ stored: ThumbRecord.Stored? = nil
  ) -> MemoryPicture? {
    let kept = MemoryPicture(picture)
    if picture.ownsPixels {
      let isKept = try? store.keep(key, kept, bytes: picture.payload.bytes, cost: picture.payload.count)
      return isKept == true ? kept : nil
    }
    guard let stored, (try? store.keep(key, stored.lease, owner: kept)) == true else { return nil }
    return kept
  }

  func inMemory(_ content: Digest, _ recipe: Recipe) -> MemoryPicture? {
    inMemory(ThumbRecord.key(content, recipe))
  }

  /// Returns the stored body, to make thumbnails from. Call it on a worker's thread.
  func body(_ content: Digest) -> SharedBytes? {
    ((try? store.lookup(RecordKey(.body, content.bytes))) ?? nil).map { SharedBytes($0) }
  }

  private func inMemory(_ key: RecordKey) -> MemoryPicture? {
    ((try? store.recall(key)) ?? nil)?.owner as? MemoryPicture
  }

  private func record(
    _ key: RecordKey, checking most: Int, _ isUnchecked: inout Bool
  ) -> ThumbRecord.Stored? {
    switch (try? store.lookup(key, checking: most)) ?? .nothing {
    case .nothing: return nil
    case .found(let lease): return ThumbRecord.Stored(lease)
    case .unchecked:
      isUnchecked = true
      return nil
    }
  }

  private func failure(_ content: Digest, _ recipe: Recipe) -> StoredThumbnail? {
    StoredDecodeFailure.read(content, recipe, in: store).map { .undecodable($0) }
  }
}
