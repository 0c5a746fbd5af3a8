import Glibc

/// The time of day, which tests move.
package struct WallClock: Sendable {
  /// Nanoseconds since 1970.
  package let nanoseconds: @Sendable () -> Int64

  /// Whether it is the system's, which can be asked for less than nanoseconds in a few of them.
  var isSystem = false

  /// Seconds since 1970.
  var seconds: Int64 { nanoseconds() / 1_000_000_000 }

  /// The same, some milliseconds late perhaps: for who asks millions of times.
  var coarseSeconds: Int64 {
    guard isSystem else { return seconds }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Int64(time.tv_sec)
  }

  /// The system's.
  package static let system = WallClock(
    nanoseconds: {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }, isSystem: true)
}
