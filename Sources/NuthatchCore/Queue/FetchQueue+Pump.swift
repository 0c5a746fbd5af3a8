import NuthatchHTTP

/// What moves: entries into their lanes, lanes into the pools, work into its places.
extension FetchQueue {
  /// Refusals are told in portions, so that a host with 100,000 entries that dies doesn't keep the loop from
  /// others.
  static var refusalsAtOnce: Int { 256 }
  /// Idle hosts remembered (their circuit, pause, latency, protocol); beyond it the one idle for longest is
  /// forgotten.
  static var idleHostsKept: Int { 1000 }
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
    } while tellActivity() || hasDue(now)
    if linkPlaces.hasBacklog { adaptation.noteBacklog() }
    arrangeWaking(now)
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
    host.rate.noteStart(at: now, settings.rate)
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
    if isSlow, !entry.isLending, !entry.isAnswered || pool.lentByBodies < pool.size {
      // A request whose host's name is looked up takes no descriptor of a connection.
      entry.host.lend(of: entry, atMost: pool.mostLent + lookingUp)
      refresh(entry.host, now)
    }
    if !entry.isLending { watch(entry, now) }
  }

  private func tellRefusals(atMost limit: Int, _ now: Int64) -> Int {
    let portion = refusals.prefix(limit)
    guard !portion.isEmpty else { return 0 }
    refusals.removeFirst(portion.count)
    for entry in portion where entry.state == .refused {
      let work = entry.work
      var retryAfter: Int64 = 0
      if case .open(let until) = entry.host.circuit.state(at: now) { retryAfter = until &- now }
      forget(entry)
      work?.refused(entry, retryAfter: retryAfter)
    }
    return portion.count
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
    } else if case .open = host.circuit.state(at: now) {
      entry.turn(.refused)
      refusals.append(entry)
    } else {
      entry.turn(.queued)
      host.lane(isBackground: entry.isBackground).add(entry)
      refresh(host, now)
    }
  }

  /// Brings the pools up to date about a host of which something has changed.
  func refresh(_ host: QueueHost, _ now: Int64) {
    let gate = host.gate(at: now, settings)
    host.offerLanes(gate == .open)
    if case .until(let time) = gate, host.hasQueued {
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

  func learn(_ outcome: Outcome, from entry: QueueEntry, _ now: Int64) {
    let host = entry.host
    var isSilent = false
    switch outcome {
    case .done:
      host.circuit.noteAnswer()
    case .unreachable(let timedOut):
      isSilent = timedOut
      if host.circuit.noteFault(isProbe: entry.isProbe, at: now, settings.circuit) { refuseAll(of: host) }
    case .timedOut:
      isSilent = true
    case .abandoned, .unused:
      break
    }
    guard isSilent, host.latency.hasBaseline, !host.isLoopback else { return }
    adaptation.noteTimeOut(host: host.number, began: entry.since, at: now)
    resize(now)
  }

  private func refuseAll(of host: QueueHost) {
    for entry in host.takeAll() {
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

  /// What was measured may have changed the size, and with it whether a host with slow bodies is held.
  func resize(_ now: Int64) {
    let before = linkPlaces.size
    resize()
    guard linkPlaces.size != before, linkPlaces.lentByBodies > 0 else { return }
    for host in hosts.values where host.lendingBodies > 0 { refresh(host, now) }
  }

  /// Loopback has a quarter of what there are descriptors for, so that neither side can take all of it.
  func resize(anew: Bool = false) {
    let most = max(2, settings.mostAtOnce)
    let forLoopback = max(1, most / 4)
    if anew {
      adaptation = AutomaticSize(link.sizes, most: most - forLoopback)
      loopbackPlaces.size = forLoopback
    }
    switch settings.concurrency {
    case .automatic:
      linkPlaces.size = adaptation.size
      linkPlaces.isFixed = false
    case .fixed(let number):
      linkPlaces.size = min(max(1, number), most)
      linkPlaces.isFixed = true
    }
    // What there are descriptors for beyond the places themselves.
    let isShared = settings.concurrency == .automatic
    let rest = most - linkPlaces.size - (isShared ? forLoopback : 0)
    linkPlaces.mostLent = max(16, isShared ? rest / 2 : rest)
    loopbackPlaces.mostLent = linkPlaces.mostLent
  }
}
