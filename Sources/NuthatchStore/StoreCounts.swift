import Synchronization

/// Counters of this process.
final class StoreCounts: Sendable {
  let commits = Atomic(0)
  let droppedPacks = Atomic(0)
  let droppedBytes = Atomic(0)
  let droppedRecords = Atomic(0)
  let writtenSmall = Atomic(0)
  let writtenBulk = Atomic(0)
}
