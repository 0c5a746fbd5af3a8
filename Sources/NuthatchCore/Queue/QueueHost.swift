import NuthatchBase
import NuthatchHTTP

/// What the queue knows of one origin: what waits for it, what runs there, and what keeps it from running
/// more.
final class QueueHost {
  let origin: Origin
  let number: UInt32
  let isLoopback: Bool

  private(set) var pool: PlacePool
  private(set) var foreground: HostQueue?
  private(set) var background: HostQueue?
  /// Entries in any state but gone.
  var entries = 0
  /// That of its entry that came last.
  var lastArrival: UInt64 = 0
  private(set) var counts = PlaceCounts()
  var isProbing = false
  /// How many of its requests have been put off.
  private(set) var putOff = 0
  /// How many ran when the first that waits for its head began to lend its place.
  private var runningBeforeLending = 0
  var speaksHTTP2 = false
  private(set) var pausedUntil: Int64 = .min
  /// When the pause began that `pausedUntil` is the end of, and how long those before it took together.
  private var pausedSince: Int64 = 0
  private var pausedBefore: Int64 = 0
  private(set) var pauseStatus = 503
  var rate = StartRate()
  /// nil before it has answered: hosts that only wait take no memory for it.
  private var measured: HostMeasures?
  var circuit = Circuit()
  /// nil while it answers.
  private(set) var trouble: HostTrouble?
  private(set) var lastGoodAnswer: Int64?
  var latency = HostLatency()

  fileprivate var positionByWake: Int32 = -1
  fileprivate var positionByIdleness: Int32 = -1

  init(_ origin: Origin, number: UInt32, _ places: QueuePlaces) {
    self.origin = origin
    self.number = number
    isLoopback = origin.isLoopback
    pool = places.pool(isLoopback: isLoopback)
  }

  /// So many entries can go behind the last one of their host before they are behind the next one of the queue.
  static let arrivalsBetween: UInt64 = 1 << 16

  /// The arrival of an entry that goes behind all that are here, and not behind those of other hosts that come later: a host that
  /// was away is asked again in good time, however many wait for others.
  func nextArrivalBehind() -> UInt64 {
    lastArrival += 1
    return lastArrival
  }

  /// Whether another of its entries may start.
  enum Gate: Equatable {
    case open
    /// Until something of it ends.
    case shut
    case until(Int64)
  }

  func gate(at now: Int64, _ settings: QueueSettings) -> Gate {
    guard running < limit(settings) else { return .shut }
    let allowed = max(
      pausedUntil, measured?.pace.notBefore ?? .min, rate.allowed(startRate(at: now, settings)))
    if allowed > now { return .until(allowed) }
    switch circuit.state(at: now) {
    case .closed: return .open
    case .halfOpen: return isProbing ? .shut : .open
    case .open(let until): return .until(until)
    }
  }

  /// Starts a second: what the program allows, and no more than the host bears.
  func startRate(at now: Int64, _ settings: QueueSettings) -> Double? {
    guard let paced = measured?.pace.rate(at: now) else { return settings.rate }
    return min(paced, settings.rate ?? .infinity)
  }

  func noteTrouble(_ cause: HostTrouble.Cause, of entry: QueueEntry) {
    var trouble =
      self.trouble ?? HostTrouble(since: max(entry.since, lastGoodAnswer ?? .min), cause: cause)
    trouble.cause = cause
    if entry.trouble != trouble.since { trouble.requests += 1 }
    entry.trouble = trouble.since
    self.trouble = trouble
  }

  func noteGoodAnswer(at now: Int64) {
    trouble = nil
    lastGoodAnswer = now
  }

  func notePutOff() { putOff += 1 }

  /// Whether an entry would wait in vain: it waits for `patience` nanoseconds, which are over, or will be before the host's
  /// pause is.
  func isGivenUp(by entry: QueueEntry, at now: Int64) -> Bool {
    guard let trouble, trouble.outlasts(entry.patience, at: max(now, pausedUntil)) else { return false }
    return trouble.isOfHost || pausedUntil > now || entry.trouble == trouble.since
  }

  /// When the first of those that wait has waited long enough; nil while there is no trouble.
  var givenUpAt: Int64? {
    guard let trouble, let least = leastPatience else { return nil }
    return trouble.since &+ least
  }

