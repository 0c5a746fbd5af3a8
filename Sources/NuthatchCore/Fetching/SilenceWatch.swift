import NuthatchTransport

/// How much silence of one transfer its waiters bear: each as much as its own request says. The transfer is
/// watched for as long as the most patient waiter waits; the others leave before.
struct SilenceWatch {
  /// What the transfer bears, in nanoseconds; nil for any.
  private(set) var longest: Int64?
  /// When the next waiter's time comes that bears less, on the monotonic clock.
  private var judgedAt: Int64 = 0

  /// A transfer begins.
  mutating func begin(_ waiters: [any FetchWaiter]) { longest = waiters.silence }

  /// Has the transfer watched for as long as these waiters bear.
  ///
  /// - Returns: those that have borne enough; and when to judge again, nil where that is known already. A byte costs no more
  ///   than a note of its time, here as in the transport.
  mutating func judge(
    _ waiters: [any FetchWaiter], of transfer: UInt64, _ transport: any Transport, now: Int64
  ) -> (late: [any FetchWaiter], next: Int64?) {
    let longest = waiters.silence
    if longest != self.longest {
      self.longest = longest
      transport.setSilence(longest, of: transfer)
    }
    let last = transport.lastSign(of: transfer) ?? now
    var (late, next) = ([any FetchWaiter](), Int64.max)
    for waiter in waiters {
      guard let silence = waiter.plan.silence, silence < longest ?? .max else { continue }
      let (due, isNever) = max(last, waiter.joinedAt).addingReportingOverflow(silence)
      if isNever { continue }
      if due <= now { late.append(waiter) } else { next = min(next, due) }
    }
    guard next < .max, next < judgedAt || judgedAt <= now else { return (late, nil) }
    judgedAt = next
    return (late, next)
  }
}
