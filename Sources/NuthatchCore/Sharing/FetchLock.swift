import CSystem
import NuthatchTransport

/// A fetch's part in the rule that one process of the machine fetches a URL at a time: takes the lock, waits for it, gives up on an
/// owner that shows no sign of life, and frees it in the end.
///
/// Sendable because one thread at a time has it: the loop's, and once the fetch has handed its answer over, a worker's.
final class FetchLock: TierRequest, @unchecked Sendable {
  typealias Done = @Sendable (TierAnswer) -> Void

  private enum State { case without, held, over }

  private weak var fetch: Fetch?
  private let shared: SharedCache
  private let others: OtherProcesses
  private let place: Int64
  private var state = State.without
  /// Since when the lock's owner was waited for, on the monotonic clock; nil when it wasn't.
  private var waitedSince: Int64?
  /// The owner's last sign of life, as a worker has read it.
  private var lastSign = Int64.min / 2
  /// Whether it has been read since it seemed to be too long ago.
  private var isSignRead = false
  /// Since when a worker is reading it.
  private var signReadAt: Int64?

  private var runtime: Runtime { shared.runtime }

  init(_ fetch: Fetch, _ others: OtherProcesses) {
    (self.fetch, self.others, shared) = (fetch, others, fetch.shared)
    place = FetchLocks.place(of: fetch.plan.name.key().hash.low)
  }

  /// When something of its fetch came last, for the processes that wait for the lock; nil when a worker has the answer.
  var sign: (place: Int64, time: Int64)? { fetch?.lastSign.map { (place, $0) } }

  func find(besides base: StoredAnswer?, done: @escaping Done) -> Bool {
    guard let fetch else { return false }
    guard take() else {
      waitedSince = runtime.loop.now
      wait(milliseconds: 5, done)
      return true
    }
    // What another process stored between this one's look and the lock is an answer, too; to a reload nothing stored is.
    if fetch.isReload || shared.reader.isUnchanged(fetch.plan, base) { return false }
    lookAgain(fetch, done)
    return true
  }

  /// Other processes read the store.
  func offer(_ record: AnswerRecord, _ body: SharedBytes) {}

  func ended(_ end: FetchEnd) {
    if end == .notStored || end == .failed, state == .held {
      others.locks.noteVain(place, at: nhs_monotonic_ns())
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

  /// The wait is short at first, because most fetches are; a lock that is freed is noticed within a tenth of a second.
  private func wait(milliseconds: Int64, _ done: @escaping Done) {
    _ = runtime.loop.at(runtime.loop.now + milliseconds * 1_000_000) { [weak self] in
      guard let self, self.state != .over, let fetch = self.fetch else { return }
      if self.take() { return self.lookAgain(fetch, done) }
      if self.isSilent(patience: fetch.waiters.silence) { return done(.nothing) }
      self.wait(milliseconds: min(100, milliseconds * 2), done)
    }
  }

  /// Reads on a worker's thread what was stored meanwhile.
  private func lookAgain(_ fetch: Fetch, _ done: @escaping Done) {
    let (plan, since) = (fetch.plan, waitedSince)
    let isSubmitted = runtime.workers.submit(priority: fetch.priority) {
      let found = self.shared.reader.readAdmitted(plan)
      let now = nhs_monotonic_ns()
      let wasVain = since.map { self.others.locks.wasVain(self.place, since: $0, now: now) } ?? false
      self.runtime.loop.post {
        // What was waited for left nothing, nor will this: the others needn't wait for it.
        if wasVain { self.free() }
        done(.storeNowHas(found))
      }
    }
    if !isSubmitted { runtime.loop.post { done(.nothing) } }
  }

  /// Whether the process that has the lock has shown no sign for longer than any waiter bears. Two seconds more, because it
  /// may bear as much, and then tries again, of which it tells within one; and at least the few that a busy one may need.
  private func isSilent(patience: Int64?) -> Bool {
    guard let patience, let waitedSince else { return false }
    let now = runtime.loop.now
    guard now - max(waitedSince, lastSign) - 2_000_000_000 > max(patience, 3_000_000_000) else {
      isSignRead = false
      return false
    }
    if isSignRead { return true }
    // A disk that doesn't answer for two seconds is no sign either.
    if let signReadAt { return now - signReadAt > 2_000_000_000 }
    signReadAt = now
    runtime.workers.submit(priority: Priority.most) {
      let last = self.others.locks.lastSign(self.place, now: nhs_monotonic_ns())
      self.runtime.loop.post {
        (self.signReadAt, self.isSignRead) = (nil, true)
        self.lastSign = last ?? self.lastSign
      }
    }
    return false
  }
}
