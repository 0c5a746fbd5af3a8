import NuthatchTransport

/// Decides when to try again. It keeps no state; tests pass the random number.
///
/// A request is repeated only if it may be sent twice (the idempotent methods of RFC 9110, 9.2.2), and only after an error that
/// may be temporary:
///
/// | what | retry | as others do |
/// | --- | --- | --- |
/// | dns, refused, reset, timeout, truncated | yes | urllib3, `curl --retry --retry-connrefused` |
/// | the host's circuit opened during the wait | yes, when it half-opens | |
/// | broken HTTP in place of an answer on a kept connection | yes | browsers |
/// | tls, other broken HTTP, all local reasons | no | a bad certificate stays bad |
/// | 408, 429, 500, 502, 503, 504 | yes | curl, the AWS SDKs |
/// | 425 (too early) | yes | RFC 8470 asks for it |
/// | any other status | no | |
///
/// The n-th wait is a random time between 0 and `base` × 2ⁿ⁻¹, at most `longest` ("full jitter"). With `Retry-After` it is at
/// least that long. If `Retry-After` is longer than `longestRetryAfter`, or the wait passes the deadline, the request gives up.
struct RetryPolicy: Equatable, Sendable {
  /// The number of attempts after the first. Default: 3.
  var retries = 3
  /// Nanoseconds. Default: 250 ms.
  var base: Int64 = 250_000_000
  /// The longest random wait, in nanoseconds. `Retry-After`, an open circuit and `restart` can make the wait longer. Default:
  /// 20 s.
  var longest: Int64 = 20_000_000_000
  /// The longest wait that a server may ask for, in nanoseconds. Default: 5 minutes.
  var longestRetryAfter: Int64 = 300_000_000_000
  /// The shortest wait, in nanoseconds, before the last attempt of a patient request after `refused` or `reset`: a server may
  /// need this time to restart. Default: 5 s.
  var restart: Int64 = 5_000_000_000
  var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  enum Outcome: Equatable, Sendable {
    /// `retryAfter`: nanoseconds from now.
    case status(Int, retryAfter: Int64? = nil)
    case fault(TransportFault.Kind)
    /// Nothing was sent. The circuit stays open for `retryAfter` nanoseconds.
    case circuitOpen(retryAfter: Int64)
  }

  enum Decision: Equatable, Sendable {
    /// Nanoseconds from now.
    case retry(after: Int64)
    case giveUp
  }

  /// Decides what to do after attempt number `attempt` (from 1) ended with `outcome`. `remaining`: the nanoseconds until the
  /// deadline; nil if there is none.
  ///
  /// - Parameters:
  ///   - method: the request's method. Nil: the caller states that the request may be sent twice.
  ///   - isPatient: whether the request waits for a host that may just be restarting.
  ///   - random: a uniformly distributed number. Nil: the system's, which costs a system call. It is a number, because the
  ///     thread sanitizer ends programs that pass the system's generator `inout`.
  func decide(
    attempt: Int, outcome: Outcome, method: String?, remaining: Int64?, isPatient: Bool = false,
    random: UInt64? = nil
  ) -> Decision {
    guard attempt <= retries, Self.maySendTwice(method), isRetriable(outcome) else { return .giveUp }
    let random = random ?? .random(in: .min ... .max)
    let (share, _) = random.multipliedFullWidth(by: UInt64(longestWait(after: attempt)) + 1)
    var wait = Int64(clamping: share)
    if case .status(_, let retryAfter?) = outcome {
      guard retryAfter <= longestRetryAfter else { return .giveUp }
      wait = max(wait, retryAfter)
    }
    // Nothing was sent, so the wait needs no random part.
    if case .circuitOpen(let retryAfter) = outcome { wait = retryAfter }
    if isPatient, attempt == retries, case .fault(let kind) = outcome, [.refused, .reset].contains(kind) {
      wait = max(wait, restart)
    }
    if let remaining, wait >= remaining { return .giveUp }
    return .retry(after: wait)
  }

  /// Returns whether a request may be sent twice. Nil: the caller states that it may.
  static func maySendTwice(_ method: String?) -> Bool { method.map(isIdempotent(method:)) ?? true }

  /// Returns the upper bound of the random wait after attempt number `attempts`.
  func longestWait(after attempts: Int) -> Int64 {
    max(0, backOff(number: attempts, first: base, longest: longest))
  }

  private func isRetriable(_ outcome: Outcome) -> Bool {
    switch outcome {
    case .status(let status, _): statuses.contains(status)
    case .circuitOpen: true
    case .fault(let kind): ErrorCode(kind).isPassing
    }
  }
}