  /// When it is tried for the last time before that.
  var lastTry: Int64? {
    guard let end = givenUpAt, let least = leastPatience else { return nil }
    return HostTrouble.lastTry(before: end, patience: least)
  }

  /// Of those that have been queued since none was.
  private var leastPatience: Int64?

  func noteQueued(_ entry: QueueEntry) {
    if !hasQueued { leastPatience = nil }
    if entry.patience > 0 { leastPatience = min(entry.patience, leastPatience ?? .max) }
    lane(isBackground: entry.isBackground).add(entry)
  }

  /// A shorter pause takes nothing back.
  func pause(until end: Int64, at now: Int64, status: Int) {
    guard end > max(pausedUntil, now) else { return }
    pauseStatus = status
    if pausedUntil <= now {
      pausedBefore = pausedTime(at: now)
      pausedSince = now
    }
    pausedUntil = end
  }

  /// For how long it has been paused in all.
  func pausedTime(at now: Int64) -> Int64 { pausedBefore + max(0, min(now, pausedUntil) - pausedSince) }

  func limit(_ settings: QueueSettings) -> Int {
    max(1, speaksHTTP2 ? settings.streams : measured?.limit?.value ?? settings.perHost)
  }

  /// Notes a good answer to an entry of a batch, for a limit that grows.
  func noteBorne(_ entry: QueueEntry, isCalm: Bool, _ settings: QueueSettings, at now: Int64) {
    guard settings.perHostGrows, entry.isBatched else { return }
    var limit = measures.limit ?? HostLimit(settings.perHost)
    limit.noteGood(isCalm: isCalm, isWanted: hasQueued, began: entry.since, at: now)
    measures.limit = limit
  }

  /// Notes a 429, 503 or reset. True when the host was asked for more at once than usual, so that this may be the reason.
  @discardableResult
  func noteUnborne(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) -> Bool {
    guard settings.perHostGrows, entry.isBatched else { return false }
    var limit = measures.limit ?? HostLimit(settings.perHost)
    let wasMore = limit.value(at: entry.since) > settings.perHost
    limit.noteTrouble(began: entry.since, at: now)
    measures.limit = limit
    return wasMore
  }

  /// The limit is as it was at the start.
  func forgetMeasuredLimit() { measured?.limit = nil }

  /// What has been found by measurement of how much it bears.
  var measures: HostMeasures {
    if let measured { return measured }
    let new = HostMeasures()
    measured = new
    return new
  }

  var hasQueued: Bool { foreground?.isEmpty == false || background?.isEmpty == false }

  /// Tells the pool which of its lanes could start something now.
  func offerLanes(_ isOpen: Bool) {
    if let foreground { isOpen ? pool.offer(foreground) : pool.withdraw(foreground) }
    if let background { isOpen ? pool.offer(background) : pool.withdraw(background) }
  }

  /// Takes those entries out that are queued and that `condition` names, in the order of their arrival.
  func takeAll(where condition: (QueueEntry) -> Bool) -> [QueueEntry] {
    let all = [foreground, background].compactMap { $0?.takeAll(where: condition) }
    leastPatience = [foreground, background].compactMap { $0?.leastPatience }.min()
    return all.joined().sorted { $0.arrival < $1.arrival }
  }

  var running: Int { counts.taken + counts.lent }

  private func count(_ number: Int, of entry: QueueEntry) {
    counts.add(number, of: entry)
    pool.count(number, of: entry)
  }

  func noteStart(of entry: QueueEntry) { count(1, of: entry) }

  func noteEnd(of entry: QueueEntry) {
    takeBack(of: entry)
    count(-1, of: entry)
  }

  func changeRunning(_ entry: QueueEntry, to priority: Int) {
    let isLending = entry.isLending
    noteEnd(of: entry)
    entry.setPriority(priority)
    noteStart(of: entry)
    if isLending { lend(of: entry, atMost: .max) }
  }

  /// Whether more of it would be started in places that it lends to others itself. A host that nothing comes from keeps the
  /// places that it had. A slow body may go on for hours, and its host has other bodies: they take part in the order, so
  /// that no more run at this host than there are places.
  var isHeld: Bool {
    counts.lent > counts.lentByBodies && running >= runningBeforeLending
      || counts.lentByBodies > 0 && running >= pool.size
  }

