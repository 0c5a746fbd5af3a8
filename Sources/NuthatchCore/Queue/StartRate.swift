/// So many starts a second, evenly spaced. What starts late, because a timer or the loop was, doesn't move what follows: as much
/// as `slack` is made up for.
struct StartRate {
  private static let slack: Int64 = 100_000_000

  private var nextStart: Int64 = .min

  /// When the next start may be; in the past when there is nothing to wait for.
  func allowed(_ rate: Double?) -> Int64 { rate == nil ? .min : nextStart }

  mutating func noteStart(at now: Int64, _ rate: Double?) {
    guard let spacing = spacing(rate) else { return }
    nextStart = (nextStart >= now &- Self.slack ? nextStart : now) &+ spacing
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
