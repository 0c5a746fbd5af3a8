import NuthatchTransport

/// The other processes of the machine: one of them fetches a URL at a time (`FetchLocks`), and the others find its answer in the
/// store that they share.
final class OtherProcesses: FetchTier {
  /// What others may wait for.
  private struct Signs {
    var locks: [ObjectIdentifier: FetchLock] = [:]
    var isWatching = false
    /// Whether a worker writes signs.
    var isNoting = false
  }

  let locks: FetchLocks
  private let runtime: Runtime
  private let signs = Locked(Signs())

  init(_ locks: FetchLocks, _ runtime: Runtime) {
    self.locks = locks
    self.runtime = runtime
  }

  func request(for fetch: Fetch) -> any TierRequest { FetchLock(fetch, self) }

  /// Shows signs of life of the fetch that holds this lock. On the loop's thread.
  func add(_ lock: FetchLock) {
    let isFirst = signs.withLock { signs in
      signs.locks[ObjectIdentifier(lock)] = lock
      defer { signs.isWatching = true }
      return !signs.isWatching
    }
    if isFirst { showSigns() }
  }

  func remove(_ lock: FetchLock) {
    // Let go when nothing is locked.
    _ = signs.withLock { $0.locks.removeValue(forKey: ObjectIdentifier(lock)) }
  }

  /// Once a second; most fetches are over before.
  private func showSigns() {
    _ = runtime.loop.at(runtime.loop.now &+ 1_000_000_000) { [weak self] in
      guard let self else { return }
      let locks = self.signs.withLock { signs in
        signs.isWatching = !signs.locks.isEmpty
        return Array(signs.locks.values)
      }
      if locks.isEmpty { return }
      self.note(locks.compactMap(\.sign))
      self.showSigns()
    }
  }

  /// A worker writes them, all at once, because a disk may be slow: until it has, there are no later ones.
  private func note(_ signs: [(place: Int64, time: Int64)]) {
    guard !signs.isEmpty, self.signs.withLock({ !$0.isNoting }) else { return }
    let (locks, loop, now) = (locks, runtime.loop, runtime.loop.now)
    let isNoting = runtime.workers.submit(priority: Priority.most) {
      for sign in signs { locks.noteSign(sign.place, at: sign.time, now: now) }
      loop.post { self.signs.withLock { $0.isNoting = false } }
    }
    self.signs.withLock { $0.isNoting = isNoting }
  }
}
