import NuthatchBase
import NuthatchHTTP

/// The queue's state of one origin: the entries that wait, the requests that run, and the limits that hold.
final class QueueHost {
  let origin: Origin
  let number: UInt32
  let isLoopback: Bool

  private(set) var pool: PlacePool
  private(set) var foreground: HostQueue?
  private(set) var background: HostQueue?
  /// The number of entries that are not gone.
  var entryCount = 0
  /// The arrival of its latest entry.
  var lastArrival: UInt64 = 0
  private(set) var counts = PlaceCounts()
  var isProbing = false
  /// The number of its requests that were put off.
  private(set) var putOffCount = 0
  /// How many of its requests ran when the first place was lent for another reason than a slow body (see `isHeld`).
  private var runningBeforeLending = 0
  var speaksHTTP2 = false
  private(set) var pausedUntil: Int64 = .min
  /// The start of the current pause.
  private var pausedSince: Int64 = 0
  /// The total time of earlier pauses.
  private var pausedBefore: Int64 = 0
  private(set) var pauseStatus = 503
  var rate = StartRate()
  /// Nil until something is measured, to save memory for hosts that only wait.
  private var measured: HostMeasures?
  var circuit = Circuit()
  /// Nil while the host answers well.
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

  /// The distance between the arrivals of two submitted entries. The numbers in between are for entries that `goBehind` moves.
  static let arrivalsBetween: UInt64 = 1 << 16

  /// Returns the arrival for an entry that goes behind all present entries of this host. It is before the entries that were
  /// submitted later for other hosts, so that a host that was unreachable is tried again soon.
  func nextArrivalBehind() -> UInt64 {
    lastArrival += 1
    return lastArrival
  }

  /// Whether the host may start another entry.
  enum Gate: Equatable {
    case open
    /// The host may start nothing until one of its requests ends.
    case shut
    case until(Int64)
  }

  func gate(at now: Int64, _ settings: QueueSettings) -> Gate {
    guard running < limit(settings) else { return .shut }
    let allowed = max(pausedUntil, breakEnd, rate.allowed(startRate(at: now, settings)))
    if allowed > now { return .until(allowed) }
    switch circuit.state(at: now) {
    case .closed: return .open
    case .halfOpen: return isProbing ? .shut : .open
    case .open(let until): return .until(until)
    }
  }

  /// Whether only some of its pages may answer 503.
  var mayHaveOddPages: Bool { measured?.pace.mayHaveOddPages == true }

  /// The end of the break after a 429 or 503.
  var breakEnd: Int64 { measured?.pace.notBefore ?? .min }

  /// Returns the allowed starts a second: the program's limit or the host's measured rate, whichever is lower. Nil: no limit.
  func startRate(at now: Int64, _ settings: QueueSettings) -> Double? {
    let rate = settings.rate(of: origin)
    guard let paced = measured?.pace.rate(at: now) else { return rate }
    return min(paced, rate ?? .infinity)
  }

  func noteTrouble(_ cause: HostTrouble.Cause, of entry: QueueEntry, at now: Int64) {
    var trouble =
      self.trouble
      ?? HostTrouble(
        since: max(entry.since, lastGoodAnswer ?? .min), isOfBodies: entry.isAnswered && cause.isFault,
        cause: cause)
    trouble.cause = cause
    if entry.troubleSince != trouble.since {
      trouble.requests += 1
      if trouble.outlasts(entry.patience, at: now) { trouble.lateRequests += 1 }
    }
    entry.troubleSince = trouble.since
    self.trouble = trouble
  }

  /// Notes the head of a good answer.
  ///
  /// - Returns: whether it ends the host's trouble.
  func noteGoodAnswer(at now: Int64) -> Bool {
    lastGoodAnswer = now
    guard let trouble, !trouble.isOfBodies else { return false }
    // An answer during a pause belongs to an earlier request. It doesn't end the pause.
    self.trouble = pausedUntil > now ? HostTrouble(since: now, isOfBodies: false, cause: trouble.cause) : nil
    return true
  }

