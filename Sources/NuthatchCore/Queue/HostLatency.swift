/// How long a host usually takes to its first byte, when it isn't strained.
///
/// The baseline begins with the first sample. A shorter sample draws it an eighth of the way, a longer one a
/// 64th: it stays near the lower end of what is seen, so that a link which is being filled up stands out. It
/// is never above twice the least that it has been, or growing queues would raise it little by little and so
/// pass unnoticed; that least doubles in two minutes, so that a server which has become slower for good is
/// the normal case in the end. Since a window counts what most of its samples say, a few late answers of a
/// varying host decide nothing.
struct HostLatency {
  enum Judgement {
    /// At most 1.5 × the baseline and 5 ms.
    case calm
    case between
    /// More than twice the baseline and 10 ms.
    case strained
    /// There was no baseline yet.
    case unknown
  }

  private var baseline: Int64?
  private var least: Int64 = 0
  private var lastSample: Int64 = 0

  private static let doubling: Int64 = 120_000_000_000

  var hasBaseline: Bool { baseline != nil }

  /// Whether a first byte that hasn't come after this long is far beyond what is usual here.
  func isFarBeyond(_ wait: Int64) -> Bool { baseline.map { wait / 8 > $0 } ?? false }

  /// Judges a first byte after `sample` nanoseconds by the ones before, then counts it in.
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
