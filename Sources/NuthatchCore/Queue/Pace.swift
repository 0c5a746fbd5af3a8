import Glibc

/// How many starts a second a host bears, found by measurement: additive growth, multiplicative shrinking.
///
/// A host is free until it says 429, or 503 more than now and then. The rate of its good answers in the second before that is then
/// *known* as too much:
///
/// - nothing starts for a second, then half of it; requests that began before that say nothing new;
/// - the rate climbs to 9/10 of the known one, in five seconds, and stays there;
/// - a minute after the last 429 or 503 it climbs on, doubling in a minute, until the host says 429 again: one probe a minute.
///
/// Without a good answer between two such answers the host is out of work altogether: nothing starts for 2, 3, … 10 s. After
/// that, what it did before counts as known again; but when it said 429, what it has answered in the whole time: it may count
/// by the minute.
///
/// 503 may be about one page: it counts when more than one answer in four was such, of about the last ten. The same request that
/// gets it again, while others have good answers, says nothing new.
struct Pace {
  private struct Regime {
    /// Starts a second that were too much.
    var known: Double
    /// The rate at `since`.
    var base: Double
    var since: Int64
    /// When the host last said that it has too much to do.
    var overloadedAt: Int64
  }

  private static let second: Int64 = 1_000_000_000
  private static let longestBreak: Int64 = 10
  /// Whatever answers this much has no limit that matters.
  private static let free = 10_000.0

  private var regime: Regime?
  /// Nothing starts before.
  private(set) var notBefore: Int64 = .min
  /// When it slowed down last. Requests that began earlier say nothing about that.
  private var cutAt: Int64 = .min
  /// Without a good answer since.
  private var cutsInRow = 0
  /// How many of the last answers were 503, each a tenth less than the one after it.
  private var unavailable = 0.0
  private var recent = RecentCount()
  private var cycleSince: Int64 = .min
  private var goodInCycle = 0

  /// Starts a second at this moment; nil for as many as come.
  func rate(at now: Int64) -> Double? {
    guard let regime else { return nil }
    let climbed = regime.base + regime.known * 0.08 * Self.seconds(now &- regime.since)
    let usual = min(climbed, 0.9 * regime.known)
    let probing = Self.seconds(now &- regime.overloadedAt) - 60
    guard probing > 0 else { return max(0.2, usual) }
    let rate = usual * exp2(min(probing / 60, 40))
    return rate < Self.free ? max(0.2, rate) : nil
  }

  /// A good answer to a request that began at `start`.
  mutating func noteGood(began start: Int64, at now: Int64) {
    recent.add(at: now)
    unavailable *= 0.9
    if cycleSince == .min { cycleSince = start }
    goodInCycle += 1
    guard start >= cutAt, cutsInRow > 0 else { return }
    if cutsInRow > 1 { (cycleSince, goodInCycle) = (now, 0) }
    cutsInRow = 0
    regime?.since = now
  }

  /// 429 or 503, to a request that began at `start`. `isOdd`: the same request had it before, and others did well meanwhile.
  mutating func noteOverload(_ status: Int, isOdd: Bool, began start: Int64, at now: Int64) {
    if status == 503 {
      guard !isOdd else { return }
      unavailable = unavailable * 0.9 + 0.1
      guard unavailable > 0.35 else { return }
    }
    guard start >= cutAt else { return }
    cutsInRow == 0 ? slowDown(at: now) : waitLonger(status, at: now)
    cutAt = now
    notBefore = now &+ min(Int64(cutsInRow), Self.longestBreak) * Self.second
  }

  private mutating func slowDown(at now: Int64) {
    // Of one that has answered nothing else yet, nothing is known.
    guard cycleSince != .min else {
      regime = Regime(known: Self.free, base: Self.free, since: now, overloadedAt: now)
      cutsInRow = 1
      return
    }
    // Of one that has been asked for less than a second, what it did in that time.
    let isYoung = regime == nil && now &- cycleSince < Self.second
    let done = isYoung ? Double(goodInCycle) / Self.seconds(now &- cycleSince) : recent.perSecond(at: now)
    let measured = max(1, min(done, rate(at: now) ?? Self.free))
    regime = Regime(known: measured, base: measured / 2, since: now, overloadedAt: now)
    cutsInRow = 1
  }

  private mutating func waitLonger(_ status: Int, at now: Int64) {
    cutsInRow += 1
    regime?.overloadedAt = now
    guard status == 429, goodInCycle > 0, let known = regime?.known else { return }
    let inCycle = Double(goodInCycle) / max(1, Self.seconds(now &- cycleSince))
    regime?.known = max(1, min(known, inCycle))
    regime?.base = max(1, min(known, inCycle)) / 2
  }

  private static func seconds(_ nanoseconds: Int64) -> Double { max(0, Double(nanoseconds) / 1e9) }
}

/// How many of something there were in the last second, to a twentieth of it.
struct RecentCount {
  private static let parts = 20
  private static let part: Int64 = 50_000_000

  /// By the time, in parts of a second; the last `parts` of them. Empty until there is something to count.
  private var counts: [Int] = []
  private var last: Int64 = -1
  private var sum = 0

  mutating func add(at now: Int64) {
    turn(to: max(0, now) / Self.part)
    counts[place(last)] += 1
    sum += 1
  }

  mutating func perSecond(at now: Int64) -> Double {
    turn(to: max(0, now) / Self.part)
    return Double(sum)
  }

  private func place(_ part: Int64) -> Int { Int(part % Int64(Self.parts)) }

  private mutating func turn(to part: Int64) {
    guard part > last else { return }
    if counts.isEmpty { counts = [Int](repeating: 0, count: Self.parts) }
    var passed = max(part - Int64(Self.parts) + 1, last < 0 ? 0 : last + 1)
    while passed <= part {
      sum -= counts[place(passed)]
      counts[place(passed)] = 0
      passed += 1
    }
    last = part
  }
}
