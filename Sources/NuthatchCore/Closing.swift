import CSystem
import NuthatchStore
import Synchronization

/// The end of a handle, in steps that any thread may take, and repeat: `begin`, after which nothing is under way but
/// revalidations; the wait for those; `settle`; `end`.
package final class Closing: Sendable {
  private let path: String
  private let shared: SharedCache
  private let open: OpenTickets
  private let notices: OutboxNotices
  private let instant: InstantAnswers
  private let hasBegun = Atomic(false)
  /// Whether it was the last handle on the directory.
  private let wasLast = Atomic(false)
  /// Which of the first and the last step are done.
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

  /// In a forked child there is nothing under way, and nothing to be closed.
  private var isForked: Bool { nhs_fork_epoch() != epoch }

  /// - Throws: `closed`; `forked`.
  func checkOpen() throws(NuthatchError) {
    if isForked { throw .forked }
    if hasBegun.load(ordering: .acquiring) { throw .closed }
  }

  /// Lets what is under way end, and what the outbox is sending, which begins nothing else any more. False when that took longer.
  ///
  /// - Parameter milliseconds: nil waits for ever.
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

  /// Waits for the revalidations that only the last handle on the directory has to wait for. False when that took longer; nil
  /// waits for ever.
  @discardableResult
  package func waitForRevalidations(within milliseconds: Int64?) -> Bool {
    isForked || !wasLast.load(ordering: .acquiring) || shared.revalidations.wait(within: milliseconds)
  }

  /// The last handle on the directory does the removals that are due, and writes what is in memory only. Where another process
  /// holds the lock, that isn't done.
  ///
  /// - Throws: `busy`.
  package func settle() throws(NuthatchError) {
    guard !isForked, wasLast.load(ordering: .acquiring) else { return }
    do {
      try shared.store.flushAtEnd()
    } catch {
      // Whatever else keeps it from being written was counted.
      guard error.kind == .busy else { return }
      let what =
        shared.store.losesRemovals
        ? "what was to be removed is still there" : "what was in memory only is lost"
      throw NuthatchError(.busy, "the cache is closed, and \(what): \(error.message): \(path)")
    }
  }

  /// Ends the revalidations that are left.
  package func end() {
    if !isForked { note(2) }
  }

  /// Lets go when both the first and the last step are done, whatever threads do them.
  private func note(_ step: UInt8) {
    let before = steps.bitwiseOr(step, ordering: .acquiringAndReleasing).oldValue
    guard before != 3, before | step == 3 else { return }
    shared.runtime.delist(open)
    if wasLast.load(ordering: .acquiring) {
      shared.revalidations.close()
      // Not only when the last reference goes: who opens the directory next is to find all there is.
      shared.store.close()
    }
    shared.runtime.release()
  }
}
