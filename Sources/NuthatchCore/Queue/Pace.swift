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
/// same request doesn't count if other requests got good answers in between.
struct Pace {
  private struct Regime {
    /// The starts a second that were too many.
    var excessive: Double
    /// The rate at `since`.
    var base: Double
    var since: Int64
    /// The time of the last overload answer.
    var overloadedAt: Int64
  }

  private static let second: Int64 = 1_000_000_000
  private static let longestBreak: Int64 = 10
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
  private var recent = RecentCount()
  private var cycleSince: Int64 = .min
  private var goodInCycle = 0

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

  /// Notes a good answer to a request that began at `start`.
  mutating func noteGood(began start: Int64, at now: Int64) {
    recent.add(at: now)
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
    if status == 503 {
      guard !isOnlyThisRequest else { return }
      unavailable = unavailable * 0.9 + 0.1
      guard unavailable > 0.35 else { return }
    }
    guard start >= slowedAt else { return }
    slowDownsInRow == 0 ? slowDown(at: now) : waitLonger(status, at: now)
    slowedAt = now
    notBefore = now &+ min(Int64(slowDownsInRow), Self.longestBreak) * Self.second
  }

  private mutating func slowDown(at now: Int64) {
    // If the host has given no other answer yet, no rate is known.
    guard cycleSince != .min else {
      regime = Regime(excessive: Self.unlimitedFrom, base: Self.unlimitedFrom, since: now, overloadedAt: now)
      slowDownsInRow = 1
      return
    }
    // If the first request was less than a second ago, divide by the time since then.
    let isYoung = regime == nil && now &- cycleSince < Self.second
    let done = isYoung ? Double(goodInCycle) / Self.seconds(now &- cycleSince) : recent.perSecond(at: now)
    let measured = max(1, min(done, rate(at: now) ?? Self.unlimitedFrom))
    regime = Regime(excessive: measured, base: measured / 2, since: now, overloadedAt: now)
    slowDownsInRow = 1
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

/// Counts events of the last second, in steps of 50 ms.
struct RecentCount {
  private static let slotCount = 20
  private static let slotLength: Int64 = 50_000_000

  /// One count for each of the last `slotCount` steps, as a ring. Empty until the first event.
  private var counts: [Int] = []
  private var last: Int64 = -1
  private var sum = 0

  mutating func add(at now: Int64) {
    advance(to: max(0, now) / Self.slotLength)
    counts[index(last)] += 1
    sum += 1
  }

  mutating func perSecond(at now: Int64) -> Double {
    advance(to: max(0, now) / Self.slotLength)
    return Double(sum)
  }

  private func index(_ step: Int64) -> Int { Int(step % Int64(Self.slotCount)) }

  private mutating func advance(to step: Int64) {
    guard step > last else { return }
    if counts.isEmpty { counts = [Int](repeating: 0, count: Self.slotCount) }
    var passed = max(step - Int64(Self.slotCount) + 1, last < 0 ? 0 : last + 1)
    while passed <= step {
      sum -= counts[index(passed)]
      counts[index(passed)] = 0
      passed += 1
    }
    last = step
  }
}
