import CSystem
import NuthatchBase

/// The entries that this process keeps in memory for one directory, limited in bytes and number. Any thread may use it.
/// `MemoryLanes` finds entries, `MemoryTable` has the eviction order.
final class MemoryTier: Sendable {
  /// For lookups.
  let lanes = MemoryLanes()
  /// The limits.
  let limits: MemoryLimits
  /// Held while a memory-only record is written to a pack, and while a record is removed. Without it, a removed record could be
  /// written afterwards and come back.
  let writing = WordLock()
  /// Counters of memory pressure and of its results.
  let spills = SpillCounts()
  // Changed with all lanes' locks held.
  nonisolated(unsafe) private var evictions = 0

  init(_ limits: MemoryLimits) { self.limits = limits }

  deinit {
    removeAll { _ in true }
    lanes.deallocate()
  }

  private var table: UnsafeMutablePointer<MemoryTable> { lanes.table }
}

// MARK: - Finding

extension MemoryTier {
  func find(_ space: MemorySpace, _ key: RecordKey) -> Lease? {
    key.bytes.withUnsafeBytes { lanes.find(space, key.kind, key.hash, $0) }
  }

  /// Counts a hit for an entry. Returns false if there is none.
  func touch(_ space: MemorySpace, _ key: RecordKey) -> Bool {
    lanes.together {
      guard let number = key.bytes.withUnsafeBytes({ table.pointee.find(space, key.kind, key.hash, $0) })
      else { return false }
      nhs_store8(table.pointee.visited.base + number, 1)
      return true
    }
  }

  /// Returns whether exactly this entry is in the tier.
  func contains(_ entry: MemoryEntry) -> Bool { lanes.together { table.pointee.find(entry) != nil } }

  /// Returns the records that are in no pack, in the order of their sequence numbers.
  func unwritten() -> [MemoryEntry] {
    var found: [MemoryEntry] = []
    lanes.together {
      guard table.pointee.unwritten > 0 else { return }
      table.pointee.forEach { _, entry in if entry.space == .record { found.append(entry) } }
    }
    return found.sorted { $0.sequence < $1.sequence }
  }

  var statistics: MemoryStatistics {
    var statistics = MemoryStatistics()
    lanes.count(into: &statistics)
    lanes.together {
      statistics.bytes = table.pointee.bytes
      statistics.items = table.pointee.count
      statistics.privateBytes = table.pointee.privateBytes
      statistics.unwritten = table.pointee.unwritten
      statistics.evictions = evictions
    }
    statistics.limit = limits.bytes
    spills.read(into: &statistics)
    return statistics
  }
}

// MARK: - Changing

extension MemoryTier {
  /// Inserts an entry, replaces the one with its key, and evicts others to make room.
  ///
  /// - Returns: `isKept` is false if the entry is larger than an eighth of the limit, or the answer to an earlier request than
  ///   the one in memory. `leaving` are evicted records: the caller must write them to a pack and then `remove` them. Until
  ///   then they are still found.
  func keep(_ entry: MemoryEntry) -> (isKept: Bool, leaving: [MemoryEntry]) {
    lanes.alone { taken in
      let old = entry.key.bytes.withUnsafeBytes {
        table.pointee.find(entry.space, entry.key.kind, entry.key.hash, $0)
      }
      if let old {
        // Another thread may have inserted the answer to a later request meanwhile.
        if entry.moment != nil, let there = table.pointee.entry(old),
          there.shape.question > entry.shape.question
        {
          return (false, [])
        }
        lanes.remove(old, &taken)
      }
      guard entry.cost <= limits.largest, limits.items > 0 else { return (false, []) }
      let leaving = shrink(to: limits.bytes - entry.cost, items: limits.items - 1, &taken)
      if table.pointee.isFull { grow() }
      table.pointee.insert(entry)
      return (true, leaving)
    }
  }

  /// Evicts entries until the others take at most this many bytes.
  ///
  /// - Returns: the records to write first, as in `keep`.
  func shrink(to bytes: Int) -> [MemoryEntry] {
    lanes.alone { taken in
      let leaving = shrink(to: bytes, items: .max, &taken)
      if table.pointee.count == 0 { reset() }
      return leaving
    }
  }

  private func shrink(to bytes: Int, items: Int, _ taken: inout [Unmanaged<AnyObject>]) -> [MemoryEntry] {
    var leaving: [MemoryEntry] = []
    while table.pointee.bytes - table.pointee.leavingBytes > bytes
      || table.pointee.count - table.pointee.leavingCount > items
    {
      guard let victim = table.pointee.victim(), let entry = table.pointee.entry(victim) else { break }
      evictions &+= 1
      if entry.space == .value {
        lanes.remove(victim, &taken)
      } else if let entry = table.pointee.leave(victim) {
        leaving.append(entry)
      }
    }
    return leaving
  }

  /// Removes exactly this entry. Returns false if it isn't there any more.
  @discardableResult
  func remove(_ entry: MemoryEntry) -> Bool {
    lanes.alone { taken in
      guard let number = table.pointee.find(entry) else { return false }
      lanes.remove(number, &taken)
      if table.pointee.count == 0 { reset() }
      return true
    }
  }

  /// Puts an entry that was leaving back into the order, if it is still there.
  func stay(_ entry: MemoryEntry) {
    lanes.alone { _ in
      // It was counted as evicted when it was chosen.
      if let number = table.pointee.find(entry), table.pointee.stay(number) { evictions &-= 1 }
    }
  }

  /// Removes the entry of a key. Returns false if there is none.
  @discardableResult
  func remove(_ space: MemorySpace, _ key: RecordKey) -> Bool {
    // Usually there is none. Looking takes only one lane's lock, removing takes all.
    let isThere = lanes.together {
      key.bytes.withUnsafeBytes { table.pointee.find(space, key.kind, key.hash, $0) } != nil
    }
    guard isThere else { return false }
    return lanes.alone { taken in
      guard let number = key.bytes.withUnsafeBytes({ table.pointee.find(space, key.kind, key.hash, $0) })
      else { return false }
      lanes.remove(number, &taken)
      return true
    }
  }

  /// Removes all entries for which `isGone` is true. `isGone` must not use the tier.
  func removeAll(where isGone: (MemoryEntry) -> Bool) {
    lanes.alone { taken in
      var gone: [Int] = []
      table.pointee.forEach { number, entry in if isGone(entry) { gone.append(number) } }
      for number in gone { lanes.remove(number, &taken) }
      if table.pointee.count == 0 { reset() }
    }
  }

  private func grow() { lanes.use(table.pointee.grown(), pins: table.pointee.capacity) }

  /// Frees the memory of an empty table.
  private func reset() {
    if table.pointee.mask > 1023 { lanes.use(MemoryTable(), pins: 0) }
  }
}
