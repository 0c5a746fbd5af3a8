import NuthatchImaging
import NuthatchStore

/// What is stored of one size of a picture.
/// Each case is one pointer: an enum as large as its largest case was read where it had not been written, which valgrind notices.
indirect enum StoredThumbnail: Sendable {
  /// Its pixels are in the memory tier.
  case inMemory(MemoryPicture)
  /// Its own record, or that of a larger one to make it from (`ThumbRecord.Stored.smaller`).
  case record(ThumbRecord.Stored)
  /// None can be made of this content.
  case undecodable(ImageFault)

  /// The picture, where that needs no decoding.
  var picture: Picture? {
    switch self {
    case .inMemory(let kept): kept.picture
    case .record(let stored) where stored.form == .raw && stored.smaller == nil: try? stored.picture()
    case .record, .undecodable: nil
    }
  }

  /// The upright source's size; nil where no picture says so.
  var originalSize: ImageSize? {
    switch self {
    case .inMemory(let kept): kept.picture.originalSize
    case .record(let stored): stored.originalSize
    case .undecodable: nil
    }
  }
}

/// What is stored of the sizes of a request: so few that they are searched one by one.
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

/// Finds and keeps the thumbnails of contents: in the memory tier, in records of their own, and larger ones to make
/// them from. A store that is closed, or was forked away, has nothing; its caller hears of that elsewhere.
struct Thumbnails: Sendable {
  let store: Store

  func find(_ content: Digest, _ recipe: Recipe) -> StoredThumbnail? {
    var isUnchecked = false
    return find(content, recipe, checking: .max, &isUnchecked)
  }

  /// - Parameters:
  ///   - most: how long a record may be that is read in order to check it.
  ///   - isUnchecked: whether there is a longer one, of which nothing is said then.
  func find(
    _ content: Digest, _ recipe: Recipe, checking most: Int, _ isUnchecked: inout Bool
  ) -> StoredThumbnail? {
    let key = ThumbRecord.key(content, recipe)
    if let kept = inMemory(key) {
      // The record on disk is in use, too.
      _ = try? store.touch(key)
      return .inMemory(kept)
    }
    if let stored = record(key, checking: most, &isUnchecked) { return .record(stored) }
    return failure(content, recipe)
  }

  /// The same, but the record is looked for first: it says how the thumbnail is kept.
  func findRecord(_ content: Digest, _ recipe: Recipe) -> StoredThumbnail? {
    let key = ThumbRecord.key(content, recipe)
    var isUnchecked = false
    if let stored = record(key, checking: .max, &isUnchecked) { return .record(stored) }
    return inMemory(key).map { .inMemory($0) } ?? failure(content, recipe)
  }

  /// Whether a thumbnail is there, in memory or on disk.
  func isThere(_ content: Digest, _ recipe: Recipe) -> Bool {
    let key = ThumbRecord.key(content, recipe)
    return (try? store.touch(key)) == true || inMemory(key) != nil
  }

  /// For those of the recipes that it can be done for, a thumbnail of at least twice the size.
  func findLarger(
    _ content: Digest, _ recipes: [Recipe], _ found: inout StoredThumbnails, checking most: Int,
    _ isUnchecked: inout Bool
  ) {
    // The smallest that will do costs least.
    for other in ThumbList.read(content, in: store).sorted(by: { $0.box.width < $1.box.width }) {
      guard let larger = record(ThumbRecord.key(content, other), checking: most, &isUnchecked) else {
        continue
      }
      for recipe in recipes where found[recipe] == nil {
        found[recipe] = larger.made(smaller: recipe.box, from: other.box).map { .record($0) }
      }
    }
  }

  /// Keeps a picture in memory, for the next request that wants it; nil where memory has no room for it. What it has no room
  /// for is on disk.
  ///
  /// - Parameter stored: the record whose pixels are the picture's own.
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

  /// What thumbnails can be made from, if it is stored. To be called on a worker's thread.
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
