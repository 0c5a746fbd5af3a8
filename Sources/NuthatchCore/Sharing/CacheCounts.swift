import NuthatchStore
import Synchronization

/// Counts events of a directory in this process since it was opened. Any thread may use it.
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

/// Counters of a directory in this process since it was opened. All handles of the directory share them.
public struct CacheStatistics: Sendable, Equatable {
  /// Requests submitted.
  public var requests = 0
  /// Requests that were answered from the store, without the network.
  public var hits = 0
  /// Requests that waited for another request's fetch.
  public var joined = 0
  /// Exchanges with servers; each redirect and each retry counts.
  public var transfers = 0
  /// Fetches after which the stored answer was still valid (304).
  public var revalidated = 0
  /// Fetches that ended with a new answer of any status.
  public var fetched = 0
  /// Fetches that ended without an answer.
  public var failed = 0
  /// Decodes of a picture. One decode may make several sizes.
  public var decodes = 0
  /// Transfers that were stopped early because their thumbnails were done (`Request.earlyStop`).
  public var stopped = 0
  /// Bodies that were moved to a file while they were received (`Options.inFlightBytes`).
  public var filed = 0
  /// Bytes of received bodies.
  public var bytes = 0
  /// Records that were not stored because the disk was full.
  public var unkept = 0
  /// Records that were not stored because another process held the directory's lock for too long.
  public var heldUp = 0
}

extension Cache {
  /// Counters of this directory in this process since it was opened.
  public var statistics: CacheStatistics { counts.statistics }
}

extension CacheCounts {
  /// Counts a request that was answered from the store.
  func countHit() {
    requests.count()
    hits.count()
  }

  /// Counts a record that couldn't be stored, by the reason.
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
  /// Adds `amount`. Relaxed memory order is enough for counters.
  func count(_ amount: Int = 1) { _ = wrappingAdd(amount, ordering: .relaxed) }
}
