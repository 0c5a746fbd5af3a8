import CSystem
import Synchronization

/// Wakes threads that wait for a change. The word counts the changes, and a wait ends when the word differs.
///
/// It is a futex and not a condition variable: it takes eight bytes of its owner, needs no clean-up, and a forked child may
/// leave it in any state.
package struct EventCount: ~Copyable, Sendable {
  private let word = Atomic<UInt32>(0)
  /// The number of threads that wait. If it is 0, as for most answers, `ring` makes no system call.
  private let waiting = Atomic<UInt32>(0)

  package init() {}

  /// The value for `wait`. Read it before you check the condition that the change affects.
  package var current: UInt32 { word.load(ordering: .acquiring) }

  package func ring() {
    // Sequentially consistent with the steps of `wait`: either this thread sees the waiting thread, or the waiting thread sees
    // the change.
    word.add(1, ordering: .sequentiallyConsistent)
    guard waiting.load(ordering: .sequentiallyConsistent) > 0 else { return }
    nhs_futex_wake_all(word.address)
  }

  /// Returns when `ring` was called since `current` was `seen`, at the deadline, or sooner without a cause.
  package func wait(after seen: UInt32, until deadline: Int64) {
    waiting.add(1, ordering: .sequentiallyConsistent)
    nhs_futex_wait(word.address, seen, deadline)
    waiting.subtract(1, ordering: .sequentiallyConsistent)
  }

  /// Returns the monotonic time this many milliseconds from now; `Int64.max` for nil.
  package static func deadline(_ milliseconds: Int64?) -> Int64 {
    guard let milliseconds, milliseconds < Int64.max / 2_000_000 else { return .max }
    let (due, overflow) = nhs_monotonic_ns().addingReportingOverflow(max(0, milliseconds) * 1_000_000)
    return overflow ? .max : due
  }
}
