/// So many starts a second, evenly spaced: a bucket that holds one token.
struct StartRate {
  private var nextStart: Int64 = .min

  /// When the next start may be; in the past when there is nothing to wait for.
  func allowed(_ rate: Double?) -> Int64 { rate == nil ? .min : nextStart }

  mutating func noteStart(at now: Int64, _ rate: Double?) {
    guard let spacing = spacing(rate) else { return }
    nextStart = max(nextStart, now) &+ spacing
  }

  /// A start that was noted came to nothing: another one may take its place.
  mutating func takeBack(_ rate: Double?) {
    guard let spacing = spacing(rate), nextStart != .min else { return }
    nextStart &-= spacing
  }

  /// Nanoseconds between two starts.
  private func spacing(_ rate: Double?) -> Int64? {
    guard let rate, rate > 0 else { return nil }
    return Int64(min(1e9 / rate, 3.6e12))
  }
}
