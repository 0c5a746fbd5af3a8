import CSystem
import Glibc
import NuthatchStore

/// The thumbnails that a run over a list has made or found, to count at its end how many of them were dropped meanwhile.
///
/// Takes 32 bytes a thumbnail, in a file without a name, which disappears with its descriptor.
package final class KeptTrail {
  /// A thumbnail is available if both records are.
  private struct Entry {
    let answer: KeyHash
    let thumb: KeyHash
  }

  private static let mostInMemory = 4096

  private let cache: Cache
  private let recipes: [Recipe]
  private var recent: [Entry] = []
  private var descriptor: Int32?
  private var written = 0
  /// Whether some couldn't be noted, or couldn't be read back.
  package private(set) var isIncomplete = false

  /// A trail of requests for these thumbnails.
  package init(_ cache: Cache, of request: Request) {
    self.cache = cache
    recipes = request.boxes.map { Recipe($0, allowsDamage: request.allowDamaged) }
  }

  deinit { if let descriptor, descriptor >= 0 { close(descriptor) } }

  /// The number of noted thumbnails.
  package var count: Int { written + recent.count }

  /// Notes the thumbnails of a stored answer.
  package func note(_ info: StoredAnswerInfo) {
    let marks = info.marks
    for thumb in marks.thumbs { note(Entry(answer: marks.answer, thumb: thumb)) }
  }

  /// Notes the thumbnails of an answered request.
  package func note(_ kept: KeptContent) {
    for recipe in recipes {
      let thumb = ThumbRecord.key(kept.content, recipe).hash
      note(Entry(answer: kept.answer ?? thumb, thumb: thumb))
    }
  }

  private func note(_ entry: Entry) {
    recent.append(entry)
    guard recent.count >= Self.mostInMemory else { return }
    let file = descriptor ?? nhs_unlinked_file(cache.path)
    descriptor = file
    let place = written * MemoryLayout<Entry>.stride
    let problem = recent.withUnsafeBytes {
      file < 0 ? EBADF : nhs_write_at(file, $0.baseAddress, $0.count, Int64(place))
    }
    if problem == 0 { written += recent.count } else { isIncomplete = true }
    recent.removeAll(keepingCapacity: true)
  }

  /// Returns how many of the thumbnails are no longer stored. Call it when everything was written to disk.
  package func countMissing() -> Int {
    var missing = count(in: recent)
    var done = 0
    while done < written, let file = descriptor {
      var part = [Entry](
        repeating: Entry(answer: Self.none, thumb: Self.none), count: min(Self.mostInMemory, written - done))
      let isRead = part.withUnsafeMutableBytes {
        pread(file, $0.baseAddress, $0.count, off_t(done * MemoryLayout<Entry>.stride)) == $0.count
      }
      guard isRead else {
        isIncomplete = true
        break
      }
      missing += count(in: part)
      done += part.count
    }
    return missing
  }

  private static let none = RecordKey(.thumb, "").hash

  private func count(in entries: [Entry]) -> Int {
    let store = cache.shared.store
    return entries.count { !store.isNamed($0.thumb) || $0.answer != $0.thumb && !store.isNamed($0.answer) }
  }
}

/// The keys of an answer and of its thumbnails.
package struct KeptContent: Sendable {
  fileprivate let content: Digest
  fileprivate let answer: KeyHash?
}

extension Image {
  /// The keys of its answer and of its thumbnails in the cache; nil if it isn't stored.
  package var keptContent: KeptContent? {
    guard isStored, let content = provenance.content else { return nil }
    return KeptContent(content: content, answer: provenance.name)
  }
}
