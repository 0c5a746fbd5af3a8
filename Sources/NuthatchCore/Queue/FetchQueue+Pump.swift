import NuthatchHTTP
import NuthatchTransport

/// What moves: entries into their lanes, lanes into the pools, work into its places.
extension FetchQueue {
  /// Refusals are told in portions, so that a host with 100,000 entries that dies doesn't keep the loop from
  /// others.
  static var refusalsAtOnce: Int { 256 }
  /// Idle hosts remembered (their circuit, pause, latency, protocol); beyond it the one idle for longest is
  /// forgotten.
  static var idleHostsKept: Int { 4096 }
  /// So many places at most are lent by those that nothing comes for: each has a connection.
  static var lentAtOnce: Int { 256 }
  /// So many places at most are lent by those whose name is looked up: not quite what there are threads for.
  static var lookingUpAtOnce: Int { 448 }

  /// Starts what can start, and tells what there is to tell. Callbacks may call the queue again.
  func pump(_ now: Int64) {
    guard !isPumping else { return }
    isPumping = true
    defer { isPumping = false }
    var refusalsLeft = FetchQueue.refusalsAtOnce
    repeat {
      wakeSleepers(now)
      while startNext(now) {}
      refusalsLeft -= tellRefusals(atMost: refusalsLeft, now)
    } while tellActivity() || hasDue(now) || hasGrown()
    arrangeWaking(now)
  }

  /// Tells the automatic sizes what waits for a place; whether that makes one larger.
  private func hasGrown() -> Bool {
    let sizes = (linkPlaces.automatic.size, loopbackPlaces.automatic.size)
    let (isLinkFull, isLoopbackFull) = (linkPlaces.noteBacklog(), loopbackPlaces.noteBacklog())
    isFull.store(isLinkFull || isLoopbackFull, ordering: .relaxed)
    guard sizes != (linkPlaces.automatic.size, loopbackPlaces.automatic.size) else { return false }
    resize()
    return true
  }

  private func startNext(_ now: Int64) -> Bool {
    let limit = now &- settings.patience
    let next = linkPlaces.takeNext(waitingSince: limit) ?? loopbackPlaces.takeNext(waitingSince: limit)
    guard let entry = next else { return false }
    let host = entry.host
    entry.turn(.running)
    entry.since = now
    if host.circuit.state(at: now) == .halfOpen {
      entry.isProbe = true
      host.isProbing = true
    }
    host.rate.noteStart(at: now, host.startRate(at: now, settings))
    host.noteStart(of: entry)
    entry.isAnswered = false
    watch(entry, now)
    refresh(host, now)
    entry.work?.begin(entry)
    return true
  }

  /// Looks after `lendAfter` how much has moved from now on.
  func watch(_ entry: QueueEntry, _ now: Int64) {
    entry.forgetMoved()
    watched.set(entry, key: key(now &+ settings.lendAfter))
  }

  /// Lends the place of an entry of which too little has moved. One that lends it already is looked at again when something
  /// moves.
  private func look(at entry: QueueEntry, _ now: Int64) {
    let isSlow = entry.moved < settings.leastBytes
    let pool = entry.host.pool
    entry.forgetMoved()
    watched.remove(entry)
    if isSlow, isInTheWay(entry, now) {
      entry.host.notePutOff()
      entry.work?.putOff(entry)
    }
    guard entry.state == .running else { return }
    if isSlow, !entry.isLending, !entry.isAnswered || pool.lentByBodies < pool.size {
      // A request whose host's name is looked up takes no descriptor of a connection.
      entry.host.lend(of: entry, atMost: pool.mostLent + lookingUp)
      refresh(entry.host, now)
    }
    if !entry.isLending || entry.mayBePutOff && !entry.isAnswered { watch(entry, now) }
  }

  /// Whether nothing comes for it at a host that answers others, which wait for a place there; or whether it holds a place that
  /// others wait for, whatever their host.
  ///
  /// A host that has never answered may be slow as a whole: there, a request is put off after a longer wait, the more have been.
  private func isInTheWay(_ entry: QueueEntry, _ now: Int64) -> Bool {
    let host = entry.host
    let wait = now &- entry.since
    guard entry.mayBePutOff, !entry.isAnswered, wait >= 2 * settings.lendAfter else { return false }
    let isKnown = host.latency.hasBaseline
    guard !isKnown || host.latency.isFarBeyond(wait) else { return false }
    let limit = host.limit(settings)
    let isLong = isKnown || wait / (8 * settings.lendAfter) > host.putOff / limit
    if isLong, host.hasQueued, host.isHeld || host.running >= limit { return true }
    return !entry.isLending && host.pool.isFull(isBackground: entry.isBackground)
  }

  private func tellRefusals(atMost limit: Int, _ now: Int64) -> Int {
    let portion = refusals.prefix(limit)
    guard !portion.isEmpty else { return 0 }
    refusals.removeFirst(portion.count)
    for entry in portion where entry.state == .refused {
      let (work, why) = (entry.work, refusal(of: entry, now))
      forget(entry)
      work?.refused(entry, why)
    }
    return portion.count
  }

