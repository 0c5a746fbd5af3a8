import CSystem
import NuthatchTransport

// Whoever waits bears as much silence as it has said, whatever the others do.

extension Fetch {
  /// How much silence somebody bears; nil for any.
  var longestSilence: Int64? {
    waiters.contains { $0.plan.silence == nil } ? nil : waiters.compactMap(\.plan.silence).max()
  }

  /// Has the transfer watched for as long as the most patient one waits, and sends the others away when their time has come.
  /// To be called when somebody has come or gone, too.
  func watchSilence() {
    guard case .flying(_, let transfer) = phase else { return }
    let longest = longestSilence
    if longest != attempt.silence {
      attempt.silence = longest
      shared.transport.setSilence(longest, of: transfer)
    }
    guard waiters.contains(where: { $0.plan.silence ?? .max < longest ?? .max }) else { return }
    let now = runtime.loop.now
    let last = shared.transport.lastSign(of: transfer) ?? now
    var next = Int64.max
    for waiter in waiters where waiter.joined === self {
      guard let silence = waiter.plan.silence, silence < longest ?? .max else { continue }
      let (due, isNever) = max(last, waiter.joinedAt).addingReportingOverflow(silence)
      if isNever { continue }
      if due <= now {
        leaveAlone(
          waiter, .timeout, "no byte for \(Double(silence) / 1e9) s, while others wait on")
      } else {
        next = min(next, due)
      }
    }
    guard next < .max, next < attempt.silenceIsJudgedAt || attempt.silenceIsJudgedAt <= now else { return }
    attempt.silenceIsJudgedAt = next
    // A byte costs no more than a note of its time, here as in the transport.
    _ = runtime.loop.at(next) { [weak self] in self?.watchSilence() }
  }

  /// When something came last, for those in other processes who wait; while nothing is on its way to it, now.
  var lastSign: Int64 {
    guard case .flying(_, let transfer) = phase else { return runtime.loop.now }
    return shared.transport.lastSign(of: transfer) ?? runtime.loop.now
  }

  /// Whether the process that has the lock has shown no sign for longer than anybody here bears. Two seconds more, because it
  /// may bear as much, and then tries again, of which it tells within one; and at least the few that a busy one may need.
  func isSilent(_ place: Int64, since: Int64) -> Bool {
    guard let silence = longestSilence else { return false }
    let now = runtime.loop.now
    let sign = otherSign ?? OtherSign()
    otherSign = sign
    guard now - max(since, sign.last) - 2_000_000_000 > max(silence, 3_000_000_000) else {
      sign.isRead = false
      return false
    }
    if sign.isRead { return true }
    // A disk that doesn't answer for two seconds is no sign either.
    if let askedAt = sign.askedAt { return now - askedAt > 2_000_000_000 }
    sign.askedAt = now
    let (locks, loop) = (shared.locks, runtime.loop)
    runtime.workers.submit(priority: Priority.most) {
      let last = locks.lastSign(place, now: nhs_monotonic_ns())
      loop.post {
        sign.askedAt = nil
        sign.last = last ?? sign.last
        sign.isRead = true
      }
    }
    return false
  }
}

/// The last sign of life of a process that is waited for, as a worker has read it. Confined to the loop's thread.
final class OtherSign: @unchecked Sendable {
  /// On the monotonic clock.
  var last = Int64.min / 2
  /// Whether it has been read since it seemed to be too long ago.
  var isRead = false
  /// Since when a worker is reading it.
  var askedAt: Int64?
}
