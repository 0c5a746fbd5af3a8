import NuthatchBase
import NuthatchHTTP
import NuthatchTransport
import Synchronization

/// The process's one queue: who may send a request, and when.
///
/// A deterministic machine without a thread, a lock or a clock: everything is called on the loop's thread and
/// is told `now` (nanoseconds of the monotonic clock). Only `activity`, `isFull`, `paused` and `away` may be
/// read by any thread, hence Sendable.
///
/// How the pipeline uses it, for every exchange with a server (each redirect hop and each attempt is one,
/// under the host that it goes to):
///
/// 1. `submit` gives an entry. The queue calls `begin` on the work, now or later, or `refused` when the
///    host's circuit is open and the entry has no patience. Time spent waiting costs the request nothing: its time-outs start in `begin`.
///    An entry with `patience` waits for a host in trouble, and is refused when that has lasted so long.
/// 2. When the head comes: `answered`, with the time to the first byte; after the first one of an HTTP/2
///    connection `noteProtocol`; for 429 and 503 with `Retry-After` `pause`.
/// 3. When the exchange is over, whatever the end: `finished`, exactly once for every `begin`. With `retryAt`
///    the same entry waits again, keeps its place by arrival, and `begin` comes again.
/// 4. A request that is cancelled while it waits: `remove`. While it runs: abort the transfer, then
///    `finished` with `.abandoned`. (`remove` on a running entry does the same.)
///
/// `wake` asks for a call of `tick` at a time, at the latest; asking again for an earlier time doesn't
/// withdraw the first. `activityChanged` says that there is something to do again, or nothing any more.
///
/// Order: priority, then arrival, over all hosts that may start something; a host that is at its limit,
/// paused, spaced by `rate` or dead isn't looked at. So that nothing starves, one start in eight goes to the
/// oldest entry, if that one has waited longer than `settings.patience`: among all hosts, within each host, and
/// between work below and above zero.
final class FetchQueue: @unchecked Sendable {
  private(set) var settings: QueueSettings
  private(set) var link: LinkKind
  let wake: (Int64) -> Void
  let activityChanged: (Bool) -> Void
  let count = Atomic<Int>(0)
  /// Whether something waits for nothing but a place. Any thread may ask.
  let isFull = Atomic<Bool>(false)
  /// Any thread may ask.
  let paused = PausedHosts()
  /// Any thread may ask.
  let away = AwayHosts()

  /// Those with entries, and idle ones that something is remembered of.
  var hosts: [Origin: QueueHost] = [:]
  var idleHosts = PositionedHeap<HostsByIdleness>()
  var lastHost: UInt32 = 0
  var lastIdle: UInt64 = 0
  /// Hosts that wait for a time, by that time.
  var wakingHosts = PositionedHeap<HostsByWake>()
  /// Entries that wait for a time, by that time.
  var delayed = PositionedHeap<EntriesByAge>()
  /// Running entries of which something moves, or should, by the time when the queue looks how much that was.
  var watched = PositionedHeap<EntriesByAge>()
  var refusals: [QueueEntry] = []
  /// How many running entries lend their place because their host's name is being looked up.
  private(set) var lookingUp = 0

  let linkPlaces: PlacePool
  let loopbackPlaces: PlacePool

  var lastArrival: UInt64 = 0
  var isPumping = false
  var wasActive = false
  var wakeAt: Int64 = .max

  init(
    _ settings: QueueSettings = QueueSettings(), link: LinkKind = .unknown,
    wake: @escaping (Int64) -> Void, activityChanged: @escaping (Bool) -> Void = { _ in }
  ) {
    self.settings = settings
    self.link = link
    self.wake = wake
    self.activityChanged = activityChanged
    linkPlaces = PlacePool(AutomaticSize(link.sizes, most: 1))
    loopbackPlaces = PlacePool(AutomaticSize(LinkKind.none.sizes, most: 1))
    resize(anew: true)
  }

  /// Queued and running entries. Any thread may ask.
  var activity: Int { count.load(ordering: .relaxed) }
}

// MARK: - Entries

