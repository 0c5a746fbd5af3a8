import NuthatchBase
import NuthatchTransport
import Synchronization

/// The process's only queue. It decides which requests may be sent, and when. A *place* is the right to run one request.
///
/// The queue has no thread, lock or clock of its own. All calls are made on the loop's thread and pass `now` (monotonic, ns).
/// Other threads may only read `hasBacklog`, `paused` and `away`, hence Sendable.
///
/// An exchange is one request to one server. Each redirect and each new attempt is an exchange of its own. It takes these
/// steps:
///
/// 1. `submit` returns an entry. The queue calls `begin` on the work, now or later. The request's time-outs start in `begin`.
///    If the host's circuit is open, the queue calls `refused` for an entry without patience. An entry with `patience` waits
///    for the host, and is refused when the host's trouble has lasted for that time.
/// 2. When the head comes, call `answered` with the time to the first byte. If the connection speaks HTTP/2, also call
///    `noteProtocol`. For a 429 or 503 with `Retry-After`, call `pause`.
/// 3. When the exchange is over, for any reason, call `finished`, exactly once for every `begin`. With `retryAt` the same entry
///    waits again, and `begin` comes again. An entry without patience keeps its place by arrival.
/// 4. To cancel a request that waits, call `remove`. To cancel one that runs, abort the transfer, then call `finished` with
///    `.abandoned` (or `remove`, which does the same).
///
/// The queue calls `wake` with the time at which it needs a call of `tick`. A call with an earlier time doesn't cancel a later
/// one.
///
/// The order is priority, then arrival, over all hosts that may start a request. A host is skipped if it is at its limit or
/// paused, if `rate` allows no start yet, or if its circuit is open. To prevent starvation, one start in eight goes to the
/// oldest entry, if it has waited longer than `settings.starvationLimit`. This rule applies to the choice of the priority class
/// (below zero or not), of the host, and of the host's entry.
///
/// `QueueHosts`, `QueuePlaces`, `PlaceLending` and `TroubledHosts` decide. The queue tells them what happened, and calls
/// `QueuedWork`.
final class FetchQueue: @unchecked Sendable {
  /// Refusals are reported in portions, so that a dead host with 100,000 entries doesn't block the loop.
  private static let refusalsAtOnce = 256

  private(set) var settings: QueueSettings
  private let wake: (Int64) -> Void
  /// Whether an entry waits only for a place. Any thread may read it.
  let hasBacklog = Atomic<Bool>(false)
  /// Any thread may read it.
  let paused = PausedHosts()
  /// Any thread may read it.
  let away = AwayHosts()

  let places: QueuePlaces
  let hosts = QueueHosts()
  let lending = PlaceLending()
  private let troubled: TroubledHosts
  /// Entries that wait until a given time.
  private var delayed = PositionedHeap<EntriesByAge>()

  private var lastArrival: UInt64 = 0
  private var isStarting = false
  private var wakeAt: Int64 = .max

  init(
    _ settings: QueueSettings = QueueSettings(), link: LinkKind = .unknown, wake: @escaping (Int64) -> Void
  ) {
    self.settings = settings
    self.wake = wake
    places = QueuePlaces(link, settings)
    troubled = TroubledHosts(away)
  }

  // MARK: - Entries

  /// Queues `work` for `origin`. It begins at `notBefore` at the earliest.
  @discardableResult
  func submit(
    _ work: any QueuedWork, to origin: Origin, priority: Int = 0, patience: Int64 = 0,
    isBatched: Bool = false, mayBePutOff: Bool = false, notBefore: Int64? = nil, now: Int64
  ) -> QueueEntry {
    lastArrival += QueueHost.arrivalsBetween
    let host = hosts.host(origin, places)
    host.lastArrival = lastArrival
    let entry = QueueEntry(
      work, host, priority: priority, arrival: lastArrival, patience: patience, isBatched: isBatched,
      mayBePutOff: mayBePutOff, at: now)
    host.entryCount += 1
    enqueue(entry, notBefore: notBefore, now)
    startAll(now)
    return entry
  }

