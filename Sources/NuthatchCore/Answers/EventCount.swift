import CSystem
import Synchronization

/// Wakes threads that wait for something to change: the word counts the changes, and a wait ends when it moves.
///
/// A futex instead of a condition variable, because it takes eight bytes of the object that it belongs to, needs no
/// clean-up, and a forked child may leave it behind in any state.
package struct EventCount: ~Copyable, Sendable {
  private let word = Atomic<UInt32>(0)
  /// Nobody is woken where nobody waits: most answers are there before anybody asks for them.
  private let waiting = Atomic<UInt32>(0)

  package init() {}

  /// To be read before looking at what the bell announces.
  package var current: UInt32 { word.load(ordering: .acquiring) }

  package func ring() {
    // In one order with the wait's own two steps: it is seen here, or sees the change.
    word.add(1, ordering: .sequentiallyConsistent)
    guard waiting.load(ordering: .sequentiallyConsistent) > 0 else { return }
    nhs_futex_wake_all(word.address)
  }

  /// Returns when the bell has rung since it showed `seen`, at the deadline, or sooner for no reason.
  package func wait(after seen: UInt32, until deadline: Int64) {
    waiting.add(1, ordering: .sequentiallyConsistent)
    nhs_futex_wait(word.address, seen, deadline)
    waiting.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// A monotonic time this many milliseconds from now; the end of time for nil.
  package static func deadline(_ milliseconds: Int64?) -> Int64 {
    guard let milliseconds, milliseconds < Int64.max / 2_000_000 else { return .max }
    let (due, overflow) = nhs_monotonic_ns().addingReportingOverflow(max(0, milliseconds) * 1_000_000)
    return overflow ? .max : due
  }
}
