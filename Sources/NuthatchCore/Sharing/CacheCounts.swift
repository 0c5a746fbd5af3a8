import NuthatchStore
import Synchronization

/// What has happened at a directory in this process since it was opened, counted by any thread.
final class CacheCounts: Sendable {
  let requests = Atomic(0)
  let hits = Atomic(0)
  let joined = Atomic(0)
  let transfers = Atomic(0)
  let revalidated = Atomic(0)
  let fetched = Atomic(0)
  let failed = Atomic(0)
  let decodes = Atomic(0)
  let stopped = Atomic(0)
  let filed = Atomic(0)
  let bytes = Atomic(0)
  let unkept = Atomic(0)
  let heldUp = Atomic(0)
}

/// What has happened at a directory in this process since it was opened; all handles on it count together.
public struct CacheStatistics: Sendable, Equatable {
  /// Requests submitted.
  public var requests = 0
  /// Requests that were answered from what was stored, without the network.
  public var hits = 0
  /// Requests that waited for another's fetch.
  public var joined = 0
  /// Exchanges with servers, redirects and further attempts among them.
  public var transfers = 0
  /// Fetches that ended with "it still holds".
  public var revalidated = 0
  /// Fetches that ended with a new answer, of any status.
  public var fetched = 0
  /// Fetches that brought no answer.
  public var failed = 0
  /// Decodes of a picture, each for any number of sizes.
  public var decodes = 0
  /// Transfers that were ended because their thumbnails were done (`Request.earlyStop`).
  public var stopped = 0
  /// Bodies that went on in a file while they were received (`Options.inFlightBytes`).
  public var filed = 0
  /// Bytes of bodies received.
  public var bytes = 0
  /// Records that were not kept because the disk was full.
  public var unkept = 0
  /// Records that were not kept because another process held the directory's lock for too long.
  public var heldUp = 0
}

extension Cache {
  /// What has happened at this directory in this process since it was opened.
  public var statistics: CacheStatistics { counts.statistics }
}

extension CacheCounts {
  /// A request that was answered from what was stored.
  func countHit() {
    requests.count()
    hits.count()
  }

  /// Notes why something couldn't be kept.
  func note(_ fault: StoreFault) {
    switch fault.kind {
    case .noSpace: unkept.count()
    case .busy: heldUp.count()
    default: break
    }
  }

  var statistics: CacheStatistics {
    CacheStatistics(
      requests: requests.load(ordering: .relaxed), hits: hits.load(ordering: .relaxed),
      joined: joined.load(ordering: .relaxed), transfers: transfers.load(ordering: .relaxed),
      revalidated: revalidated.load(ordering: .relaxed), fetched: fetched.load(ordering: .relaxed),
      failed: failed.load(ordering: .relaxed), decodes: decodes.load(ordering: .relaxed),
      stopped: stopped.load(ordering: .relaxed), filed: filed.load(ordering: .relaxed),
      bytes: bytes.load(ordering: .relaxed), unkept: unkept.load(ordering: .relaxed),
      heldUp: heldUp.load(ordering: .relaxed))
  }
}

extension Atomic where Value == Int {
  /// One more.
  func count(_ amount: Int = 1) { _ = wrappingAdd(amount, ordering: .relaxed) }
}