  /// Changes the priority (-10…10) of an entry that waits or runs. Its arrival stays.
  func setPriority(_ priority: Int, of entry: QueueEntry, now: Int64) {
    switch entry.state {
    case .queued:
      entry.queue.remove(entry)
      entry.setPriority(priority)
      entry.queue.add(entry)
      refresh(entry.host, now)
    case .running: entry.host.changeRunning(entry, to: priority)
    case .delayed, .refused: entry.setPriority(priority)
    case .gone: return
    }
    startAll(now)
  }

  /// Removes an entry; does nothing if it is gone. If it runs, its place becomes free.
  func remove(_ entry: QueueEntry, now: Int64) {
    switch entry.state {
    case .delayed: delayed.remove(entry)
    case .queued:
      entry.queue.remove(entry)
      refresh(entry.host, now)
    case .running: return finished(entry, .abandoned, now: now)
    case .refused: break
    case .gone: return
    }
    forget(entry)
    startAll(now)
  }

  /// Lends the entry's place to others while the name of its host is being looked up.
  func waitsForName(_ entry: QueueEntry, now: Int64) {
    if lending.beginLookUp(entry) { startAll(after: entry.host, now) }
  }

  /// Takes the place back when the name is known. Returns false if no place is free. Then call `finished` with `retryAt`, so
  /// that the entry waits again.
  func nameIsKnown(_ entry: QueueEntry, now: Int64) -> Bool {
    lending.endLookUp(entry)
    guard entry.state == .running, entry.isLending else { return true }
    guard entry.host.pool.hasRoom(isBackground: entry.isBackground) else { return false }
    takeBack(entry, now)
    return true
  }

  /// Notes that bytes of a body were sent or received. An entry that lent its place gets it back when it is fast again.
  func moved(_ entry: QueueEntry, _ bytes: Int, now: Int64) {
    if lending.noteMoved(entry, bytes, settings, at: now) { takeBack(entry, now) }
  }

  private func takeBack(_ entry: QueueEntry, _ now: Int64) {
    entry.host.takeBack(of: entry)
    lending.watch(entry, settings, at: now)
    startAll(after: entry.host, now)
  }

  /// Notes that the head has come. `firstByte`: the nanoseconds from sending to the first byte; nil if they show nothing about
  /// the link, as after an upload. `overload`: set for a 429 or 503.
  func answered(_ entry: QueueEntry, firstByte: Int64?, overload: Overload? = nil, now: Int64) {
    guard entry.state == .running else { return }
    let host = entry.host
    host.takeBack(of: entry)
    entry.isAnswered = true
    lending.watch(entry, settings, at: now)
    entry.endProbe()
    host.circuit.noteAnswer()
    troubled.learn(overload, from: entry, settings, at: now)
    var judgement = HostLatency.Judgement.unknown
    if let firstByte {
      judgement = host.latency.note(firstByte, at: now)
      host.pool.automatic.noteAnswer(host: host.number, judgement, began: entry.since, at: now)
      resize(now)
    }
    if overload == nil {
      host.noteHandled(entry, isCalm: judgement == .calm || judgement == .unknown, settings, at: now)
    }
    startAll(after: host, now)
  }

  /// Frees the entry's place. With `retryAt` the entry goes back into the queue and begins at that time at the earliest.
  /// `fault`: the error that ended the exchange.
  func finished(
    _ entry: QueueEntry, _ outcome: ExchangeOutcome, _ fault: TransportFault? = nil, retryAt: Int64? = nil,
    now: Int64
  ) {
    guard entry.state == .running else { return }
    let host = entry.host
    lending.endLookUp(entry)
    lending.unwatch(entry)
    host.noteEnd(of: entry)
    if outcome == .unused { host.rate.takeBack(host.startRate(at: now, settings)) }
    troubled.learn(outcome, fault, from: entry, settings, at: now)
    if outcome.isSilence, host.latency.hasBaseline {
      host.pool.automatic.noteTimeOut(host: host.number, began: entry.since, at: now)
      resize(now)
    }
    entry.endProbe()
    if let retryAt {
      entry.since = now
      if entry.patience > 0 { entry.goBehind(host.nextArrivalBehind()) }
      enqueue(entry, notBefore: retryAt, now)
    } else {
      forget(entry)
    }
    startAll(after: host, now)
  }

