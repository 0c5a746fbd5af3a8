import CSystem
import NuthatchBase

/// What this process keeps in memory before one directory's store: bounded by bytes and by number, the least useful
/// goes first. Any thread may use it; what it finds and how is `MemoryLanes`' business, in which order entries go is
/// `MemoryTable`'s.
final class MemoryTier: Sendable {
  /// For those who only look something up.
  let lanes = MemoryLanes()
  /// What it may hold.
  let limits: MemoryLimits
  /// Taken to write a record that is in memory only to a pack, and to remove records, so that none comes back by it.
  let writing = WordLock()
  /// How often memory was wanted back, and what came of it.
  let spills = SpillCounts()
  // Changed by who is alone.
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

  /// Does to an entry's chances what a hit does. False when there is none.
  func touch(_ space: MemorySpace, _ key: RecordKey) -> Bool {
    lanes.together {
      guard let number = key.bytes.withUnsafeBytes({ table.pointee.find(space, key.kind, key.hash, $0) })
      else { return false }
      nhs_store8(table.pointee.visited.base + number, 1)
      return true
    }
  }

  /// Whether this very entry is there still.
  func contains(_ entry: MemoryEntry) -> Bool { lanes.together { table.pointee.find(entry) != nil } }

  /// The records that are in no pack, in the order in which they came.
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
  /// Puts an entry in, in place of the one with its key, and takes others out to make room.
  ///
  /// - Returns: whether it was taken (it isn't when it is larger than an eighth of all), and the records that are to
  ///   be written to a pack and taken out then, with `remove`. They are found meanwhile.
  func keep(_ entry: MemoryEntry) -> (isKept: Bool, leaving: [MemoryEntry]) {
    lanes.alone { taken in
      let old = entry.key.bytes.withUnsafeBytes {
        table.pointee.find(entry.space, entry.key.kind, entry.key.hash, $0)
      }
      if let old {
        // Another thread may have kept the answer to a later question meanwhile.
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

  /// Takes entries out until this is left.
  ///
  /// - Returns: the records that are to be written first, as `keep` does.
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

  /// Takes this very entry out. False when it isn't there any more.
  @discardableResult
  func remove(_ entry: MemoryEntry) -> Bool {
    lanes.alone { taken in
      guard let number = table.pointee.find(entry) else { return false }
      lanes.remove(number, &taken)
      if table.pointee.count == 0 { reset() }
      return true
    }
  }

  /// Keeps an entry that was to leave, if it is there still.
  func stay(_ entry: MemoryEntry) {
    lanes.alone { _ in
      // It was counted when it was chosen, and hasn't gone after all.
      if let number = table.pointee.find(entry), table.pointee.stay(number) { evictions &-= 1 }
    }
  }

  /// Takes out what there is of a key. False when there was nothing.
  @discardableResult
  func remove(_ space: MemorySpace, _ key: RecordKey) -> Bool {
    // Mostly there is nothing, which costs no other thread anything.
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

  /// Takes out all for which `isGone` holds. It must not use the tier.
  func removeAll(where isGone: (MemoryEntry) -> Bool) {
    lanes.alone { taken in
      var gone: [Int] = []
      table.pointee.forEach { number, entry in if isGone(entry) { gone.append(number) } }
      for number in gone { lanes.remove(number, &taken) }
      if table.pointee.count == 0 { reset() }
    }
  }

  private func grow() { lanes.use(table.pointee.grown(), pins: table.pointee.capacity) }

  /// Gives the room of a table back that nothing is in.
  private func reset() {
    if table.pointee.mask > 1023 { lanes.use(MemoryTable(), pins: 0) }
  }
}
