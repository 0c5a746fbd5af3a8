import Glibc

/// The time of day, which tests move.
package struct WallClock: Sendable {
  /// Nanoseconds since 1970.
  package let nanoseconds: @Sendable () -> Int64

  package init(_ nanoseconds: @escaping @Sendable () -> Int64) { self.nanoseconds = nanoseconds }

  /// Seconds since 1970.
  var seconds: Int64 { nanoseconds() / 1_000_000_000 }

  /// The system's.
  package static let system = WallClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
