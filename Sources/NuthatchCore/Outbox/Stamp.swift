import CSystem
import NuthatchBase

/// A moment that means something to whoever reads it later: after a restart, and after somebody has set the clock.
struct Stamp: Sendable, Equatable {
  /// Nanoseconds since 1970, by a clock that may be set.
  var wall: Int64
  /// Nanoseconds since the machine was started, sleep included; nothing sets that.
  var running: Int64
  /// Which start that was; 0 when nobody knows.
  var boot: UInt64

  /// Nanoseconds from this moment to another, never less than 0: a clock that was put back makes nothing younger than
  /// new. Within one run of the machine nobody's clock counts.
  func age(at now: Stamp) -> Int64 {
    let (elapsed, overflow) =
      boot != 0 && boot == now.boot
      ? now.running.subtractingReportingOverflow(running) : now.wall.subtractingReportingOverflow(wall)
    return overflow ? .max : max(0, elapsed)
  }

  /// So much earlier.
  func before(_ nanoseconds: Int64) -> Stamp {
    Stamp(wall: wall &- nanoseconds, running: running &- nanoseconds, boot: boot)
  }
}

/// The clocks of the outbox, which tests move.
package struct OutboxClock: Sendable {
  let now: @Sendable () -> Stamp

  init(_ now: @escaping @Sendable () -> Stamp) { self.now = now }

  /// The machine's, and a wall clock that may be another.
  static func system(_ wall: WallClock) -> OutboxClock {
    let boot = currentBoot()
    return OutboxClock {
      var time = timespec()
      clock_gettime(CLOCK_BOOTTIME, &time)
      return Stamp(
        wall: wall.nanoseconds(), running: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
        boot: boot)
    }
  }

  private static func currentBoot() -> UInt64 {
    let text = WholeFile.content(of: "/proc/sys/kernel/random/boot_id", atMost: 64) ?? []
    return text.isEmpty ? 0 : text.withUnsafeBytes { nhs_hash64($0.baseAddress, $0.count, 0) }
  }
}
