/// The usual time of an unstrained host to its first byte.
///
/// The baseline begins with the first sample. A shorter sample moves it by an eighth of the difference, a longer one by a 64th.
/// So it stays near the shortest samples, and longer times on a link that fills up are noticed. It is never above twice the
/// lowest baseline so far; otherwise growing queues would raise it step by step and stay unnoticed. That lowest value grows
/// two- to threefold in two minutes, so that a server that stays slower counts as normal in the end.
struct HostLatency {
  enum Judgement {
    /// At most 1.5 × the baseline + 5 ms.
    case calm
    case between
    /// More than twice the baseline + 10 ms.
    case strained
    /// There was no baseline yet.
    case unknown
  }

  private var baseline: Int64?
  private var least: Int64 = 0
  private var lastSample: Int64 = 0

  private static let doubling: Int64 = 120_000_000_000

  var hasBaseline: Bool { baseline != nil }

  /// Returns whether a wait of this long for the first byte is more than eight times the baseline.
  func isFarBeyond(_ wait: Int64) -> Bool { baseline.map { wait / 8 > $0 } ?? false }

  /// Compares a first byte after `sample` nanoseconds with the earlier ones, then includes it.
  mutating func note(_ sample: Int64, at now: Int64) -> Judgement {
    let sample = min(max(sample, 1), 600_000_000_000)
    guard let usual = baseline else {
      (baseline, least, lastSample) = (sample, sample, now)
      return .unknown
    }
    let elapsed = min(max(0, now &- lastSample), HostLatency.doubling)
    lastSample = now
    least += Int64(Double(least) * Double(elapsed) / Double(HostLatency.doubling))
    let next = min(usual + (sample - usual) / (sample < usual ? 8 : 64), 2 * least)
    least = min(least, next)
    baseline = next
    if sample > 2 * usual + 10_000_000 { return .strained }
    return sample <= usual + usual / 2 + 5_000_000 ? .calm : .between
  }
}