  /// Notes that a whole answer has come.
  ///
  /// - Returns: whether it ends the host's trouble.
  func noteWholeAnswer() -> Bool {
    guard trouble?.isOfBodies == true else { return false }
    trouble = nil
    return true
  }

  func notePutOff() { putOffCount += 1 }

  /// Returns whether `entry` must not wait any longer: the trouble has lasted for its `patience`, or will have at the end of
  /// the host's pause. Trouble of some pages counts only during a pause, or if the entry has met it.
  func isGivenUp(by entry: QueueEntry, at now: Int64) -> Bool {
    guard let trouble, trouble.outlasts(entry.patience, at: max(now, pausedUntil)) else { return false }
    return trouble.isOfHost || pausedUntil > now || entry.troubleSince == trouble.since
  }

  /// The time when the least patient waiting entry gives up. Nil if there is no trouble, or no entry has patience.
  var givenUpAt: Int64? {
    guard let trouble, let least = leastPatience else { return nil }
    return trouble.since &+ least
  }

  /// The time of the last try before `givenUpAt`.
  var lastTry: Int64? {
    guard let end = givenUpAt, let least = leastPatience else { return nil }
    return HostTrouble.lastTry(before: end, patience: least)
  }

  /// The smallest patience of the entries that were queued since the queue was last empty.
  private var leastPatience: Int64?

  func noteQueued(_ entry: QueueEntry) {
    if !hasQueued { leastPatience = nil }
    if entry.patience > 0 { leastPatience = min(entry.patience, leastPatience ?? .max) }
    queue(isBackground: entry.isBackground).add(entry)
  }

  /// Pauses the host. A shorter pause doesn't shorten a longer one.
  func pause(until end: Int64, at now: Int64, status: Int) {
    guard end > max(pausedUntil, now) else { return }
    pauseStatus = status
    if pausedUntil <= now {
      pausedBefore = pausedTime(at: now)
      pausedSince = now
    }
    pausedUntil = end
  }

  /// Returns how long the host has been paused in all.
  func pausedTime(at now: Int64) -> Int64 { pausedBefore + max(0, min(now, pausedUntil) - pausedSince) }

  func limit(_ settings: QueueSettings) -> Int {
    max(1, speaksHTTP2 ? settings.streams : measured?.limit?.value ?? settings.perHost)
  }

  /// Notes a good answer to an entry of a batch, for a limit that grows.
  func noteHandled(_ entry: QueueEntry, isCalm: Bool, _ settings: QueueSettings, at now: Int64) {
    guard settings.perHostGrows, entry.isBatched else { return }
    var limit = measures.limit ?? HostLimit(settings.perHost)
    limit.noteGood(isCalm: isCalm, isWanted: hasQueued, began: entry.since, at: now)
    measures.limit = limit
  }

  /// Notes a 429, 503 or reset. Returns true if the host's limit was higher than usual when the request began, which may be the
  /// reason.
  @discardableResult
  func noteOverload(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) -> Bool {
    guard settings.perHostGrows, entry.isBatched else { return false }
    var limit = measures.limit ?? HostLimit(settings.perHost)
    let wasMore = limit.value(at: entry.since) > settings.perHost
    limit.noteTrouble(began: entry.since, at: now)
    measures.limit = limit
    return wasMore
  }

  /// Resets the limit to its start value.
  func forgetMeasuredLimit() { measured?.limit = nil }

  /// The measured limits of the host, made on first use.
  var measures: HostMeasures {
    if let measured { return measured }
    let new = HostMeasures()
    measured = new
    return new
  }

  var hasQueued: Bool { foreground?.isEmpty == false || background?.isEmpty == false }

  /// Tells the pool whether this host may start a request now.
  func offerQueues(_ isOpen: Bool) {
    if let foreground { isOpen ? pool.offer(foreground) : pool.withdraw(foreground) }
    if let background { isOpen ? pool.offer(background) : pool.withdraw(background) }
  }

