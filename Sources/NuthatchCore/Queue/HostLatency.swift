/// How long a host usually takes to its first byte.
///
/// The baseline is the mean of the first eight samples, then a moving average that follows a 32nd of the way
/// with each sample: slow enough that a link which is being filled up stands out, quick enough that a server
/// which has become slower for good is the normal case after a hundred answers.
struct HostLatency {
  enum Judgement {
    /// Within a quarter (and 5 ms) of the baseline.
    case calm
    case between
    /// More than twice the baseline (and 10 ms).
    case strained
    /// There is no baseline yet.
    case unknown
  }

  private var mean: Int64 = 0
  private(set) var samples = 0

  private static let enough = 8

  /// Judges a first byte after `sample` nanoseconds by the ones before, then counts it in.
  mutating func note(_ sample: Int64) -> Judgement {
    let sample = min(max(sample, 0), 600_000_000_000)
    samples = min(samples + 1, 1_000_000)
    guard samples > HostLatency.enough else {
      mean += (sample - mean) / Int64(samples)
      return .unknown
    }
    defer { mean += (sample - mean) / 32 }
    if sample > 2 * mean + 10_000_000 { return .strained }
    return sample <= mean + mean / 4 + 5_000_000 ? .calm : .between
  }
}
