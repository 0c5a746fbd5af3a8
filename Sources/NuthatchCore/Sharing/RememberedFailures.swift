import NuthatchStore

/// Negative cache for thumbnail requests, in memory only: URLs whose answer was not a usable picture (no picture, too large, 404,
/// 410). For a short time later requests get the same error instead of a fetch, for example when a page is shown again.
/// `StoredDecodeFailure` is the counterpart in the store.
final class RememberedFailures: Sendable {
  private struct Failure {
    let error: NuthatchError
    let limits: Limits
    /// Monotonic, ns.
    let until: Int64
    /// The moment at which the failure was noted. A later removal of the URL ends the failure, too. Nil: the moment is unknown.
    let began: Moment?
  }

  /// What the failed request allowed. A request that allows more may succeed.
  struct Limits {
    var bytes: Int64
    var pixels: Int
    var allowsDamage: Bool

    func allowsMore(than other: Limits) -> Bool {
      bytes > other.bytes || pixels > other.pixels || (allowsDamage && !other.allowsDamage)
    }
  }

  /// The most failures that are kept. When there are so many, the expired ones are dropped. If none has expired, all are
  /// dropped.
  private static let most = 10_000
  private let failures = Locked<[AnswerName: Failure]>([:])

  /// Returns for how many seconds a failure is remembered; nil: not at all. Connection faults aren't remembered here: the
  /// host's circuit handles them.
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

  /// Returns the failure if it hasn't expired. Its `retryAfter` is the seconds until it expires. A new failure has no
  /// `retryAfter`.
  ///
  /// - Parameter isCurrent: returns whether nothing was removed since a moment.
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
