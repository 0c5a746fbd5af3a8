import NuthatchStore

/// What a directory holds, and what happened to it in this process.
public typealias StoreStatistics = NuthatchStore.StoreStatistics

/// How badly memory is wanted.
public typealias MemoryPressure = NuthatchStore.MemoryPressure

extension Cache {
  /// What the directory holds, of all processes, and what has happened to it in this one. Instant.
  ///
  /// - Throws: `forked`; `closed`.
  public func storeStatistics() throws(NuthatchError) -> StoreStatistics {
    try upkeep { (store) throws(StoreFault) in try store.statistics() }
  }

  /// Writes to disk what `spill` keeps in memory only: from then on it survives this process, and others find it.
  ///
  /// - Throws: `no_space` or `io` when it can't be written; `closed`; `forked`.
  public func flush() throws(NuthatchError) {
    try upkeep { (store) throws(StoreFault) in try store.flush() }
  }

  /// Whether the directory can only be read, so that nothing is stored.
  package var isReading: Bool { shared.store.isReading }

  /// Lets go of the pages of files that are mapped, now and again, for callers that go through more than they will come back to.
  package func stayLean() {
    // A cache that is closed has none.
    try? upkeep { (store) throws(StoreFault) in try store.stayLean() }
  }

  /// The process that has kept this one from storing anything since a wait for it ended in vain, and for how long. Nil when
  /// none does.
  package var storeIsHeld: (by: String, nanoseconds: Int64)? {
    isForked ? nil : shared.store.holder.map { (by: $0.name, nanoseconds: $0.nanoseconds) }
  }

  /// Drops what was not used for longest until no more than `bytes` are left on disk.
  ///
  /// - Throws: `io`; `closed`; `forked`.
  public func trim(to bytes: Int) throws(NuthatchError) {
    try upkeep { (store) throws(StoreFault) in try store.trim(to: bytes) }
  }

  /// Forgets everything that is stored, and the failures that are remembered.
  ///
  /// - Throws: `io`; `closed`; `forked`.
  public func clear() throws(NuthatchError) {
    try upkeep { (store) throws(StoreFault) in try store.clear() }
    forgetFailures()
  }

  /// Makes every cache of this process give up half of what it keeps in memory, or all. What isn't on disk yet is written
  /// there first. Before the program's first cache, and in a child until it opens one, there is nothing to do.
  public static func relieveMemory(_ level: MemoryPressure) {
    Log.note(.info, "the program wants memory back: \(level)")
    OpenCaches.relieve(level)
  }
}
