import NuthatchStore

/// Failures of requests for pictures (no picture, too large, 404, 410), which later requests for the same are told again for a short
/// while, so that a page shown again doesn't fetch them again. In memory only: `StoredDecodeFailure` is what the store keeps.
final class RememberedFailures: Sendable {
  private struct Failure {
    let error: NuthatchError
    let limits: Limits
    /// On the monotonic clock.
    let until: Int64
    /// A removal since takes the failure out, too; nil where nothing can be said of that.
    let began: Moment?
  }

  /// What the failed request allowed: one that allows more may succeed.
  struct Limits {
    var bytes: Int64
    var pixels: Int
    var allowsDamage: Bool

    func allowsMore(than other: Limits) -> Bool {
      bytes > other.bytes || pixels > other.pixels || (allowsDamage && !other.allowsDamage)
    }
  }

  /// Beyond it all are forgotten.
  private static let most = 10_000
  private let failures = Locked<[AnswerName: Failure]>([:])

  /// For how long a failure is remembered, in seconds; nil for one that is not. Faults of connections are the business
  /// of their host's circuit.
  static func lifetime(of code: ErrorCode, status: Int?) -> Int64? {
    switch code {
    case .notAnImage, .unsupportedFormat, .corrupt, .tooLarge, .tooManyPixels: 600
    case .http: status == 404 || status == 410 ? 60 : nil
    default: nil
    }
  }

  func note(
    _ name: AnswerName, _ error: NuthatchError, _ limits: Limits, seconds: Int64, now: Int64, began: Moment?
  ) {
    failures.withLock { failures in
      if failures.count >= Self.most {
        failures = failures.filter { $0.value.until > now }
        if failures.count >= Self.most { failures = [:] }
      }
      failures[name] = Failure(
        error: error, limits: limits, until: now &+ seconds * 1_000_000_000, began: began)
    }
  }

  func forget(_ name: AnswerName) { failures.withLock { $0[name] = nil } }

  func forgetAll() { failures.withLock { $0 = [:] } }

  /// The failure, if it isn't too long ago. That it carries the seconds after which to try again (`retryAfter`) tells it from a new one.
  ///
  /// - Parameter isCurrent: whether nothing was removed since a moment.
  func failure(
    of name: AnswerName, _ limits: Limits, now: Int64, isCurrent: (Moment) -> Bool
  ) -> NuthatchError? {
    failures.withLock { failures in
      guard !failures.isEmpty, let failure = failures[name] else { return nil }
      guard failure.until > now, failure.began.map(isCurrent) ?? true else {
        failures[name] = nil
        return nil
      }
      guard !limits.allowsMore(than: failure.limits) else { return nil }
      var error = failure.error
      error.retryAfter = (failure.until - now + 999_999_999) / 1_000_000_000
      return error
    }
  }
}
