import CSystem
import NuthatchStore
import Synchronization

/// Closes a handle in four steps: `begin`, which ends everything but revalidations; `waitForRevalidations`; `settle`; `end`.
/// Any thread may call them, and may call them again.
package final class Closing: Sendable {
  private let path: String
  private let shared: SharedCache
  private let open: OpenTickets
  private let notices: OutboxNotices
  private let instant: InstantAnswers
  private let hasBegun = Atomic(false)
  /// Whether this was the last handle on the directory.
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

  /// In a forked child no request is under way, and there is nothing to close.
  private var isForked: Bool { nhs_fork_epoch() != epoch }

  /// - Throws: `closed`; `forked`.
  func checkOpen() throws(NuthatchError) {
    if isForked { throw .forked }
    if hasBegun.load(ordering: .acquiring) { throw .closed }
  }

  /// Waits until the requests under way, and those that the outbox is sending, have ended. The outbox starts no others. Returns
  /// false if that takes longer than `milliseconds`.
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
    // The outbox ends first: it would send a durable request again whose first attempt `open.end` ends.
    shared.outbox.close(notices, shared)
    open.end(.closed)
    notices.close()
    wasLast.store(OpenCaches.release(shared), ordering: .releasing)
    note(1)
  }

  /// Waits until no revalidation is under way, if this was the last handle on the directory. Returns false if that takes longer
  /// than `milliseconds`; nil: no limit.
  @discardableResult
  package func waitForRevalidations(within milliseconds: Int64?) -> Bool {
    isForked || !wasLast.load(ordering: .acquiring) || shared.revalidations.wait(within: milliseconds)
  }

  /// Does the due removals and writes the records that are in memory only, if this was the last handle on the directory. Gives
  /// up if another process holds the store's lock for too long.
  ///
  /// - Throws: `busy`.
  package func settle() throws(NuthatchError) {
    guard !isForked, wasLast.load(ordering: .acquiring) else { return }
    do {
      try shared.store.flushAtEnd()
    } catch {
      // Other failures are counted in the statistics.
      guard error.kind == .busy else { return }
      let what =
        shared.store.losesRemovals
        ? "answers that were to be removed are still stored" : "answers that were in memory only are lost"
      throw NuthatchError(.busy, "the cache is closed, but \(what): \(error.message): \(path)")
    }
  }

  /// Ends the revalidations that still run, and closes the store, if this was the last handle on the directory.
  package func end() {
    if !isForked { note(2) }
  }

  /// Releases everything when `begin` and `end` are both done. Different threads may call them.
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
