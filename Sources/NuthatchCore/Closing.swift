import CSystem
import NuthatchStore
import Synchronization

/// The close of a handle, in steps that any thread may take, and repeat: `begin`, after which only revalidations are under way; the wait
/// for those; `settle`; `end`.
package final class Closing: Sendable {
  private let path: String
  private let shared: SharedCache
  private let open: OpenTickets
  private let notices: OutboxNotices
  private let instant: InstantAnswers
  private let hasBegun = Atomic(false)
  /// Whether it was the last handle on the directory.
  private let wasLast = Atomic(false)
  /// Bits: 1 if `begin` is done, 2 if `end` is done.
  private let steps = Atomic<UInt8>(0)
  private let epoch = nhs_fork_epoch()

  init(
    _ path: String, _ shared: SharedCache, _ open: OpenTickets, _ notices: OutboxNotices,
    _ instant: InstantAnswers
  ) {
    self.path = path
    self.shared = shared
    self.open = open
    self.notices = notices
    self.instant = instant
  }

  /// In a forked child nothing is under way, and nothing must be closed.
  private var isForked: Bool { nhs_fork_epoch() != epoch }

  /// - Throws: `closed`; `forked`.
  func checkOpen() throws(NuthatchError) {
    if isForked { throw .forked }
    if hasBegun.load(ordering: .acquiring) { throw .closed }
  }

  /// Waits until requests under way, and requests that the outbox is sending, have ended. The outbox starts no others. Returns false if
  /// that takes longer.
  ///
  /// - Parameter milliseconds: nil: no limit.
  /// - Throws: `forked`.
  package func drain(within milliseconds: Int64?) throws(NuthatchError) -> Bool {
    if isForked { throw .forked }
    guard !hasBegun.load(ordering: .acquiring) else { return true }
    let deadline = EventCount.deadline(milliseconds)
    let isIdle = open.waitUntilEmpty(within: milliseconds)
    return shared.outbox.waitUntilQuiet(until: deadline) && isIdle
  }

  package func begin() {
    guard !isForked, !hasBegun.exchange(true, ordering: .acquiringAndReleasing) else { return }
    Log.note(.info, "closing \(path)")
    instant.shut()
    open.end(.closed)
    notices.close()
    shared.outbox.close(notices, shared)
    wasLast.store(OpenCaches.release(shared), ordering: .releasing)
    note(1)
  }

  /// Waits for the revalidations, for which only the last handle on the directory must wait. Returns false if that takes longer; nil: no
  /// limit.
  @discardableResult
  package func waitForRevalidations(within milliseconds: Int64?) -> Bool {
    isForked || !wasLast.load(ordering: .acquiring) || shared.revalidations.wait(within: milliseconds)
  }

  /// For the last handle on the directory, does the removals that are due, and writes what is in memory only. This is skipped if another
  /// process holds the lock.
  ///
  /// - Throws: `busy`.
  package func settle() throws(NuthatchError) {
    guard !isForked, wasLast.load(ordering: .acquiring) else { return }
    do {
      try shared.store.flushAtEnd()
    } catch {
      // Other failures were counted in the statistics.
      guard error.kind == .busy else { return }
      let what =
        shared.store.losesRemovals
        ? "answers that were to be removed are still stored" : "answers that were in memory only are lost"
      throw NuthatchError(.busy, "the cache is closed, but \(what): \(error.message): \(path)")
    }
  }

  /// Ends the revalidations that are left.
  package func end() {
    if !isForked { note(2) }
  }

  /// Releases everything when both the first and the last step are done, on whichever threads.
  private func note(_ step: UInt8) {
    let before = steps.bitwiseOr(step, ordering: .acquiringAndReleasing).oldValue
    guard before != 3, before | step == 3 else { return }
    shared.runtime.delist(open)
    if wasLast.load(ordering: .acquiring) {
      shared.revalidations.close()
      // Closed here, not with the last reference: the next handle on the directory must find everything on disk.
      shared.store.close()
    }
    shared.runtime.release()
  }
}
