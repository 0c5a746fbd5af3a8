import CSystem
import Synchronization

/// What a store knows of its mappings that broke: of which something couldn't be read, or written, because the disk is full or
/// fails, or somebody cut a file.
final class BrokenMappings: Sendable {
  /// How many touches had failed in this process when everything was whole.
  private let seen = Atomic(FailedTouches.count)
  private let lost = Atomic(0)
  // On the monotonic clock.
  private let nextTry = Atomic<Int64>(0)
  private let nextLook = Atomic<Int64>(0)
  // Until when no writer tries to change the index, on the monotonic clock.
  private let restsUntil = Atomic<Int64>(0)

  /// Whether touches failed since everything was whole, perhaps of another store's mappings.
  @inline(__always)
  var areNew: Bool { FailedTouches.count != seen.load(ordering: .relaxed) }

  func allWhole(at count: UInt64) { seen.store(count, ordering: .relaxed) }

  /// Indexes that broke and that others took the place of.
  func countLost() { lost.wrappingAdd(1, ordering: .relaxed) }
  var timesLost: Int { lost.load(ordering: .relaxed) }

  /// Whether it is time to map anew what broke, or to open anew what was deleted.
  func mayTry() -> Bool { isTime(nextTry) }

  /// Whether it is time to ask whether the file system has turned read-only.
  func mayLook() -> Bool { isTime(nextLook) }

  private func isTime(_ next: borrowing Atomic<Int64>) -> Bool {
    let now = nhs_monotonic_ns()
    guard now >= next.load(ordering: .relaxed) else { return false }
    next.store(now + FailedTouches.pause, ordering: .relaxed)
    return true
  }

  func rest() { restsUntil.store(nhs_monotonic_ns() + FailedTouches.pause, ordering: .relaxed) }

  var isResting: Bool {
    let until = restsUntil.load(ordering: .relaxed)
    return until != 0 && nhs_monotonic_ns() < until
  }

  /// What to say where an index, or what the lock says, couldn't be read or written.
  func failure(of index: Index?, isNew: Bool = true) -> StoreFault {
    if isNew { rest() }
    // A file that can't be read says that the disk isn't just full.
    if let index, !index.canBeRead { return StoreFault(.io, "the disk fails: the index can't be read") }
    return StoreFault(.noSpace, "the disk is full, or fails: the index can't be written")
  }
}