  private func refusal(of entry: QueueEntry, _ now: Int64) -> HostRefusal {
    let host = entry.host
    if entry.patience > 0, let trouble = host.trouble {
      return .givenUp(
        trouble.cause, patience: entry.patience, retryAfter: max(now, host.pausedUntil) - now)
    }
    guard case .open(let until) = host.circuit.state(at: now) else { return .circuitOpen(retryAfter: 0) }
    return .circuitOpen(retryAfter: until &- now)
  }

  private func tellActivity() -> Bool {
    let isActive = activity > 0
    guard isActive != wasActive else { return false }
    wasActive = isActive
    activityChanged(isActive)
    return true
  }
}

// MARK: - Time

extension FetchQueue {
  func key(_ time: Int64) -> UInt64 { UInt64(max(0, time)) }

  /// When something happens by itself.
  private var nextTime: UInt64 {
    min(wakingHosts.firstKey ?? .max, delayed.firstKey ?? .max, watched.firstKey ?? .max)
  }

  private func hasDue(_ now: Int64) -> Bool {
    nextTime <= key(now)
  }

  private func wakeSleepers(_ now: Int64) {
    while let due = delayed.firstKey, due <= key(now), let entry = delayed.first {
      delayed.remove(entry)
      enqueue(entry, notBefore: nil, now: now)
    }
    while let due = watched.firstKey, due <= key(now), let entry = watched.first { look(at: entry, now) }
    while let due = wakingHosts.firstKey, due <= key(now), let host = wakingHosts.first {
      wakingHosts.remove(host)
      refuseGivenUp(at: host, now)
      refresh(host, now)
    }
  }

  private func arrangeWaking(_ now: Int64) {
    let due = refusals.isEmpty ? nextTime : key(now)
    guard due < key(wakeAt) else { return }
    wakeAt = Int64(clamping: due)
    wake(wakeAt)
  }
}

// MARK: - Entries and hosts

extension FetchQueue {
  func enqueue(_ entry: QueueEntry, notBefore: Int64?, now: Int64) {
    let host = entry.host
    if let notBefore, notBefore > now {
      entry.turn(.delayed)
      delayed.set(entry, key: key(notBefore))
    } else if isRefused(entry, now) {
      entry.turn(.refused)
      refusals.append(entry)
    } else {
      entry.turn(.queued)
      host.noteQueued(entry)
      refresh(host, now)
    }
  }

  /// Whether it isn't even queued: nothing may be sent to its host now, and it doesn't wait for that.
  private func isRefused(_ entry: QueueEntry, _ now: Int64) -> Bool {
    let host = entry.host
    let isOpen = if case .open = host.circuit.state(at: now) { true } else { false }
    guard entry.patience > 0 else { return isOpen }
    return (isOpen || host.pausedUntil > now) && host.isGivenUp(by: entry, at: now)
  }

  /// Brings the pools up to date about a host of which something has changed.
  func refresh(_ host: QueueHost, _ now: Int64) {
    let gate = host.gate(at: now, settings)
    host.offerLanes(gate == .open)
    var time = Int64.max
    if case .until(let opening) = gate { time = opening }
    if let end = host.givenUpAt, end > now { time = min(time, end) }
    if time < .max, host.hasQueued {
      wakingHosts.set(host, key: key(time))
    } else {
      wakingHosts.remove(host)
    }
  }

  func forget(_ entry: QueueEntry) {
    let host = entry.host
    entry.turn(.gone)
    count.subtract(1, ordering: .relaxed)
    host.entries -= 1
    retire(host)
  }

  func learn(_ outcome: ExchangeOutcome, _ fault: TransportFault?, from entry: QueueEntry, _ now: Int64) {
    let host = entry.host
    var isSilent = false
    switch outcome {
    case .done:
      host.circuit.noteAnswer()
    case .unreachable(let timedOut):
      isSilent = timedOut
      noteFault(fault, from: entry, now)
    case .dropped:
      host.noteUnborne(entry, settings, at: now)
      // One odd page is no reason to leave a host alone. A request that waits for the host loses nothing by that.
      if entry.patience > 0 { noteFault(fault, from: entry, now) } else { host.circuit.noteAnswer() }
    case .timedOut:
      isSilent = true
      if entry.patience > 0 { noteSilence(fault, from: entry, now) }
    case .abandoned, .unused:
      break
    }
    guard isSilent, host.latency.hasBaseline else { return }
    host.pool.automatic.noteTimeOut(host: host.number, began: entry.since, at: now)
    resize(now)
  }

