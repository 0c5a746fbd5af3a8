import CSystem
import Synchronization

/// Numbers that are unique across all processes: each process begins at a random place of one sequence of all 64-bit numbers.
///
/// A random number from the system would cost a system call each time. The numbers aren't secret. There is no lock, because a
/// forked child could find it taken.
enum AnswerNumber {
  private static let place = Atomic<UInt64>(0)
  /// The fork epoch in which the start was drawn.
  private static let epoch = Atomic<UInt64>(.max)

  /// SplitMix64.
  static func next() -> UInt64 {
    // A forked child must not continue its parent's sequence. If two threads notice that, either start is good.
    let now = nhs_fork_epoch()
    if epoch.load(ordering: .acquiring) != now {
      place.store(.random(in: .min ... .max), ordering: .relaxed)
      epoch.store(now, ordering: .releasing)
    }
    var mixed = place.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}
