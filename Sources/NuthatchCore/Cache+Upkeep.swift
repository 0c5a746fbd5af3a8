import NuthatchStore

/// Contents of a directory, and counts of events in this process.
public typealias StoreStatistics = NuthatchStore.StoreStatistics

/// How urgently memory is needed.
public typealias MemoryPressure = NuthatchStore.MemoryPressure

extension Cache {
  /// Returns the contents of the directory, for all processes, and counts of events in this process. Doesn't wait.
  ///
  /// - Throws: `forked`; `closed`.
  public func storeStatistics() throws(NuthatchError) -> StoreStatistics {
    try upkeep { (store) throws(StoreFault) in try store.statistics() }
  }

  /// Writes to disk the records that `spill` keeps in memory only. They then survive the end of this process, and other
  /// processes find them.
  ///
  /// - Throws: `no_space`, `io` or `busy` if they can't be written; `closed`; `forked`.
  public func flush() throws(NuthatchError) {
    try upkeep { (store) throws(StoreFault) in try store.flush() }
  }

  /// Whether the directory can only be read, so that nothing is stored.
  package var isReading: Bool { shared.store.isReading }

  /// Unmaps pages of files now and then, for callers that read many records once.
  package func stayLean() {
    // A closed cache has no mapped pages.
    try? upkeep { (store) throws(StoreFault) in try store.stayLean() }
  }

  /// The process that holds the store's lock, and for how long it has held it. Meanwhile this process can't store anything. nil
  /// if no process holds it, or if no wait of this process for the lock has failed yet.
  package var storeIsHeld: (by: String, nanoseconds: Int64)? {
    isForked ? nil : shared.store.holder.map { (by: $0.name, nanoseconds: $0.nanoseconds) }
  }

  /// Removes the least recently used records until no more than `bytes` are left on disk.
  ///
  /// - Throws: `io`; `busy`; `closed`; `forked`.
  public func trim(to bytes: Int) throws(NuthatchError) {
    try upkeep { (store) throws(StoreFault) in try store.trim(to: bytes) }
  }

  /// Removes everything that is stored, and the remembered failures.
  ///
  /// - Throws: `io`; `busy`; `closed`; `forked`.
  public func clear() throws(NuthatchError) {
    try upkeep { (store) throws(StoreFault) in try store.clear() }
    forgetFailures()
  }

  /// Frees half of the memory of every cache of this process (`warning`), or all of it (`critical`). Records that aren't on
  /// disk yet are written first. Does nothing before the program's first cache, and in a child until it opens one.
  public static func relieveMemory(_ level: MemoryPressure) {
    Log.note(.info, "the program reports memory pressure (\(level)): cached memory is freed")
    OpenCaches.relieve(level)
  }
}