extension FetchQueue {
  /// Queues `work` for `origin`, not to begin before `notBefore`.
  @discardableResult
  func submit(
    _ work: any QueuedWork, to origin: Origin, priority: Int = 0, patience: Int64 = 0,
    isBatched: Bool = false,
    mayBePutOff: Bool = false, notBefore: Int64? = nil, now: Int64
  ) -> QueueEntry {
    lastArrival += QueueHost.arrivalsBetween
    let host = host(origin)
    host.lastArrival = lastArrival
    let entry = QueueEntry(
      work, host, priority: priority, arrival: lastArrival, patience: patience, isBatched: isBatched,
      mayBePutOff: mayBePutOff, at: now)
    host.entries += 1
    count.add(1, ordering: .relaxed)
    enqueue(entry, notBefore: notBefore, now: now)
    pump(now)
    return entry
  }

  /// Changes the priority (-10…10) of an entry that waits or runs; its arrival stays what it was.
  func setPriority(_ priority: Int, of entry: QueueEntry, now: Int64) {
    let host = entry.state == .gone ? nil : entry.host
    switch entry.state {
    case .queued:
      guard let host else { return }
      host.lane(isBackground: entry.isBackground).remove(entry)
      entry.setPriority(priority)
      host.lane(isBackground: entry.isBackground).add(entry)
      refresh(host, now)
    case .running:
      host?.changeRunning(entry, to: priority)
    case .delayed, .refused:
      entry.setPriority(priority)
    case .gone:
      return
    }
    pump(now)
  }

  /// Takes an entry out; nothing happens when it is gone already. A running one frees its place.
  func remove(_ entry: QueueEntry, now: Int64) {
    switch entry.state {
    case .delayed:
      delayed.remove(entry)
    case .queued:
      entry.host.lane(isBackground: entry.isBackground).remove(entry)
      refresh(entry.host, now)
    case .running:
      return finished(entry, .abandoned, now: now)
    case .refused:
      break
    case .gone:
      return
    }
    forget(entry)
    pump(now)
  }

  /// Before anything can be sent, the host's name has to be looked up: others may have the place meanwhile, whatever the
  /// size is, because nothing goes over the link.
  func waitsForName(_ entry: QueueEntry, now: Int64) {
    guard entry.state == .running, !entry.isLending else { return }
    entry.host.lend(of: entry, atMost: FetchQueue.lookingUpAtOnce)
    guard entry.isLending else { return }
    entry.isLookingUp = true
    lookingUp += 1
    watched.remove(entry)
    refresh(entry.host, now)
    pump(now)
  }

  /// The name is known. False when all places are taken: then the entry is to be `finished`, and to wait again.
  func nameIsKnown(_ entry: QueueEntry, now: Int64) -> Bool {
    noteLookedUp(entry)
    guard entry.state == .running, entry.isLending else { return true }
    guard entry.host.pool.hasRoom(isBackground: entry.isBackground) else { return false }
    entry.host.takeBack(of: entry)
    watch(entry, now)
    refresh(entry.host, now)
    pump(now)
    return true
  }

  private func noteLookedUp(_ entry: QueueEntry) {
    if entry.isLookingUp { lookingUp -= 1 }
    entry.isLookingUp = false
  }

  /// So many bytes of a body have been sent or have come. One that lent its place has it back when it is fast again.
  func moved(_ entry: QueueEntry, _ bytes: Int, now: Int64) {
    guard entry.state == .running else { return }
    entry.noteMoved(bytes)
    guard entry.isLending else { return }
    guard entry.moved >= settings.leastBytes else {
      if !watched.contains(entry) { watched.set(entry, key: key(now &+ settings.lendAfter)) }
      return
    }
    entry.host.takeBack(of: entry)
    watch(entry, now)
    refresh(entry.host, now)
    pump(now)
  }

  /// The head has come, `firstByte` nanoseconds after the request was sent (nil when that says nothing about
  /// the link, as for uploads). `overload`: it says that the host has too much to do.
  func answered(_ entry: QueueEntry, firstByte: Int64?, overload: Overload? = nil, now: Int64) {
    guard entry.state == .running else { return }
    let host = entry.host
    host.takeBack(of: entry)
    entry.isAnswered = true
    watch(entry, now)
    entry.endProbe()
    host.circuit.noteAnswer()
    learn(overload, from: entry, now)
    var judgement = HostLatency.Judgement.unknown
    if let firstByte {
      judgement = host.latency.note(firstByte, at: now)
      host.pool.automatic.noteAnswer(host: host.number, judgement, began: entry.since, at: now)
      resize(now)
    }
    if overload == nil {
      host.noteBorne(entry, isCalm: judgement == .calm || judgement == .unknown, settings, at: now)
    }
    refresh(host, now)
    pump(now)
  }

