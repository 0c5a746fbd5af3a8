import CSystem
import NuthatchTransport

/// The cross-process lock of one fetch, so that only one process of the machine fetches a URL at a time. Takes the lock or waits
/// for it, stops waiting for a holder that has stalled, and releases it at the end.
///
/// Only one thread at a time uses it, hence Sendable: the loop's thread, and after the fetch has handed over its answer, a
/// worker's thread.
final class FetchLock: TierRequest, @unchecked Sendable {
  typealias Done = @Sendable (TierAnswer) -> Void

  private enum State { case without, held, over }

  private weak var fetch: Fetch?
  private let shared: SharedCache
  private let others: OtherProcesses
  private let place: Int64
  private var state = State.without
  /// The start of the wait for another process's lock (monotonic, ns). Nil: there was no wait.
  private var waitedSince: Int64?
  /// The holder's last heartbeat that a worker has read (monotonic, ns).
  private var lastHeartbeat = Int64.min / 2
  /// Whether a worker has read the heartbeat again since `lastHeartbeat` became too old.
  private var isHeartbeatRead = false
  /// The time at which a worker began to read the heartbeat. Nil: no worker is reading.
  private var heartbeatReadAt: Int64?

  private var runtime: Runtime { shared.runtime }

  init(_ fetch: Fetch, _ others: OtherProcesses) {
    (self.fetch, self.others, shared) = (fetch, others, fetch.shared)
    place = FetchLocks.place(of: fetch.plan.name.key.hash.low)
  }

  /// The offset of the lock and the time of the fetch's last progress, to be written as a heartbeat. Nil: a worker has the
  /// answer.
  var heartbeat: (place: Int64, time: Int64)? { fetch?.lastByteTime.map { (place, $0) } }

  func find(besides base: StoredAnswer?, done: @escaping Done) -> Bool {
    guard let fetch else { return false }
    guard take() else {
      waitedSince = runtime.loop.now
      wait(milliseconds: 5, done)
      return true
    }
    // Another process may have stored an answer between this process's look-up and the lock. A reload doesn't use stored answers.
    if fetch.isReload || shared.reader.isUnchanged(fetch.plan, base) { return false }
    lookAgain(fetch, done)
    return true
  }

  /// Does nothing: other processes read the store.
  func offer(_ record: AnswerRecord, _ body: SharedBytes) {}

  func ended(_ end: FetchEnd) {
    if end == .notStored || end == .failed, state == .held {
      others.locks.noteNothingStored(place, at: nhs_monotonic_ns())
    }
    free()
    state = .over
  }

  private func take() -> Bool {
    guard others.locks.tryTake(place) else { return false }
    state = .held
    others.add(self)
    return true
  }

  private func free() {
    guard state == .held else { return }
    state = .without
    others.remove(self)
    others.locks.release(place)
  }

  /// Tries to take the lock after 5 ms, then after twice as long each time, at most 100 ms. Most fetches are short.
  private func wait(milliseconds: Int64, _ done: @escaping Done) {
    _ = runtime.loop.at(runtime.loop.now + milliseconds * 1_000_000) { [weak self] in
      guard let self, self.state != .over, let fetch = self.fetch else { return }
      if self.take() { return self.lookAgain(fetch, done) }
      if self.hasStalled(after: fetch.waiters.silence) { return done(.nothing) }
      self.wait(milliseconds: min(100, milliseconds * 2), done)
    }
  }

  /// Reads on a worker's thread what other processes have stored meanwhile.
  private func lookAgain(_ fetch: Fetch, _ done: @escaping Done) {
    let (plan, since) = (fetch.plan, waitedSince)
    let isSubmitted = runtime.workers.submit(priority: fetch.priority) {
      let found = self.shared.reader.readAdmitted(plan)
      let now = nhs_monotonic_ns()
      let storedNothing =
        since.map { self.others.locks.storedNothing(self.place, since: $0, now: now) } ?? false
      self.runtime.loop.post {
        // The holder's fetch stored nothing, and this fetch probably won't either. Release the lock, so that other processes
        // don't wait for this fetch.
        if storedNothing { self.free() }
        done(.storeNowHas(found))
      }
    }
    if !isSubmitted { runtime.loop.post { done(.nothing) } }
  }

  /// Returns whether the process that holds the lock has stalled: its last heartbeat and the start of our wait are both older
  /// than the longest `timeout` of the waiting requests (at least 3 s) plus 2 s. The 2 s allow for one retry there: its next
  /// heartbeat follows within 1 s. Returns false if `silence` is nil.
  private func hasStalled(after silence: Int64?) -> Bool {
    guard let silence, let waitedSince else { return false }
    let now = runtime.loop.now
    guard now - max(waitedSince, lastHeartbeat) - 2_000_000_000 > max(silence, 3_000_000_000) else {
      isHeartbeatRead = false
      return false
    }
    if isHeartbeatRead { return true }
    // If the disk doesn't answer for 2 s, the holder counts as stalled.
    if let heartbeatReadAt { return now - heartbeatReadAt > 2_000_000_000 }
    heartbeatReadAt = now
    runtime.workers.submit(priority: Priority.most) {
      let last = self.others.locks.lastHeartbeat(self.place, now: nhs_monotonic_ns())
      self.runtime.loop.post {
        (self.heartbeatReadAt, self.isHeartbeatRead) = (nil, true)
        self.lastHeartbeat = last ?? self.lastHeartbeat
      }
    }
    return false
  }
}
