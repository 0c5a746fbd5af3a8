/// What becomes of a request after an attempt: pure, with time and random numbers handed in.
///
/// | what came | what follows |
/// | --- | --- |
/// | 2xx | done |
/// | 408, 425, 429, 5xx | another attempt, not before `Retry-After` |
/// | no connection, or it broke before the answer was whole | another attempt |
/// | an answer that can't be read, such as one that isn't in its coding | what its status says; 2xx: put aside |
/// | 401, 403 | the queue waits for somebody: another secret, or a replay |
/// | this process has ended it (`Event.isOwnEnd`) | nothing is written: it is sent again, as after a kill |
/// | anything else, too many attempts, too old, the key forgotten | put aside, with the reason |
package struct OutboxRules: Sendable {
  /// The first wait, in nanoseconds; each is twice the one before. 1 s.
  package var base: Int64 = 1_000_000_000
  /// The longest wait that nobody asked for. 5 minutes.
  package var longest: Int64 = 300_000_000_000
  /// The longest wait that a server may ask for. A day.
  package var longestRetryAfter: Int64 = 86_400_000_000_000
  /// The time between two probes of a server that can't be reached. 3 s.
  package var probeInterval: Int64 = 3_000_000_000
  /// The same once it has been away for more than eleven minutes, and up to 25 hours; later it isn't probed. 20 s.
  package var longProbeInterval: Int64 = 20_000_000_000

  package init() {}

  enum Verdict: Equatable {
    case done
    /// In nanoseconds.
    case again(wait: Int64)
    case pause
    case putAside(String)
  }

  /// What an attempt has brought.
  enum Result {
    /// `retryAfter` in nanoseconds.
    case answer(status: Int, retryAfter: Int64?)
    /// `status` is that of an answer that wasn't whole, or can't be read.
    case failure(ErrorCode, status: Int?, retryAfter: Int64?)

    /// Why no head came; nil when one did.
    var headlessFailure: ErrorCode? {
      if case .failure(let code, nil, _) = self { code } else { nil }
    }
  }

  /// - Parameters:
  ///   - attempt: how many there have been in a row.
  ///   - random: any number, each as likely as any other.
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
        // The server has made something of it, whatever its words were: of a 2xx another attempt could only do it twice.
        let verdict = judge(
          .answer(status: status ?? 0, retryAfter: retryAfter), attempt: attempt, random: random)
        return verdict == .done ? .putAside(code.word) : verdict
      case _ where code.isOfTheWay, .offline, .io, .outOfMemory, .noSpace, .internal:
        return .again(wait: wait(attempt, retryAfter, random))
      default: return .putAside(code.word)
      }
    }
  }

  /// Between half of the bound and all of it, so that many who wait don't come at the same moment.
  private func wait(_ attempt: Int, _ retryAfter: Int64?, _ random: UInt64) -> Int64 {
    let bound = max(2, backOff(time: attempt, first: base, longest: longest))
    let (share, _) = random.multipliedFullWidth(by: UInt64(bound / 2))
    return max(bound / 2 + Int64(clamping: share), min(max(0, retryAfter ?? 0), longestRetryAfter))
  }

  /// Why a request must not be sent any more; nil while it may.
  static func hindrance(_ entry: OutboxContents.Entry, _ now: Stamp) -> String? {
    let request = entry.request
    if let longest = request.longest, entry.since.age(at: now) > longest {
      return "too old: it has waited for \(longest / 1_000_000_000) s"
    }
    if entry.counted >= max(1, request.attempts) { return "too many attempts: \(entry.counted)" }
    guard !request.isIdempotent, let exposed = entry.exposed,
      let lifetime = request.keyLifetime, exposed.age(at: now) > lifetime
    else { return nil }
    return "the server may have had it, and forgotten its key after \(lifetime / 1_000_000_000) s"
  }

  /// Nanoseconds until the next probe of a server that has been away for so long; nil for none.
  func probeInterval(absence: Int64) -> Int64? {
    let minute: Int64 = 60_000_000_000
    if absence < 11 * minute { return probeInterval }
    return absence < 25 * 60 * minute ? longProbeInterval : nil
  }

  /// For how long the server of a request has been away, by the attempts to reach it.
  static func absence(_ entry: OutboxContents.Entry, _ now: Stamp) -> Int64 {
    let since = entry.replayed?.place.sequence ?? 0
    let attempts = entry.history.lazy.filter { $0.place.sequence > since }.map(\.attempt)
    var first: OutboxAttempt?
    for attempt in attempts.reversed() {
      guard attempt.isUnreachable else { return first?.ended.age(at: now) ?? 0 }
      first = attempt
    }
    // Of many attempts the first ones are forgotten.
    if entry.forgotten > 0 { return entry.since.age(at: now) }
    return first?.ended.age(at: now) ?? 0
  }

  /// Nanoseconds until a request is too old; nil where it never is.
  static func expiry(_ entry: OutboxContents.Entry, _ now: Stamp) -> Int64? {
    entry.request.longest.map { max(0, $0 - entry.since.age(at: now)) &+ 1_000_000 }
  }

  /// Nanoseconds until a request may be sent; nil when it waits for somebody.
  ///
  /// - Parameter seen: since when this process knows of it, which counts where the clock was put back while the machine was
  ///   off.
  static func delay(_ entry: OutboxContents.Entry, _ now: Stamp, seen: Stamp?) -> Int64? {
    guard let last = entry.last else { return 0 }
    guard let wait = last.wait else { return nil }
    return max(
      0, wait - max(last.ended.age(at: now), last.ended.boot == now.boot ? 0 : seen?.age(at: now) ?? 0))
  }
}