  /// The place is free again. With `retryAt` the entry goes back into the queue until then at least. `fault` is what ended it.
  func finished(
    _ entry: QueueEntry, _ outcome: ExchangeOutcome, _ fault: TransportFault? = nil, retryAt: Int64? = nil,
    now: Int64
  ) {
    guard entry.state == .running else { return }
    let host = entry.host
    noteLookedUp(entry)
    watched.remove(entry)
    host.noteEnd(of: entry)
    if outcome == .unused { host.rate.takeBack(host.startRate(at: now, settings)) }
    learn(outcome, fault, from: entry, now)
    entry.endProbe()
    if let retryAt {
      entry.since = now
      if entry.patience > 0 { entry.goBehind(host.nextArrivalBehind()) }
      enqueue(entry, notBefore: retryAt, now: now)
    } else {
      forget(entry)
    }
    refresh(host, now)
    pump(now)
  }
}

// MARK: - Hosts, link, time

extension FetchQueue {
  /// What the host speaks decides how much it may have at once.
  func noteProtocol(_ origin: Origin, isHTTP2: Bool, now: Int64) {
    guard let host = hosts[origin], host.speaksHTTP2 != isHTTP2 else { return }
    host.speaksHTTP2 = isHTTP2
    refresh(host, now)
    pump(now)
  }

  /// Starts nothing at this host before `until`, at most `longestPause` from now, because its answer of `status` says so. A
  /// shorter pause takes nothing back.
  func pause(_ origin: Origin, until: Int64, status: Int = 503, now: Int64) {
    let host = host(origin)
    let end = min(until, now &+ settings.longestPause)
    host.pause(until: end, at: now, status: status)
    refuseGivenUp(at: host, now)
    paused.note(origin, until: end, now: now)
    refresh(host, now)
    retire(host)
    pump(now)
  }

  /// For how long this host has been paused in all, and for how long it still is, in nanoseconds; and because of which status.
  func pauses(of origin: Origin, now: Int64) -> (past: Int64, left: Int64, status: Int) {
    guard let host = hosts[origin] else { return (0, 0, 503) }
    return (host.pausedTime(at: now), max(now, host.pausedUntil) - now, host.pauseStatus)
  }

  /// Whether a host may answer yet what it couldn't answer now: it has answered before, or nothing is sent to it at the moment.
  func mayComeBack(_ entry: QueueEntry, now: Int64) -> Bool {
    guard entry.state != .gone else { return false }
    return entry.host.lastGoodAnswer != nil || entry.isProbe || entry.host.circuit.state(at: now) != .closed
  }

  /// The default route goes another way, or is back: the automatic size begins anew, what was measured is
  /// forgotten, and every open circuit lets its probe through.
  func linkChanged(to link: LinkKind, now: Int64) {
    self.link = link
    resize(anew: true)
    for host in hosts.values {
      host.latency = HostLatency()
      host.circuit.halfOpen(at: now)
      refresh(host, now)
    }
    pump(now)
  }

  /// An address or a route came or went: every open circuit lets its probe through.
  func networkChanged(now: Int64) {
    for host in hosts.values {
      host.circuit.halfOpen(at: now)
      refresh(host, now)
    }
    pump(now)
  }

  /// A connection to a host could be made: its circuit lets a probe through.
  func noteReachable(_ origin: Origin, now: Int64) {
    guard let host = hosts[origin] else { return }
    host.circuit.halfOpen(at: now)
    refresh(host, now)
    pump(now)
  }

  /// New settings take effect at once; what runs already runs on.
  func change(_ settings: QueueSettings, now: Int64) {
    let old = self.settings
    self.settings = settings
    resize(anew: old.concurrency != settings.concurrency || old.mostAtOnce != settings.mostAtOnce)
    for host in hosts.values {
      host.forgetMeasuredLimit()
      host.move(to: pool(isLoopback: host.isLoopback))
      refresh(host, now)
    }
    pump(now)
  }

  /// To be called at the times that `wake` asked for; at others it does no harm.
  func tick(now: Int64) {
    wakeAt = .max
    pump(now)
  }
}
