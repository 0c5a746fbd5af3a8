/// Limits the starts a second, evenly spaced. If a start is late by up to `slack`, the next start keeps its planned time. If it
/// is later, the lost time isn't made up.
struct StartRate {
  private static let slack: Int64 = 100_000_000

  private var nextStart: Int64 = .min

  /// Returns the time of the next permitted start. It is in the past if there is nothing to wait for.
  func allowed(_ rate: Double?) -> Int64 { rate == nil ? .min : nextStart }

  mutating func noteStart(at now: Int64, _ rate: Double?) {
    guard let spacing = spacing(rate) else { return }
    nextStart = (nextStart >= now &- Self.slack ? nextStart : now) &+ spacing
  }

  /// Takes back a noted start that was not used, so that another one can replace it.
  mutating func takeBack(_ rate: Double?) {
    guard let spacing = spacing(rate), nextStart != .min else { return }
    nextStart &-= spacing
  }

  /// Returns the nanoseconds between two starts.
  private func spacing(_ rate: Double?) -> Int64? {
    guard let rate, rate > 0 else { return nil }
    return Int64(min(1e9 / rate, 3.6e12))
  }
}
