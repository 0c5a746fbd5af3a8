import Glibc

/// The number of starts a second that a host can handle, found by measurement: additive increase, multiplicative decrease.
///
/// A host has no limit until it answers 429, or 503 often. The number of its good answers in the last second is then the
/// *excessive* rate:
///
/// - Nothing starts for a second. Then the rate is half of the excessive one. Requests that began earlier show nothing new.
/// - The rate climbs to 9/10 of the excessive one in five seconds and stays there.
/// - A minute after the last 429 or 503 it climbs on, doubling in a minute, until the host answers 429 again: one probe a minute.
///
/// If no good answer comes between two such answers, nothing starts for 2, then 3, … at most 10 s. The excessive rate stays.
/// After a 429 it is lowered to the average rate since the last such break, because the host may count by the minute.
///
/// A 503 may be about one page. It counts if more than about one in three of the last ten answers was 503. A second 503 to the
/// same request doesn't count if other requests got good answers in between. If that shows that only some pages fail
/// (`OddPages`), there is no limit, and nothing starts for some seconds only if more than about eight in ten were 503.
struct Pace {
  private struct Regime {
    /// The starts a second that were too many.
    var excessive: Double
    /// Whether a whole second was measured.
    var isMeasured: Bool
    /// The rate at `since`.
    var base: Double
    var since: Int64
    /// The time of the last overload answer.
    var overloadedAt: Int64
  }

  private static let second: Int64 = 1_000_000_000
  private static let minute = 60 * second
  private static let longestBreak: Int64 = 10
  /// So many answers a second are few. After a break usually six requests start.
  private static let little = 8.0
  /// At this rate and above, there is no limit.
  private static let unlimitedFrom = 10_000.0

  private var regime: Regime?
  /// Nothing starts before this time.
  private(set) var notBefore: Int64 = .min
  /// The time of the last slow-down. Requests that began earlier show nothing about the present rate.
  private var slowedAt: Int64 = .min
  /// The number of slow-downs since the last good answer.
  private var slowDownsInRow = 0
  /// The share of 503 among the last answers: a moving average with weight 0.1.
  private var unavailable = 0.0
  /// Good answers, and all answers under a regime.
  private var good = RecentCount()
  private var all = RecentCount()
  private var cycleSince: Int64 = .min
  private var goodInCycle = 0
  private var oddPages = OddPages()
  /// The time of the last 429 and 503.
  private var limitedAt = Int64.min, unavailableAt = Int64.min
  /// Whether 503 came in the last minute, and no 429: maybe only some pages fail.
  private(set) var mayHaveOddPages = false

  /// Returns the starts a second at `now`. Nil: no limit.
  func rate(at now: Int64) -> Double? {
    guard let regime else { return nil }
    let climbed = regime.base + regime.excessive * 0.08 * Self.seconds(now &- regime.since)
    let usual = min(climbed, 0.9 * regime.excessive)
    let probing = Self.seconds(now &- regime.overloadedAt) - 60
    guard probing > 0 else { return max(0.2, usual) }
    let rate = usual * exp2(min(probing / 60, 40))
    return rate < Self.unlimitedFrom ? max(0.2, rate) : nil
  }

  /// Notes a good answer to a request that began at `start`. `isCure`: the same request has failed before.
  mutating func noteGood(isCure: Bool = false, began start: Int64, at now: Int64) {
    good.add(at: now)
    if regime != nil { all.add(at: now) }
    if isCure { oddPages.noteCured() }
    if mayHaveOddPages, now &- unavailableAt > Self.minute { mayHaveOddPages = false }
    unavailable *= 0.9
    if cycleSince == .min { cycleSince = start }
    goodInCycle += 1
    guard start >= slowedAt, slowDownsInRow > 0 else { return }
    if slowDownsInRow > 1 { (cycleSince, goodInCycle) = (now, 0) }
    slowDownsInRow = 0
    regime?.since = now
  }

  /// Notes a 429 or 503 to a request that began at `start`. `isOnlyThisRequest`: the same request had it before, and others got
  /// good answers since. It counts for a 503 only.
  mutating func noteOverload(_ status: Int, isOnlyThisRequest: Bool, began start: Int64, at now: Int64) {
    if regime != nil { all.add(at: now) }
    if status == 503 {
      unavailableAt = now
      mayHaveOddPages = limitedAt == .min || now &- limitedAt > Self.minute
      guard !isOnlyThisRequest else { return noteFailedAgain(began: start, at: now) }
      unavailable = unavailable * 0.9 + 0.1
      guard unavailable > (oddPages.areShown ? 0.8 : 0.35) else { return }
    } else {
      limitedAt = now
      mayHaveOddPages = false
    }
    guard start >= slowedAt else { return }
    slowDownsInRow == 0 ? slowDown(at: now) : waitLonger(status, at: now)
    slowedAt = now
    notBefore = now &+ min(Int64(slowDownsInRow), Self.longestBreak) * Self.second
  }

  /// Notes another 503 to a request while others get good answers. It shows an odd page if the host is asked far less often than
  /// it could be.
  private mutating func noteFailedAgain(began start: Int64, at now: Int64) {
    guard mayHaveOddPages, let regime, start >= slowedAt,
      all.perSecond(at: now) <= max(Self.little, regime.isMeasured ? 0.6 * regime.excessive : 0)
    else { return }
    oddPages.noteFailedAgain()
    guard oddPages.areShown else { return }
    self.regime = nil
    (notBefore, slowDownsInRow, unavailable) = (now, 0, 0)
  }

  private mutating func slowDown(at now: Int64) {
    slowDownsInRow = 1
    guard !mayHaveOddPages || !oddPages.areShown else { return }
    // If the host has given no other answer yet, no rate is known.
    guard cycleSince != .min else {
      return begin(at: Self.unlimitedFrom, isMeasured: false, now)
    }
    // A 503 while the host is asked little shows no rate.
    let asked = all.perSecond(at: now)
    if mayHaveOddPages, let regime, regime.isMeasured, asked < min(10, regime.excessive / 2) {
      return begin(at: regime.excessive, isMeasured: true, now)
    }
    // If the first request was less than a second ago, divide by the time since then.
    let isYoung = regime == nil && now &- cycleSince < Self.second
    let done = isYoung ? Double(goodInCycle) / Self.seconds(now &- cycleSince) : good.perSecond(at: now)
    begin(at: max(1, min(done, rate(at: now) ?? Self.unlimitedFrom)), isMeasured: !isYoung, now)
  }

  private mutating func begin(at excessive: Double, isMeasured: Bool, _ now: Int64) {
    let base = excessive < Self.unlimitedFrom ? excessive / 2 : excessive
    regime = Regime(excessive: excessive, isMeasured: isMeasured, base: base, since: now, overloadedAt: now)
  }

  private mutating func waitLonger(_ status: Int, at now: Int64) {
    slowDownsInRow += 1
    regime?.overloadedAt = now
    guard status == 429, goodInCycle > 0, let excessive = regime?.excessive else { return }
    let inCycle = Double(goodInCycle) / max(1, Self.seconds(now &- cycleSince))
    regime?.excessive = max(1, min(excessive, inCycle))
    regime?.base = max(1, min(excessive, inCycle)) / 2
  }

  private static func seconds(_ nanoseconds: Int64) -> Double { max(0, Double(nanoseconds) / 1e9) }
}