  /// Removes and returns the waiting entries that meet `condition`, in the order of arrival.
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

  /// Whether the host gets another place only if one would be free without lending (`PlacePool.hasRoomForHeld`). A host that
  /// sends nothing keeps the number of places that it had. A host with slow bodies may run at most as many requests as there
  /// are places: a slow body may go on for hours, and other bodies of that host may be fast.
  var isHeld: Bool {
    counts.lent > counts.lentForSlowBodies && running >= runningBeforeLending
      || counts.lentForSlowBodies > 0 && running >= pool.size
  }

  /// Lends the place of `entry` to other hosts, unless the pool has lent `limit` places already.
  func lend(of entry: QueueEntry, atMost limit: Int) {
    guard pool.counts.lent < limit else { return }
    if counts.lent == counts.lentForSlowBodies { runningBeforeLending = running }
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

  /// Moves the host to another pool, with all its running requests.
  func move(to other: PlacePool) {
    guard other !== pool else { return }
    offerQueues(false)
    pool.move(counts, to: other)
    pool = other
  }

  /// Returns the queue for background entries, or that for the others.
  func queue(isBackground: Bool) -> HostQueue {
    if let queue = isBackground ? background : foreground { return queue }
    let queue = HostQueue(self, isBackground: isBackground)
    if isBackground { background = queue } else { foreground = queue }
    return queue
  }
}

/// The measured limits of a host.
final class HostMeasures {
  var pace = Pace()
  /// Nil if the limit doesn't grow.
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

/// The waiting entries of one host: those of priority below zero, or the others.
final class HostQueue {
  unowned let host: QueueHost
  let isBackground: Bool
  /// Whether it is in `PlacePool.heldForeground` or `heldBackground`.
  var isHeld = false
  private(set) var byRank = PositionedHeap<EntriesByRank>()
  private(set) var byAge = PositionedHeap<EntriesByAge>()
  private var starvationGuard = StarvationGuard()
  private var turn: UInt32 = 0
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

  /// The smallest patience of the entries that wait for a host in trouble. Nil if there are none.
  var leastPatience: Int64? { byAge.elements.lazy.map(\.patience).filter { $0 > 0 }.min() }

  /// Removes and returns the entry whose turn it is: the first by `rank`, or the oldest if `StarvationGuard` or the caller says
  /// so. If only some pages of the host may fail, two of three times it is one from elsewhere: those pages may stand side by
  /// side. While good answers come, one of these has failed before: does it fail again?
  func takeNext(oldest: Bool, waitingSince limit: Int64) -> QueueEntry? {
    let isOldest = starvationGuard.isDue(byAge.first, waitingSince: limit) || oldest
    guard let first = isOldest ? byAge.first : byRank.first else { return nil }
    let entry = host.mayHaveOddPages ? otherEntry(than: first) ?? first : first
    remove(entry)
    return entry
  }

  private func otherEntry(than first: QueueEntry) -> QueueEntry? {
    turn &+= 1
    guard turn % 3 > 0 else { return nil }
    let hasFailed = turn % 3 == 2 && host.trouble == nil
    return byAge.search(shift: Int(turn)) {
      ($0.troubleSince != .min) == hasFailed && $0.priority >= first.priority
    }
  }
}

enum QueuesByRank: HeapOrder {
  static func position(of element: HostQueue) -> Int32 { element.positionByRank }
  static func setPosition(of element: HostQueue, to position: Int32) { element.positionByRank = position }
}

enum QueuesByAge: HeapOrder {
  static func position(of element: HostQueue) -> Int32 { element.positionByAge }
  static func setPosition(of element: HostQueue, to position: Int32) { element.positionByAge = position }
}

/// Prevents starvation: one start in eight goes to the oldest entry, if it has waited since `limit` or longer.
struct StarvationGuard {
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
