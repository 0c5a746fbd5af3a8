import CSystem

/// Wakes threads that wait for something to change: the word counts the changes, and a wait ends when it moves.
///
/// A futex instead of a condition variable, because it lives in plain memory, needs no clean-up, and a forked child
/// may leave it behind in any state.
package final class Bell: @unchecked Sendable {
  private let word: UnsafeMutablePointer<UInt32>

  package init() {
    word = .allocate(capacity: 1)
    word.initialize(to: 0)
  }

  deinit { word.deallocate() }

  /// To be read before looking at what the bell announces.
  package var current: UInt32 { nhs_load_acquire(word) }

  package func ring() {
    nhs_add_release(word, 1)
    nhs_futex_wake_all(word)
  }

  /// Returns when the bell has rung since it showed `seen`, at the deadline, or sooner for no reason.
  package func wait(after seen: UInt32, until deadline: Int64) { nhs_futex_wait(word, seen, deadline) }

  /// A monotonic time this many milliseconds from now; the end of time for nil.
  package static func deadline(_ milliseconds: Int64?) -> Int64 {
    guard let milliseconds, milliseconds < Int64.max / 2_000_000 else { return .max }
    let (due, overflow) = nhs_monotonic_ns().addingReportingOverflow(max(0, milliseconds) * 1_000_000)
    return overflow ? .max : due
  }
}
