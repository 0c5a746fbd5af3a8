import CSystem
import Glibc
import NuthatchStore

/// Which thumbnails a run over a list has made or found, so that it can be said at its end how many of them were dropped since.
///
/// Takes 32 bytes a thumbnail, in a file without a name, which goes with its descriptor.
package final class KeptTrail {
  /// One thumbnail is there when both records are.
  private struct Entry {
    let answer: KeyHash
    let thumb: KeyHash
  }

  private static let mostInMemory = 4096

  private let cache: Cache
  private var recent: [Entry] = []
  private var descriptor: Int32?
  private var written = 0
  /// Whether some couldn't be noted.
  package private(set) var isIncomplete = false

  package init(_ cache: Cache) { self.cache = cache }

  deinit { if let descriptor, descriptor >= 0 { close(descriptor) } }

  /// How many were noted.
  package var count: Int { written + recent.count }

  /// Notes what was found.
  package func note(_ info: StoredAnswerInfo) {
    let marks = info.marks
    for thumb in marks.thumbs { note(Entry(answer: marks.answer, thumb: thumb)) }
  }

  /// Notes what a request has been answered with.
  package func note(_ request: Request, _ kept: KeptContent) {
    // It has been made once already.
    guard let plan = try? RequestPlan(request, cache.options, cache.instant.termsCache) else { return }
    // What redirects lead to may be kept under another name.
    let answer = plan.isHopByHop && kept.isBehindRedirects ? nil : plan.name.key().hash
    for recipe in plan.recipes {
      let thumb = ThumbRecord.key(kept.content, recipe).hash
      note(Entry(answer: answer ?? thumb, thumb: thumb))
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

  /// How many of them aren't there any more. To be asked when everything has been written to disk.
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

/// What the thumbnails of an answer are found by.
package struct KeptContent: Sendable {
  fileprivate let content: Digest
  fileprivate let isBehindRedirects: Bool
}

extension Image {
  /// What it is found by in the cache; nil when it isn't there.
  package var keptContent: KeptContent? {
    guard isStored, let content = provenance.content else { return nil }
    return KeptContent(content: content, isBehindRedirects: redirects > 0)
  }
}
