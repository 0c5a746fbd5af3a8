import CSystem
import NuthatchStore

/// The directories that are open in this process: two handles on one share what is behind them.
enum OpenCaches {
  private struct Entry {
    let shared: SharedCache
    let isWritable: Bool
    var users = 1

    // Asked each time: the store goes over to another directory when somebody deletes this one.
    func isOf(_ identity: CacheDirectory.Identity) -> Bool {
      isWritable == identity.isWritable && shared.store.isIn(device: identity.device, inode: identity.inode)
    }
  }

  // Both are guarded by the process lock, under which nothing is ever opened, closed or let go.
  nonisolated(unsafe) private static var open: [Entry] = []
  nonisolated(unsafe) private static var epoch: UInt64 = 0

  static func acquire(
    _ path: String, _ identity: CacheDirectory.Identity, _ options: Options, _ seams: CacheSeams,
    _ runtime: Runtime
  ) throws(NuthatchError) -> SharedCache {
    if let known = claim(identity, nil) { return try checked(known, options) }
    let made = try SharedCache(path, options, seams, runtime)
    // Another thread may have been faster; then this one is let go again.
    guard let winner = claim(identity, made) else { return made }
    return try checked(winner, options)
  }

  private static func checked(
    _ shared: SharedCache, _ options: Options
  ) throws(NuthatchError) -> SharedCache {
    do {
      try shared.check(options)
    } catch {
      release(shared)
      throw error
    }
    return shared
  }

  private static func claim(_ identity: CacheDirectory.Identity, _ made: SharedCache?) -> SharedCache? {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if epoch != nhs_fork_epoch() {
      // In a forked child: the parent's stay as they are, because their locks and threads are not here.
      for entry in open { _ = Unmanaged.passRetained(entry.shared) }
      open = []
      epoch = nhs_fork_epoch()
    }
    if let place = open.firstIndex(where: { $0.isOf(identity) }) {
      open[place].users += 1
      return open[place].shared
    }
    if let made { open.append(Entry(shared: made, isWritable: identity.isWritable)) }
    return nil
  }

  /// Makes room in the memory of every cache that is open in this process.
  static func relieve(_ level: MemoryPressure) {
    nhs_process_lock()
    let all = epoch == nhs_fork_epoch() ? open.map(\.shared) : []
    nhs_process_unlock()
    Store.relieve(all.map(\.store), level)
    if level == .critical { nhs_trim_allocator() }
  }

  /// True for the last handle: who opens the directory now gets something new.
  @discardableResult
  static func release(_ shared: SharedCache) -> Bool {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    guard let place = open.firstIndex(where: { $0.shared === shared }) else { return false }
    open[place].users -= 1
    guard open[place].users == 0 else { return false }
    // The caller has another reference, so that nothing is closed under the lock.
    open.remove(at: place)
    return true
  }
}