  /// What the head says about how much its host has to do. Only requests that wait for it slow down.
  func learn(_ overload: Overload?, from entry: QueueEntry, _ now: Int64) {
    let host = entry.host
    guard let overload, entry.patience > 0 else {
      if overload == nil { host.measures.pace.noteGood(began: entry.since, at: now) }
      if host.trouble != nil { away.forget(host.origin) }
      return host.noteGoodAnswer(at: now)
    }
    let isOdd = overload.previous.map { $0 < host.lastGoodAnswer ?? .min } ?? false
    // More at once than usual may be the reason: then fewer at once are tried first.
    let wasMore = !isOdd && host.noteUnborne(entry, settings, at: now)
    guard !wasMore else { return }
    host.measures.pace.noteOverload(overload.status, isOdd: isOdd, began: entry.since, at: now)
    if !isOdd { host.noteTrouble(.status(overload.status), of: entry) }
    refuseGivenUp(at: host, now)
  }

  private func noteFault(_ fault: TransportFault?, from entry: QueueEntry, _ now: Int64) {
    let host = entry.host
    if let fault { host.noteTrouble(.fault(fault), of: entry) }
    guard host.circuit.noteFault(isProbe: entry.isProbe, at: now, settings.circuit) else { return }
    if let fault, let trouble = host.trouble, entry.patience > 0, !host.isGivenUp(by: entry, at: now) {
      away.note(host.origin, since: trouble.since, fault.kind)
    }
    if let last = host.lastTry, last > now { host.circuit.probe(by: last) }
    refuse(host.takeAll { $0.patience == 0 || host.isGivenUp(by: $0, at: now) })
  }

  /// Nothing came over a connection that stood. A host that has been silent for as long as a request waits for it is left alone.
  private func noteSilence(_ fault: TransportFault?, from entry: QueueEntry, _ now: Int64) {
    let host = entry.host
    if let fault { host.noteTrouble(.fault(fault), of: entry) }
    guard host.isGivenUp(by: entry, at: now) else { return }
    host.circuit.open(at: now, settings.circuit)
    refuseGivenUp(at: host, now)
  }

  /// Tells those that have waited long enough for a host in trouble.
  func refuseGivenUp(at host: QueueHost, _ now: Int64) {
    guard let end = host.givenUpAt, end <= max(now, host.pausedUntil) else { return }
    away.forget(host.origin)
    refuse(host.takeAll { $0.patience > 0 && host.isGivenUp(by: $0, at: now) })
  }

  private func refuse(_ entries: [QueueEntry]) {
    for entry in entries {
      entry.turn(.refused)
      refusals.append(entry)
    }
  }

  func host(_ origin: Origin) -> QueueHost {
    if let known = hosts[origin] {
      idleHosts.remove(known)
      return known
    }
    lastHost &+= 1
    let isLoopback = origin.isLoopback
    let new = QueueHost(
      origin, number: lastHost, isLoopback: isLoopback, pool: pool(isLoopback: isLoopback))
    hosts[origin] = new
    return new
  }

  /// Forgets a host without entries: at once when there is nothing to remember, else when there are too many.
  func retire(_ host: QueueHost) {
    guard host.entries == 0 else { return }
    lastIdle += 1
    idleHosts.set(host, key: lastIdle)
    guard idleHosts.count > FetchQueue.idleHostsKept, let oldest = idleHosts.first else { return }
    idleHosts.remove(oldest)
    wakingHosts.remove(oldest)
    hosts[oldest.origin] = nil
  }
}

// MARK: - Sizes

extension FetchQueue {
  func pool(isLoopback: Bool) -> PlacePool {
    isLoopback && settings.concurrency == .automatic ? loopbackPlaces : linkPlaces
  }

  /// What was measured may have changed a size, and with it whether a host with slow bodies is held.
  func resize(_ now: Int64) {
    let before = [linkPlaces.size, loopbackPlaces.size]
    resize()
    guard before != [linkPlaces.size, loopbackPlaces.size] else { return }
    guard linkPlaces.lentByBodies + loopbackPlaces.lentByBodies > 0 else { return }
    for host in hosts.values where host.lendingBodies > 0 { refresh(host, now) }
  }

  /// Loopback has places of its own, which are measured likewise: what the link carries is no matter to it. It has a quarter of
  /// what there are descriptors for at the most, so that neither side can take all of them.
  func resize(anew: Bool = false) {
    let most = max(2, settings.mostAtOnce)
    let forLoopback = max(1, most / 4)
    if anew {
      linkPlaces.automatic = AutomaticSize(link.sizes, most: most - forLoopback)
      loopbackPlaces.automatic = AutomaticSize(LinkKind.none.sizes, most: forLoopback)
    }
    loopbackPlaces.size = loopbackPlaces.automatic.size
    let isShared = settings.concurrency == .automatic
    switch settings.concurrency {
    case .automatic: linkPlaces.size = linkPlaces.automatic.size
    case .fixed(let number): linkPlaces.size = min(max(1, number), most)
    }
    linkPlaces.isFixed = !isShared
    // What there are descriptors for beyond the places themselves.
    let rest = most - linkPlaces.size - (isShared ? loopbackPlaces.size : 0)
    linkPlaces.mostLent = min(FetchQueue.lentAtOnce, max(16, isShared ? rest / 2 : rest))
    loopbackPlaces.mostLent = linkPlaces.mostLent
  }
}