  private func enqueue(_ entry: QueueEntry, notBefore: Int64?, _ now: Int64) {
    let host = entry.host
    if let notBefore, notBefore > now {
      entry.setState(.delayed)
      delayed.set(entry, at: notBefore)
    } else if !troubled.refuseIfShut(entry, of: host, at: now) {
      entry.setState(.queued)
      host.noteQueued(entry)
      refresh(host, now)
    }
  }

  private func forget(_ entry: QueueEntry) {
    let host = entry.host
    entry.setState(.gone)
    host.entryCount -= 1
    if host.entryCount == 0, host.trouble != nil { away.forget(host.origin) }
    hosts.retire(host)
  }

  // MARK: - Hosts, link, time

  /// Notes the host's protocol, which determines how many requests may run at once.
  func noteProtocol(_ origin: Origin, isHTTP2: Bool, now: Int64) {
    guard let host = hosts[origin], host.speaksHTTP2 != isHTTP2 else { return }
    host.speaksHTTP2 = isHTTP2
    startAll(after: host, now)
  }

  /// Pauses the host until `until`, but at most for `longestPause`. A shorter pause doesn't shorten a longer one. `status`:
  /// that of the answer that asked for the pause.
  func pause(_ origin: Origin, until: Int64, status: Int = 503, now: Int64) {
    let host = hosts.host(origin, places)
    let end = min(until, now &+ settings.longestPause)
    host.pause(until: end, at: now, status: status)
    troubled.refuseGivenUp(at: host, now)
    paused.note(origin, until: end, now: now)
    refresh(host, now)
    hosts.retire(host)
    startAll(now)
  }

  /// Returns how long this host has been paused in all, how long it is still paused (both in nanoseconds), and the status that
  /// caused it.
  func pauseTimes(of origin: Origin, now: Int64) -> (past: Int64, left: Int64, status: Int) {
    guard let host = hosts[origin] else { return (0, 0, 503) }
    return (host.pausedTime(at: now), max(now, host.pausedUntil) - now, host.pauseStatus)
  }

  /// Returns whether to wait for the host: it has answered before, this entry is its probe, or its circuit is open or half
  /// open, so that a probe will come.
  func mayComeBack(_ entry: QueueEntry, now: Int64) -> Bool {
    guard entry.state != .gone else { return false }
    return entry.host.lastGoodAnswer != nil || entry.isProbe || entry.host.circuit.state(at: now) != .closed
  }

  /// Returns whether the entry's host has given a good answer since `time`.
  func hasAnswered(_ entry: QueueEntry, since time: Int64) -> Bool {
    entry.host.lastGoodAnswer ?? .min > time
  }

  /// Reacts to a new or restored default route: the automatic size begins anew, the latencies of hosts are forgotten, and every
  /// open circuit allows its probe.
  func linkChanged(to link: LinkKind, now: Int64) {
    places.change(to: link, settings)
    for host in hosts.all { host.latency = HostLatency() }
    networkChanged(now: now)
  }

  /// Reacts to an added or removed address or route: every open circuit allows its probe.
  func networkChanged(now: Int64) {
    for host in hosts.all {
      host.circuit.halfOpen(at: now)
      refresh(host, now)
    }
    startAll(now)
  }

  /// Notes that a connection to a host succeeded: its circuit allows a probe.
  func noteReachable(_ origin: Origin, now: Int64) {
    guard let host = hosts[origin] else { return }
    host.circuit.halfOpen(at: now)
    startAll(after: host, now)
  }

  /// Applies new settings at once. Running requests go on.
  func change(_ settings: QueueSettings, now: Int64) {
    let old = self.settings
    self.settings = settings
    let isOther = old.concurrency != settings.concurrency || old.mostAtOnce != settings.mostAtOnce
    places.resize(settings, anew: isOther)
    for host in hosts.all {
      host.forgetMeasuredLimit()
      host.move(to: places.pool(isLoopback: host.isLoopback))
      refresh(host, now)
    }
    startAll(now)
  }

  /// Call it at the times that `wake` asked for. Other calls do no harm.
  func tick(now: Int64) {
    wakeAt = .max
    startAll(now)
  }

