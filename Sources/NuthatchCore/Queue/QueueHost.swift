import NuthatchHTTP

/// What the queue knows of one origin: what waits for it, what runs there, and what keeps it from running
/// more.
final class QueueHost {
  let origin: Origin
  let number: UInt32
  let isLoopback: Bool

  private(set) var pool: PlacePool
  private(set) var foreground: QueueLane?
  private(set) var background: QueueLane?
  /// Entries in any state but gone.
  var entries = 0
  private(set) var running = 0
  private var runningBackground = 0
  var isProbing = false
  private var lending = 0
  private var lendingBackground = 0
  /// How many of them have their head, and a slow body.
  private(set) var lendingBodies = 0
  /// How many ran when the first that waits for its head began to lend its place.
  private var runningBeforeLending = 0
  var speaksHTTP2 = false
  private(set) var pausedUntil: Int64 = .min
  /// When the pause began that `pausedUntil` is the end of, and how long those before it took together.
  private var pausedSince: Int64 = 0
  private var pausedBefore: Int64 = 0
  var rate = StartRate()
  var circuit = Circuit()
  var latency = HostLatency()

  fileprivate var positionByWake: Int32 = -1
  fileprivate var positionByIdleness: Int32 = -1

  init(_ origin: Origin, number: UInt32, isLoopback: Bool, pool: PlacePool) {
    self.origin = origin
    self.number = number
    self.isLoopback = isLoopback
    self.pool = pool
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
    let allowed = max(pausedUntil, rate.allowed(settings.rate))
    if allowed > now { return .until(allowed) }
    switch circuit.state(at: now) {
    case .closed: return .open
    case .halfOpen: return isProbing ? .shut : .open
    case .open(let until): return .until(until)
    }
  }

  /// A shorter pause takes nothing back.
  func pause(until end: Int64, at now: Int64) {
    guard end > max(pausedUntil, now) else { return }
    if pausedUntil <= now {
      pausedBefore = pausedTime(at: now)
      pausedSince = now
    }
    pausedUntil = end
  }

  /// For how long it has been paused in all.
  func pausedTime(at now: Int64) -> Int64 { pausedBefore + max(0, min(now, pausedUntil) - pausedSince) }

  func limit(_ settings: QueueSettings) -> Int {
    max(1, speaksHTTP2 ? settings.streams : settings.perHost)
  }

  var hasQueued: Bool { foreground?.isEmpty == false || background?.isEmpty == false }

  /// Tells the pool which of its lanes could start something now.
  func offerLanes(_ isOpen: Bool) {
    if let foreground { isOpen ? pool.offer(foreground) : pool.withdraw(foreground) }
    if let background { isOpen ? pool.offer(background) : pool.withdraw(background) }
  }

  /// Takes all entries out that are queued, in the order of their arrival.
  func takeAll() -> [QueueEntry] {
    let all = (foreground?.takeAll() ?? []) + (background?.takeAll() ?? [])
    return all.sorted { $0.arrival < $1.arrival }
  }

  func noteStart(of entry: QueueEntry) {
    running += 1
    if entry.isBackground { runningBackground += 1 }
    pool.noteStart(isBackground: entry.isBackground)
  }

  func noteEnd(of entry: QueueEntry) {
    takeBack(of: entry)
    running -= 1
    if entry.isBackground { runningBackground -= 1 }
    pool.noteEnd(isBackground: entry.isBackground)
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
    lending > lendingBodies && running >= runningBeforeLending || lendingBodies > 0 && running >= pool.size
  }

  /// Others may use the place of `entry`, but not to start more at this host; unless so many places are lent already.
  func lend(of entry: QueueEntry, atMost limit: Int) {
    guard pool.lend(isBackground: entry.isBackground, isBody: entry.isAnswered, atMost: limit) else { return }
    if lending == lendingBodies { runningBeforeLending = running }
    lending += 1
    if entry.isAnswered { lendingBodies += 1 }
    if entry.isBackground { lendingBackground += 1 }
    entry.isLending = true
  }

  func takeBack(of entry: QueueEntry) {
    guard entry.isLending else { return }
    entry.isLending = false
    lending -= 1
    if entry.isAnswered { lendingBodies -= 1 }
    if entry.isBackground { lendingBackground -= 1 }
    pool.takeBack(isBackground: entry.isBackground, isBody: entry.isAnswered)
  }

  /// Takes part in another pool from now on, with all that runs.
  func move(to other: PlacePool) {
    guard other !== pool else { return }
    offerLanes(false)
    let background = runningBackground - lendingBackground
    let counts = [(background, true), (running - lending - background, false)]
    for (count, isBackground) in counts {
      for _ in 0..<count {
        pool.noteEnd(isBackground: isBackground)
        other.noteStart(isBackground: isBackground)
      }
    }
    pool.moveLent(lending, bodies: lendingBodies, to: other)
    pool = other
  }

  /// The lane that an entry of this priority waits in.
  func lane(isBackground: Bool) -> QueueLane {
    if let lane = isBackground ? background : foreground { return lane }
    let lane = QueueLane(self, isBackground: isBackground)
    if isBackground { background = lane } else { foreground = lane }
    return lane
  }
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
final class QueueLane {
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

  func takeAll() -> [QueueEntry] {
    let all = byAge.elements
    for entry in all { remove(entry) }
    return all
  }

  /// Whose turn it is: the highest in rank, but of eight the oldest once, when it has waited too long.
  func takeNext(oldest: Bool, waitingSince limit: Int64) -> QueueEntry? {
    let isOldest = share.isDue(byAge.first, waitingSince: limit) || oldest
    guard let entry = isOldest ? byAge.first : byRank.first else { return nil }
    remove(entry)
    return entry
  }
}

enum LanesByRank: HeapOrder {
  static func position(of element: QueueLane) -> Int32 { element.positionByRank }
  static func setPosition(of element: QueueLane, to position: Int32) { element.positionByRank = position }
}

enum LanesByAge: HeapOrder {
  static func position(of element: QueueLane) -> Int32 { element.positionByAge }
  static func setPosition(of element: QueueLane, to position: Int32) { element.positionByAge = position }
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