  /// Others may use the place of `entry`, but not to start more at this host; unless so many places are lent already.
  func lend(of entry: QueueEntry, atMost limit: Int) {
    guard pool.counts.lent < limit else { return }
    if counts.lent == counts.lentByBodies { runningBeforeLending = running }
    count(-1, of: entry)
    entry.isLending = true
    count(1, of: entry)
  }

  func takeBack(of entry: QueueEntry) {
    guard entry.isLending else { return }
    count(-1, of: entry)
    entry.isLending = false
    count(1, of: entry)
  }

  /// Takes part in another pool from now on, with all that runs.
  func move(to other: PlacePool) {
    guard other !== pool else { return }
    offerLanes(false)
    pool.move(counts, to: other)
    pool = other
  }

  /// The lane that an entry of this priority waits in.
  func lane(isBackground: Bool) -> HostQueue {
    if let lane = isBackground ? background : foreground { return lane }
    let lane = HostQueue(self, isBackground: isBackground)
    if isBackground { background = lane } else { foreground = lane }
    return lane
  }
}

/// How much a host bears, as far as that has been measured.
final class HostMeasures {
  var pace = Pace()
  /// nil where the limit doesn't grow.
  var limit: HostLimit?
}

enum HostsByWake: HeapOrder {
  static func position(of element: QueueHost) -> Int32 { element.positionByWake }
  static func setPosition(of element: QueueHost, to position: Int32) { element.positionByWake = position }
}

enum HostsByIdleness: HeapOrder {
  static func position(of element: QueueHost) -> Int32 { element.positionByIdleness }
  static func setPosition(of element: QueueHost, to position: Int32) { element.positionByIdleness = position }
}

/// The waiting entries of one host, above or below zero.
final class HostQueue {
  unowned let host: QueueHost
  let isBackground: Bool
  /// Among which of its pool's lanes it is.
  var isHeld = false
  private(set) var byRank = PositionedHeap<EntriesByRank>()
  private(set) var byAge = PositionedHeap<EntriesByAge>()
  private var share = Share()
  fileprivate var positionByRank: Int32 = -1
  fileprivate var positionByAge: Int32 = -1

  init(_ host: QueueHost, isBackground: Bool) {
    self.host = host
    self.isBackground = isBackground
  }

  var isEmpty: Bool { byRank.isEmpty }

  func add(_ entry: QueueEntry) {
    byRank.set(entry, key: entry.rank)
    byAge.set(entry, key: entry.arrival)
  }

  func remove(_ entry: QueueEntry) {
    byRank.remove(entry)
    byAge.remove(entry)
  }

  var bestRank: UInt64 { byRank.firstKey ?? .max }
  var oldestArrival: UInt64 { byAge.firstKey ?? .max }

  func takeAll(where condition: (QueueEntry) -> Bool) -> [QueueEntry] {
    let all = byAge.elements.filter(condition)
    for entry in all { remove(entry) }
    return all
  }

  /// Of those that wait for a host in trouble at all.
  var leastPatience: Int64? { byAge.elements.lazy.map(\.patience).filter { $0 > 0 }.min() }

  /// Whose turn it is: the highest in rank, but of eight the oldest once, when it has waited too long.
  func takeNext(oldest: Bool, waitingSince limit: Int64) -> QueueEntry? {
    let isOldest = share.isDue(byAge.first, waitingSince: limit) || oldest
    guard let entry = isOldest ? byAge.first : byRank.first else { return nil }
    remove(entry)
    return entry
  }
}

enum LanesByRank: HeapOrder {
  static func position(of element: HostQueue) -> Int32 { element.positionByRank }
  static func setPosition(of element: HostQueue, to position: Int32) { element.positionByRank = position }
}

enum LanesByAge: HeapOrder {
  static func position(of element: HostQueue) -> Int32 { element.positionByAge }
  static func setPosition(of element: HostQueue, to position: Int32) { element.positionByAge = position }
}

/// One turn in eight belongs to whoever has waited longer than patience lasts.
struct Share {
  private var others = 0

  mutating func isDue(_ oldest: QueueEntry?, waitingSince limit: Int64) -> Bool {
    guard let oldest, oldest.since <= limit else {
      others = min(others + 1, 7)
      return false
    }
    guard others >= 7 else {
      others += 1
      return false
    }
    others = 0
    return true
  }
}
