import NuthatchTransport

/// Applies each waiter's `timeout` (the longest time without a byte) to a shared transfer. The transfer itself uses the longest
/// one; waiters with a shorter one leave earlier.
struct SilenceWatch {
  /// The time-out of the transfer, in nanoseconds. Nil: no limit.
  private(set) var longest: Int64?
  /// The time of the next check for waiters with a shorter time-out (monotonic, ns).
  private var judgedAt: Int64 = 0

  /// Starts with the waiters of a new transfer.
  mutating func begin(_ waiters: [any FetchWaiter]) { longest = waiters.silence }

  /// Sets the transfer's time-out to the longest one of these waiters.
  ///
  /// - Returns: the waiters whose time-out has passed, and the time of the next check. Nil: no check is needed besides those
  ///   that are set already. Received bytes don't call this: the transport notes their time, and the next check reads it.
  mutating func judge(
    _ waiters: [any FetchWaiter], of transfer: UInt64, _ transport: any Transport, now: Int64
  ) -> (late: [any FetchWaiter], next: Int64?) {
    let longest = waiters.silence
    if longest != self.longest {
      self.longest = longest
      transport.setSilence(longest, of: transfer)
    }
    let last = transport.lastByteTime(of: transfer) ?? now
    var (late, next) = ([any FetchWaiter](), Int64.max)
    for waiter in waiters {
      guard let silence = waiter.plan.silence, silence < longest ?? .max else { continue }
      let (due, isNever) = max(last, waiter.waitsSince).addingReportingOverflow(silence)
      if isNever { continue }
      if due <= now { late.append(waiter) } else { next = min(next, due) }
    }
    guard next < .max, next < judgedAt || judgedAt <= now else { return (late, nil) }
    judgedAt = next
    return (late, next)
  }
}
