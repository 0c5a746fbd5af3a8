import Glibc

/// The wall clock. Tests replace it by a clock that they set.
package struct WallClock: Sendable {
  /// Nanoseconds since 1970.
  package let nanoseconds: @Sendable () -> Int64

  /// Whether this is the system's clock. Its coarse variant is cheaper to read.
  var isSystem = false

  /// Seconds since 1970.
  var seconds: Int64 { nanoseconds() / 1_000_000_000 }

  /// Seconds since 1970, up to some milliseconds late, for code that reads the clock very often. Takes a few nanoseconds.
  var coarseSeconds: Int64 {
    guard isSystem else { return seconds }
    var time = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &time)
    return Int64(time.tv_sec)
  }

  /// The system's wall clock.
  package static let system = WallClock(
    nanoseconds: {
      var time = timespec()
      clock_gettime(CLOCK_REALTIME, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }, isSystem: true)
}
