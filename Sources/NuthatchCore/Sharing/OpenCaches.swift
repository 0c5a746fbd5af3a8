import CSystem
import NuthatchStore

/// The directories that are open in this process: two handles on one share what is behind them.
enum OpenCaches {
  private struct Entry {
    let shared: SharedCache
    var users = 1
  }

  // Both are guarded by the process lock, under which nothing is ever opened, closed or let go.
  nonisolated(unsafe) private static var open: [CacheDirectory.Identity: Entry] = [:]
  nonisolated(unsafe) private static var epoch: UInt64 = 0

  static func acquire(
    _ path: String, _ identity: CacheDirectory.Identity, _ options: Cache.Options, _ runtime: Runtime
  ) throws(NuthatchError) -> SharedCache {
    if let known = claim(identity, nil) { return try checked(known, identity, options) }
    let made = try SharedCache(path, options, runtime)
    // Another thread may have been faster; then this one is let go again.
    guard let winner = claim(identity, made) else { return made }
    return try checked(winner, identity, options)
  }

  private static func checked(
    _ shared: SharedCache, _ identity: CacheDirectory.Identity, _ options: Cache.Options
  ) throws(NuthatchError) -> SharedCache {
    do {
      try shared.check(options)
    } catch {
      release(shared, identity)
      throw error
    }
    return shared
  }

  private static func claim(_ identity: CacheDirectory.Identity, _ made: SharedCache?) -> SharedCache? {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if epoch != nhs_fork_epoch() {
      // In a forked child: the parent's stay as they are, because their locks and threads are not here.
      for entry in open.values { _ = Unmanaged.passRetained(entry.shared) }
      open = [:]
      epoch = nhs_fork_epoch()
    }
    if var entry = open[identity] {
      entry.users += 1
      open[identity] = entry
      return entry.shared
    }
    if let made { open[identity] = Entry(shared: made) }
    return nil
  }

  /// Makes room in the memory of every cache that is open in this process.
  static func relieve(_ level: MemoryPressure) {
    nhs_process_lock()
    let all = epoch == nhs_fork_epoch() ? open.values.map(\.shared) : []
    nhs_process_unlock()
    Store.relieve(all.map(\.store), level)
    if level == .critical { nhs_trim_allocator() }
  }

  /// True for the last handle: who opens the directory now gets something new.
  @discardableResult
  static func release(_ shared: SharedCache, _ identity: CacheDirectory.Identity) -> Bool {
    var last: SharedCache?
    nhs_process_lock()
    if var entry = open[identity], entry.shared === shared {
      entry.users -= 1
      open[identity] = entry.users == 0 ? nil : entry
      if entry.users == 0 { last = entry.shared }
    }
    nhs_process_unlock()
    // Not under the lock: it may be the last reference, and closing takes locks of its own.
    return last != nil
  }
}
