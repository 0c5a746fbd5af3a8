import CSystem
import Synchronization

/// The failures of a store's mappings: bytes that couldn't be read or written because the disk is full or fails, or because a
/// file was truncated.
final class BrokenMappings: Sendable {
  /// The number of failed accesses in this process when all mappings were last intact.
  private let seen = Atomic(FailedAccesses.count)
  private let lost = Atomic(0)
  // Monotonic clock, ns.
  private let nextTry = Atomic<Int64>(0)
  private let nextLook = Atomic<Int64>(0)
  // No writer tries to change the index before this time (monotonic clock, ns).
  private let restsUntil = Atomic<Int64>(0)

  /// Whether an access to a mapping of this process, perhaps of another store, has failed since all mappings were intact.
  @inline(__always)
  var areNew: Bool { FailedAccesses.count != seen.load(ordering: .relaxed) }

  /// Notes that all mappings are intact. `count` is the number of failed accesses before they were checked.
  func allWhole(at count: UInt64) { seen.store(count, ordering: .relaxed) }

  /// Counts indexes whose mapping failed and that were replaced.
  func countLost() { lost.wrappingAdd(1, ordering: .relaxed) }
  var timesLost: Int { lost.load(ordering: .relaxed) }

  /// Returns whether it is time to map failed files again, or to reopen a deleted directory.
  func mayTry() -> Bool { isTime(nextTry) }

  /// Returns whether it is time to check if the file system has become read-only.
  func mayLook() -> Bool { isTime(nextLook) }

  private func isTime(_ next: borrowing Atomic<Int64>) -> Bool {
    let now = nhs_monotonic_ns()
    guard now >= next.load(ordering: .relaxed) else { return false }
    next.store(now + FailedAccesses.pause, ordering: .relaxed)
    return true
  }

  /// Lets commits fail at once for a while, because rebuilding an index takes long.
  func rest() { restsUntil.store(nhs_monotonic_ns() + FailedAccesses.pause, ordering: .relaxed) }

  var isResting: Bool {
    let until = restsUntil.load(ordering: .relaxed)
    return until != 0 && nhs_monotonic_ns() < until
  }

  /// Returns the error for an index or lock file that couldn't be read or written.
  func failure(of index: Index?, isNew: Bool = true) -> StoreFault {
    if isNew { rest() }
    // If even the file can't be read, the disk isn't just full.
    if let index, !index.canBeRead { return StoreFault(.io, "the index can't be read: the disk has failed") }
    return StoreFault(.noSpace, "the index can't be written: the disk is full or has failed")
  }
}
