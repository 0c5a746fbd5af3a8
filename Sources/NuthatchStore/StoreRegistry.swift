import CSystem

/// The directories that are open in this process.
enum StoreRegistry {
  private struct Entry {
    let shared: SharedStore
    var users = 1
  }

  // Both are guarded by the process lock, under which no store is ever opened, closed or let go.
  nonisolated(unsafe) private static var open: [StoreDirectory.Identity: Entry] = [:]
  nonisolated(unsafe) private static var epoch: UInt64 = 0

  static func acquire(
    _ directory: StoreDirectory, _ options: Store.Options, _ following: @escaping Store.Following
  ) throws(StoreFault) -> SharedStore {
    if let known = try claim(directory.identity, options, nil) { return known }
    let made = try SharedStore(directory, options, following)
    // Another thread may have been faster; then this one is let go again.
    guard let winner = try claim(directory.identity, options, made) else { return made }
    return winner
  }

  private static func claim(
    _ identity: StoreDirectory.Identity, _ options: Store.Options, _ made: SharedStore?
  ) throws(StoreFault) -> SharedStore? {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if epoch != nhs_fork_epoch() {
      // In a forked child: what the parent had open stays as it is, because its locks are in nobody's hands here.
      for entry in open.values { _ = Unmanaged.passRetained(entry.shared) }
      open = [:]
      epoch = nhs_fork_epoch()
    }
    if var entry = open[identity] {
      if let other = entry.shared.conflict(with: options) {
        throw StoreFault(.conflict, "the directory is open in this process with another \(other)")
      }
      entry.users += 1
      open[identity] = entry
      return entry.shared
    }
    if let made { open[identity] = Entry(shared: made) }
    return nil
  }

  /// - Parameter flushes: whether the last one writes what is in memory only.
  static func release(_ shared: SharedStore, flushes: Bool) {
    nhs_process_lock()
    let identity = shared.directory.identity
    var isLast = false
    if var entry = open[identity], entry.shared === shared {
      entry.users -= 1
      isLast = entry.users == 0
      open[identity] = isLast ? nil : entry
    }
    nhs_process_unlock()
    if isLast { shared.finish(flushes: flushes) }
  }

  /// The stores that are open in this process.
  static var all: [SharedStore] {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    return epoch == nhs_fork_epoch() ? open.values.map(\.shared) : []
  }
}

extension SharedStore {
  /// What the options say explicitly and otherwise than it is.
  fileprivate func conflict(with options: Store.Options) -> String? {
    if directory.isReading { return memoryConflict(with: options) }
    if let bytes = options.diskBytes, bytes != limits.disk { return "limit of the disk" }
    if let spill = options.spill, spill != self.spill { return "way of spilling" }
    return memoryConflict(with: options)
  }

  private func memoryConflict(with options: Store.Options) -> String? {
    if let bytes = options.memoryBytes, bytes != memory.limits.bytes { return "limit of the memory" }
    if let items = options.memoryItems, items != memory.limits.items { return "number of entries in memory" }
    return nil
  }
}
