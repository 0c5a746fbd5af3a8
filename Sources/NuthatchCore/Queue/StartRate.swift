/// So many starts a second, evenly spaced: a bucket that holds one token.
struct StartRate {
  private var nextStart: Int64 = .min

  /// When the next start may be; in the past when there is nothing to wait for.
  func allowed(_ rate: Double?) -> Int64 { rate == nil ? .min : nextStart }

  mutating func noteStart(at now: Int64, _ rate: Double?) {
    guard let rate, rate > 0 else { return }
    let spacing = min(1e9 / rate, 3.6e12)
    nextStart = max(nextStart, now) &+ Int64(spacing)
  }
}
