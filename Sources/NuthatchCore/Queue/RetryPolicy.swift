import NuthatchTransport

/// When to try again: pure, with the random number handed in.
///
/// Only what may be sent twice (the idempotent methods of RFC 9110, 9.2.2), and only after what may pass by
/// itself:
///
/// | what | again | as others do |
/// | --- | --- | --- |
/// | dns, refused, reset, timeout, truncated | yes | urllib3, `curl --retry --retry-connrefused` |
/// | the host's circuit opened while it waited | yes, when it half-opens | |
/// | tls, broken HTTP, all our own reasons | no | a bad certificate stays bad |
/// | 408, 429, 500, 502, 503, 504 | yes | curl, the AWS SDKs |
/// | 425 (too early) | yes | RFC 8470 asks for it |
/// | any other status | no | |
///
/// The n-th wait is a random time between nothing and `base` × 2ⁿ⁻¹, at most `longest` ("full jitter"). With
/// `Retry-After` it is at least that; one longer than `longestRetryAfter`, or than the deadline leaves time
/// for, gives up.
struct RetryPolicy: Equatable, Sendable {
  /// Attempts after the first. Default 3.
  var retries = 3
  /// Nanoseconds. Default 250 ms.
  var base: Int64 = 250_000_000
  /// The longest wait that nobody asked for, in nanoseconds. Default 20 s.
  var longest: Int64 = 20_000_000_000
  /// The longest wait that a server may ask for, in nanoseconds. Default 5 minutes.
  var longestRetryAfter: Int64 = 300_000_000_000
  /// How long a server takes to restart: the least wait before the last attempt of a patient request, in nanoseconds. 5 s.
  var restart: Int64 = 5_000_000_000
  var statuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  enum Outcome: Equatable, Sendable {
    /// `retryAfter` in nanoseconds from now.
    case status(Int, retryAfter: Int64? = nil)
    case fault(TransportFault.Kind)
    /// Nothing was sent: the host is left alone for `retryAfter` nanoseconds.
    case circuitOpen(retryAfter: Int64)
  }

  enum Decision: Equatable, Sendable {
    /// Nanoseconds from now.
    case retry(after: Int64)
    case giveUp
  }

  /// What to do after attempt number `attempt` (from 1) ended with `outcome`, with `remaining` nanoseconds
  /// left of the deadline (nil: there is none).
  ///
  /// - Parameters:
  ///   - method: nil where somebody says that it may be sent twice.
  ///   - isPatient: whether it is worth a wait that the host may only just be restarting.
  ///   - random: any number, each as likely as any other; nil for the system's, which costs a system call. Not a
  ///     generator: the system's has no size, and its `inout` no address, which the thread sanitizer's code for accesses
  ///     reads all the same.
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
    // Nothing was sent that could have been an attempt too early, so that nothing is added.
    if case .circuitOpen(let retryAfter) = outcome { wait = retryAfter }
    if isPatient, attempt == retries, case .fault(let kind) = outcome, [.refused, .reset].contains(kind) {
      wait = max(wait, restart)
    }
    if let remaining, wait >= remaining { return .giveUp }
    return .retry(after: wait)
  }

  /// nil stands for any that somebody says of that it may be sent twice.
  static func maySendTwice(_ method: String?) -> Bool { method.map(isIdempotent(method:)) ?? true }

  /// The wait after so many attempts, without the chance that shortens it.
  func longestWait(after attempts: Int) -> Int64 {
    max(0, backOff(time: attempts, first: base, longest: longest))
  }

  private func isRetriable(_ outcome: Outcome) -> Bool {
    switch outcome {
    case .status(let status, _): statuses.contains(status)
    case .circuitOpen: true
    case .fault(let kind): ErrorCode(kind).isPassing
    }
  }
}