  /// Updates the pools after a change of a host.
  private func refresh(_ host: QueueHost, _ now: Int64) { hosts.refresh(host, settings, at: now) }

  /// Updates the sizes after a measurement. If one has changed, refreshes the hosts with slow bodies, because
  /// `QueueHost.isHeld` depends on it.
  private func resize(_ now: Int64) {
    guard places.resize(settings), places.areLentForSlowBodies else { return }
    for host in hosts.all where host.counts.lentForSlowBodies > 0 { refresh(host, now) }
  }

  // MARK: - Starting entries

  /// Starts all entries that may start, and reports refusals. A callback may call the queue; this `startAll` then handles its
  /// change, too.
  private func startAll(_ now: Int64) {
    guard !isStarting else { return }
    isStarting = true
    defer { isStarting = false }
    var refusalsLeft = FetchQueue.refusalsAtOnce
    var told: Int
    repeat {
      wakeSleepers(now)
      while startNext(now) {}
      told = tellRefusals(atMost: refusalsLeft, now)
      refusalsLeft -= told
    } while told > 0 || nextDue <= now || noteBacklog()
    arrangeWaking(now)
  }

  /// As `startAll`, after a change of the host `changed`.
  private func startAll(after changed: QueueHost, _ now: Int64) {
    refresh(changed, now)
    startAll(now)
  }

  private func wakeSleepers(_ now: Int64) {
    while let entry = delayed.takeDue(by: now) { enqueue(entry, notBefore: nil, now) }
    while let entry = lending.takeDue(by: now) { check(entry, now) }
    while let host = hosts.takeDue(by: now) {
      troubled.refuseGivenUp(at: host, now)
      refresh(host, now)
    }
  }

  /// Checks an entry. If it has moved too few bytes, lends its place; if it also blocks others, asks its work to end
  /// (`putOff`).
  private func check(_ entry: QueueEntry, _ now: Int64) {
    let isSlow = entry.moved < settings.leastBytes
    entry.forgetMoved()
    if isSlow, lending.isInTheWay(entry, settings, at: now) {
      entry.host.notePutOff()
      troubled.learnPutOff(entry, settings, at: now)
      entry.work?.putOff(entry)
    }
    guard entry.state == .running else { return }
    if isSlow, lending.lend(entry) { refresh(entry.host, now) }
    if !entry.isLending || entry.mayBePutOff && !entry.isAnswered {
      lending.watch(entry, settings, at: now)
    }
  }

  private func startNext(_ now: Int64) -> Bool {
    guard let entry = places.takeNext(waitingSince: now &- settings.starvationLimit) else { return false }
    let host = entry.host
    entry.setState(.running)
    entry.since = now
    if host.circuit.state(at: now) == .halfOpen {
      entry.isProbe = true
      host.isProbing = true
    }
    host.rate.noteStart(at: now, host.startRate(at: now, settings))
    host.noteStart(of: entry)
    entry.isAnswered = false
    lending.watch(entry, settings, at: now)
    refresh(host, now)
    entry.work?.begin(entry)
    return true
  }

  private func tellRefusals(atMost limit: Int, _ now: Int64) -> Int {
    let portion = troubled.takeRefused(atMost: limit)
    for entry in portion where entry.state == .refused {
      let (work, why) = (entry.work, HostRefusal(of: entry, at: now))
      forget(entry)
      work?.refused(entry, why)
    }
    return portion.count
  }

  /// Tells the automatic sizes which work waits for a place. Returns whether a size grew.
  private func noteBacklog() -> Bool {
    let (hasBacklog, hasGrown) = places.noteBacklog(settings)
    self.hasBacklog.store(hasBacklog, ordering: .relaxed)
    return hasGrown
  }

  /// The time of the next timed event.
  private var nextDue: Int64 {
    min(hosts.nextDue ?? .max, delayed.nextDue ?? .max, lending.nextDue ?? .max)
  }

  private func arrangeWaking(_ now: Int64) {
    let due = troubled.hasRefused ? now : nextDue
    guard due < wakeAt else { return }
    wakeAt = due
    wake(due)
  }
}
