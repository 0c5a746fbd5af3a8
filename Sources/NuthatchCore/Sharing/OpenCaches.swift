import CSystem
import NuthatchStore

/// The directories that are open in this process. All handles of one directory share its `SharedCache`.
enum OpenCaches {
  private struct Entry {
    let shared: SharedCache
    let isWritable: Bool
    var users = 1

    // Ask the store each time, because it changes to a new directory if its directory is deleted.
    func isOf(_ identity: CacheDirectory.Identity) -> Bool {
      isWritable == identity.isWritable && shared.store.isIn(device: identity.device, inode: identity.inode)
    }
  }

  // Both variables are guarded by the process lock. Don't open, close or free a cache while you hold that lock.
  nonisolated(unsafe) private static var open: [Entry] = []
  nonisolated(unsafe) private static var epoch: UInt64 = 0

  static func acquire(
    _ path: String, _ identity: CacheDirectory.Identity, _ options: Options, _ seams: CacheSeams,
    _ runtime: Runtime
  ) throws(NuthatchError) -> SharedCache {
    if let known = claim(identity, nil) { return try checked(known, options) }
    let made = try SharedCache(path, options, seams, runtime)
    // Another thread may have opened the directory first. Then use its cache; the new one is freed.
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
      // In a forked child, leave the parent's caches as they are (leak them): their locks and threads don't exist here.
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

  /// Frees memory in every cache that is open in this process.
  static func relieve(_ level: MemoryPressure) {
    nhs_process_lock()
    let all = epoch == nhs_fork_epoch() ? open.map(\.shared) : []
    nhs_process_unlock()
    Store.relieve(all.map(\.store), level)
    if level == .critical { nhs_trim_allocator() }
  }

  /// Ends one use of a cache. Returns true if it was the last one; the next open of the directory then makes a new
  /// `SharedCache`.
  @discardableResult
  static func release(_ shared: SharedCache) -> Bool {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    guard let place = open.firstIndex(where: { $0.shared === shared }) else { return false }
    open[place].users -= 1
    guard open[place].users == 0 else { return false }
    // The caller still has a reference, so nothing is closed under the lock.
    open.remove(at: place)
    return true
  }
}
