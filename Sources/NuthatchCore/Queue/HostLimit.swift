/// The number of requests at once that a host can handle, found by measurement. Used if the program lets the limit grow.
///
/// - It begins with the usual limit. It grows when as many good answers as the limit have come at the usual speed while more
///   requests wait. The first time it grows by one, after that it doubles, up to `most`.
/// - A 429, 503 or reset halves it. After that it grows by one for as many good answers as the limit, up to the last limit that
///   the host has handled.
/// - A minute after the last 429, 503 or reset it grows by one more: a probe. If the host handles that, the next probe follows
///   a minute later. If not, the limit goes back.
struct HostLimit {
  static let most = 32
  private static let minute: Int64 = 60_000_000_000

  private(set) var value: Int
  /// The largest limit that the host has handled.
  private var handled: Int
  private var hasNeverGrown = true
  private var hadTrouble = false
  /// The time of the last overload or probe.
  private var probedAt: Int64 = .min
  /// The time of the last change, and of the last decrease. Requests that began earlier show nothing about it.
  private var changedAt: Int64 = .min
  private var loweredAt: Int64 = .min
  /// The limit before the last change.
  private var previous: Int
  private var good = 0

  init(_ usual: Int) { (value, handled, previous) = (usual, usual, usual) }

  /// Returns the limit at the time when a request began.
  func value(at start: Int64) -> Int { start >= changedAt ? value : previous }

  /// Notes a good answer to a request that began at `start`. `isCalm`: it came at the usual speed. `isWanted`: more requests
  /// wait.
  mutating func noteGood(isCalm: Bool, isWanted: Bool, began start: Int64, at now: Int64) {
    guard start >= changedAt, isCalm, isWanted, value < Self.most else { return }
    good += 1
    guard good >= value else { return }
    handled = max(handled, value)
    let isProbe = hadTrouble && value >= handled
    if isProbe {
      guard now &- probedAt >= Self.minute else { return }
      probedAt = now
    }
    change(to: hadTrouble || hasNeverGrown ? value + 1 : 2 * value, at: now)
    hasNeverGrown = false
  }

  /// Notes a 429, 503 or reset of a request that began at `start`.
  mutating func noteTrouble(began start: Int64, at now: Int64) {
    guard start >= loweredAt else { return }
    let tried = value(at: start)
    let isProbe = hadTrouble && tried > handled
    if !isProbe { handled = min(handled, max(1, tried - 1)) }
    change(to: isProbe ? handled : tried / 2, at: now)
    (hadTrouble, probedAt, loweredAt) = (true, now, now)
  }

  private mutating func change(to limit: Int, at now: Int64) {
    previous = value
    value = min(max(limit, 1), Self.most)
    changedAt = now
    good = 0
  }
}
