/// Decides what follows an attempt. Has no state and no clock: time and random numbers are arguments.
///
/// | result | what follows |
/// | --- | --- |
/// | 2xx | done |
/// | 408, 425, 429, 5xx | another attempt, not before `Retry-After` |
/// | no connection, or it broke before the answer was complete | another attempt |
/// | an answer that can't be decoded, such as one with a wrong Content-Encoding | what its status says; 2xx: put aside |
/// | 401, 403 | the queue waits for another secret, or a replay |
/// | this process has ended it (`Event.isOwnEnd`) | nothing is recorded: it is sent again, as after a kill |
/// | offline, or a fault of this machine (`io`, `out_of_memory`, `no_space`, `internal`) | another attempt |
/// | anything else, too many attempts, too old, the key expired | put aside, with the reason |
package struct OutboxRules: Sendable {
  /// The bound of the first wait, in nanoseconds. It doubles with each attempt. Default: 1 s.
  package var base: Int64 = 1_000_000_000
  /// The largest bound, in nanoseconds. Default: 5 minutes.
  package var longest: Int64 = 300_000_000_000
  /// The longest wait because of a Retry-After, in nanoseconds. Default: a day.
  package var longestRetryAfter: Int64 = 86_400_000_000_000
  /// The time between two probes of a server that has been unreachable for less than 11 minutes, in nanoseconds. Default: 3 s.
  package var probeInterval: Int64 = 3_000_000_000
  /// The time between two later probes, in nanoseconds. A server that has been unreachable for 25 hours isn't probed any more.
  /// Default: 20 s.
  package var longProbeInterval: Int64 = 20_000_000_000

  package init() {}

  enum Verdict: Equatable {
    case done
    /// In nanoseconds.
    case again(wait: Int64)
    case pause
    case putAside(String)
  }

  /// The result of an attempt.
  enum Result {
    /// `retryAfter` in nanoseconds.
    case answer(status: Int, retryAfter: Int64?)
    /// `status` is the status of an answer that was incomplete or can't be decoded; nil if no response head came.
    case failure(ErrorCode, status: Int?, retryAfter: Int64?)

    /// The reason why no response head came; nil if one came.
    var headlessFailure: ErrorCode? {
      if case .failure(let code, nil, _) = self { code } else { nil }
    }
  }

  /// - Parameters:
  ///   - attempt: the number of this attempt since the freeze or the last replay, from 1.
  ///   - random: a uniformly distributed number.
  func judge(_ result: Result, attempt: Int, random: UInt64 = .random(in: .min ... .max)) -> Verdict {
    switch result {
    case .answer(let status, let retryAfter):
      switch status {
      case 200..<300: return .done
      case 401, 403: return .pause
      case 408, 425, 429, 500...599: return .again(wait: wait(attempt, retryAfter, random))
      default: return .putAside("HTTP \(status)")
      }
    case .failure(let code, let status, let retryAfter):
      switch code {
      case .http where status != nil:
        // The server has processed the request, even if the answer can't be read. After a 2xx, another attempt could only make
        // the server process it twice.
        let verdict = judge(
          .answer(status: status ?? 0, retryAfter: retryAfter), attempt: attempt, random: random)
        return verdict == .done ? .putAside(code.word) : verdict
      case _ where code.meansServerUnavailable, .offline, .io, .outOfMemory, .noSpace, .internal:
        return .again(wait: wait(attempt, retryAfter, random))
      default: return .putAside(code.word)
      }
    }
  }

  /// Returns a random time between half of the bound and the bound, so that many waiting requests aren't sent at the same time.
  /// A longer Retry-After counts instead.
  private func wait(_ attempt: Int, _ retryAfter: Int64?, _ random: UInt64) -> Int64 {
    let bound = max(2, backOff(number: attempt, first: base, longest: longest))
    let (share, _) = random.multipliedFullWidth(by: UInt64(bound / 2))
    return max(bound / 2 + Int64(clamping: share), min(max(0, retryAfter ?? 0), longestRetryAfter))
  }

  /// Returns the reason why a request must not be sent any more; nil if it may be sent.
  static func hindrance(_ entry: OutboxContents.Entry, _ now: DurableTime) -> String? {
    let request = entry.request
    if let longest = request.longest, entry.since.age(at: now) > longest {
      return "too old: it has waited for \(longest / 1_000_000_000) s"
    }
    if entry.counted >= max(1, request.attempts) { return "too many attempts: \(entry.counted)" }
    guard !request.isIdempotent, let exposed = entry.exposed,
      let lifetime = request.keyLifetime, exposed.age(at: now) > lifetime
    else { return nil }
    return
      "the server may have received it, and its Idempotency-Key has expired after \(lifetime / 1_000_000_000) s"
  }

  /// Returns nanoseconds until the next probe of a server that has been unreachable for this time (nanoseconds); nil: no
  /// further probe.
  func probeInterval(absence: Int64) -> Int64? {
    let minute: Int64 = 60_000_000_000
    if absence < 11 * minute { return probeInterval }
    return absence < 25 * 60 * minute ? longProbeInterval : nil
  }

  /// Returns for how many nanoseconds the server of a request has been unreachable, according to its attempts.
  static func absence(_ entry: OutboxContents.Entry, _ now: DurableTime) -> Int64 {
    let since = entry.replayed?.place.sequence ?? 0
    let attempts = entry.history.lazy.filter { $0.place.sequence > since }.map(\.attempt)
    var first: AttemptRecord?
    for attempt in attempts.reversed() {
      guard attempt.isUnreachable else { return first?.ended.age(at: now) ?? 0 }
      first = attempt
    }
    // All kept attempts failed, and older ones aren't kept: assume that the server was unreachable all the time.
    if entry.forgotten > 0 { return entry.since.age(at: now) }
    return first?.ended.age(at: now) ?? 0
  }

  /// Returns nanoseconds until a request is too old; nil if it has no such limit.
  static func expiry(_ entry: OutboxContents.Entry, _ now: DurableTime) -> Int64? {
    entry.request.longest.map { max(0, $0 - entry.since.age(at: now)) &+ 1_000_000 }
  }

  /// Returns nanoseconds until a request may be sent; nil if it waits for other credentials.
  ///
  /// - Parameter seen: after a reboot, the time at which this process first saw the request; else nil. The wait counts from this
  ///   time at the latest, even if the clock was set back meanwhile.
  static func delay(_ entry: OutboxContents.Entry, _ now: DurableTime, seen: DurableTime?) -> Int64? {
    guard let last = entry.last else { return 0 }
    guard let wait = last.wait else { return nil }
    return max(
      0, wait - max(last.ended.age(at: now), last.ended.boot == now.boot ? 0 : seen?.age(at: now) ?? 0))
  }
}
