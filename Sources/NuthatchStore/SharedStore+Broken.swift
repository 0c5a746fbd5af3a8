import CSystem
import Glibc
import Synchronization

/// What a store knows of its mappings that broke: of which something couldn't be read, or written, because the disk is full or
/// fails, or somebody cut a file.
final class BrokenMappings: Sendable {
  /// How many touches had failed in this process when everything was whole.
  private let seen = Atomic(FailedTouches.count)
  private let lost = Atomic(0)
  // On the monotonic clock; guarded by the store's `indexLock`.
  private let nextTry = Atomic<Int64>(0)
  // Until when no writer tries to change the index, on the monotonic clock.
  private let restsUntil = Atomic<Int64>(0)

  /// Whether touches failed since everything was whole, perhaps of another store's mappings.
  @inline(__always)
  var areNew: Bool { FailedTouches.count != seen.load(ordering: .relaxed) }

  func allWhole(at count: UInt64) { seen.store(count, ordering: .relaxed) }

  /// Indexes that broke and that others took the place of.
  func countLost() { lost.wrappingAdd(1, ordering: .relaxed) }
  var timesLost: Int { lost.load(ordering: .relaxed) }

  /// Whether it is time to map anew what broke.
  func mayTry() -> Bool {
    let now = nhs_monotonic_ns()
    guard now >= nextTry.load(ordering: .relaxed) else { return false }
    nextTry.store(now + FailedTouches.pause, ordering: .relaxed)
    return true
  }

  func rest() { restsUntil.store(nhs_monotonic_ns() + FailedTouches.pause, ordering: .relaxed) }

  var isResting: Bool {
    let until = restsUntil.load(ordering: .relaxed)
    return until != 0 && nhs_monotonic_ns() < until
  }
}

extension SharedStore {
  /// How often something broke that who changes the index relies on.
  struct Losses: Equatable {
    var indexes: Int
    var words: Int
  }

  var losses: Losses { Losses(indexes: broken.timesLost, words: locks.file.timesMended) }

  /// Throws when a change of the index may not have reached the file. It is as if this process had been killed in the middle of
  /// it: who changes the index next finishes what was written down.
  func check(_ before: Losses) throws(StoreFault) {
    if hasLost(since: before) { throw failure(of: index) }
  }

  /// Whether something broke since then that who changes the index relies on.
  func hasLost(since before: Losses) -> Bool {
    locks.file.words.isBroken || index?.isBroken ?? false || losses != before
  }

  /// Sees to it that what broke is mapped anew before the index is changed.
  ///
  /// - Throws: for who only keeps a record, where that failed a moment ago: making an index anew takes long.
  func beReadyToChange() throws(StoreFault) {
    guard broken.areNew else { return }
    if Patience.isOfWriter, broken.isResting { throw failure(of: index, isNew: false) }
    followBroken()
  }

  /// The index for who wants a number of it: made anew when it broke and can't be opened. Waits as a writer does, if at all.
  func indexForSequence() -> Index? {
    if let index = currentForReading() { return index }
    return try? Patience.lasting(Patience.writing) { () throws(StoreFault) in try changing { $0 } }
  }

  /// What to say where an index, or what the lock says, couldn't be read or written.
  func failure(of index: Index?, isNew: Bool = true) -> StoreFault {
    if isNew { broken.rest() }
    // A file that can't be read says that the disk isn't just full.
    if let index, !index.canBeRead { return StoreFault(.io, "the disk fails: the index can't be read") }
    return StoreFault(.noSpace, "the disk is full, or fails: the index can't be written")
  }

  /// Maps anew what broke, or lets go of it. What can't be mapped whole is left for a while, and missing until then.
  func followBroken() {
    indexLock.with {
      let count = FailedTouches.count
      guard broken.areNew, broken.mayTry() else { return }
      if shelf.dropBroken() {
        // What is kept in memory of such a pack lies in the pack.
        memory.removeAll { ($0.owner as? HeldLease)?.lease.isBroken ?? false }
      }
      let hasWords = locks.file.mend()
      if let current = index, current.isBroken, let opened = (try? Index.open(directory, boot: boot)) ?? nil,
        !opened.isReplaced, !opened.isOfDamagedNumbers, !opened.isBroken
      {
        keep(opened)
      }
      // Else it is looked for again.
      if hasWords, index?.isBroken != true { broken.allWhole(at: count) }
    }
  }
}
