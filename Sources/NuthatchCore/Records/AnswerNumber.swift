import CSystem
import Synchronization

/// Numbers that don't come twice, in this process or another: a random place in a sequence of all numbers, and from there on.
///
/// Each from the system would cost a call of it. They are no secrets. Without a lock, which a forked child might find taken.
enum AnswerNumber {
  private static let place = Atomic<UInt64>(0)
  /// The child that the place was drawn in.
  private static let epoch = Atomic<UInt64>(.max)

  /// SplitMix64.
  static func next() -> UInt64 {
    // A forked child must not go on where its parent does. Should two threads notice, both places are as good.
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
