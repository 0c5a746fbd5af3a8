import NuthatchTransport

/// The other processes of the machine, as a tier. One of them fetches a URL at a time (`FetchLocks`), and the others find its
/// answer in the shared store.
final class OtherProcesses: FetchTier {
  /// The held locks, for which heartbeats are written.
  private struct Heartbeats {
    var locks: [ObjectIdentifier: FetchLock] = [:]
    var isWatching = false
    /// Whether a writer is writing heartbeats.
    var isNoting = false
  }

  let locks: FetchLocks
  private let runtime: Runtime
  private let heartbeats = Locked(Heartbeats())

  init(_ locks: FetchLocks, _ runtime: Runtime) {
    self.locks = locks
    self.runtime = runtime
  }

  func request(for fetch: Fetch) -> any TierRequest { FetchLock(fetch, self) }

  /// Writes heartbeats for the fetch that holds this lock. Call it on the loop's thread.
  func add(_ lock: FetchLock) {
    let isFirst = heartbeats.withLock { heartbeats in
      heartbeats.locks[ObjectIdentifier(lock)] = lock
      defer { heartbeats.isWatching = true }
      return !heartbeats.isWatching
    }
    if isFirst { beatRegularly() }
  }

  func remove(_ lock: FetchLock) {
    // The removed object is released after `heartbeats` is unlocked.
    _ = heartbeats.withLock { $0.locks.removeValue(forKey: ObjectIdentifier(lock)) }
  }

  /// Writes heartbeats once a second. Most fetches end before the first one.
  private func beatRegularly() {
    _ = runtime.loop.at(runtime.loop.now &+ 1_000_000_000) { [weak self] in
      guard let self else { return }
      let locks = self.heartbeats.withLock { heartbeats in
        heartbeats.isWatching = !heartbeats.locks.isEmpty
        return Array(heartbeats.locks.values)
      }
      if locks.isEmpty { return }
      self.note(locks.compactMap(\.heartbeat))
      self.beatRegularly()
    }
  }

  /// Makes one writer write all heartbeats. Until it is done, no other heartbeats are written. Workers don't write them,
  /// because a disk that doesn't answer would block threads that other caches need.
  private func note(_ heartbeats: [(place: Int64, time: Int64)]) {
    guard !heartbeats.isEmpty, self.heartbeats.withLock({ !$0.isNoting }) else { return }
    let (locks, loop, now) = (locks, runtime.loop, runtime.loop.now)
    let isNoting = runtime.writers.submit(priority: Priority.most) {
      for heartbeat in heartbeats { locks.noteHeartbeat(heartbeat.place, at: heartbeat.time, now: now) }
      loop.post { self.heartbeats.withLock { $0.isNoting = false } }
    }
    self.heartbeats.withLock { $0.isNoting = isNoting }
  }
}
