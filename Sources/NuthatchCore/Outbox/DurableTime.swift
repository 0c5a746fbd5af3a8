import CSystem
import NuthatchBase

/// A time that stays comparable after a restart and after a change of the wall clock.
struct DurableTime: Sendable, Equatable {
  /// Nanoseconds since 1970, by the wall clock. Users can set that clock.
  var wall: Int64
  /// Nanoseconds since the boot, including sleep. No user can set this clock.
  var running: Int64
  /// A hash that identifies the boot; 0 if unknown.
  var boot: UInt64

  /// Returns the nanoseconds from this time to `now`, at least 0, also if the wall clock was set back. Within one boot the wall clock
  /// isn't used.
  func age(at now: DurableTime) -> Int64 {
    let (elapsed, overflow) =
      boot != 0 && boot == now.boot
      ? now.running.subtractingReportingOverflow(running) : now.wall.subtractingReportingOverflow(wall)
    return overflow ? .max : max(0, elapsed)
  }

  /// Returns an earlier time.
  func before(_ nanoseconds: Int64) -> DurableTime {
    DurableTime(wall: wall &- nanoseconds, running: running &- nanoseconds, boot: boot)
  }
}

/// The clocks of the outbox; tests can move them.
package struct OutboxClock: Sendable {
  let now: @Sendable () -> DurableTime

  init(_ now: @escaping @Sendable () -> DurableTime) { self.now = now }

  /// The machine's clocks, but `wall` as the wall clock.
  static func system(_ wall: WallClock) -> OutboxClock {
    let boot = currentBoot()
    return OutboxClock {
      var time = timespec()
      clock_gettime(CLOCK_BOOTTIME, &time)
      return DurableTime(
        wall: wall.nanoseconds(), running: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
        boot: boot)
    }
  }

  private static func currentBoot() -> UInt64 {
    let text = WholeFile.content(of: "/proc/sys/kernel/random/boot_id", atMost: 64) ?? []
    return text.isEmpty ? 0 : text.withUnsafeBytes { nhs_hash64($0.baseAddress, $0.count, 0) }
  }
}
