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

  /// When something came last; while nothing is on its way to it, now. Nil once a worker has what came.
  var lastSign: Int64? {
    switch phase {
    case .admitting, .over: nil
    case .flying(_, let transfer): shared.transport.lastSign(of: transfer) ?? runtime.loop.now
    case .idle, .queued, .asking: runtime.loop.now
    }
  }
}
