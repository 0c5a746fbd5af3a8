import NuthatchBase

/// Decides which running requests lend their place to others: those whose host name is being looked up, and those that move too
/// few bytes. An entry is checked `lendAfter` after the last call of `watch`.
final class PlaceLending {
  /// If a pool has lent so many places, a look-up lends no more. Less than `NameLookups.threadLimit`.
  static let lookingUpAtOnce = 448

  /// Running entries that are checked for moved bytes at a given time.
  private var watched = PositionedHeap<EntriesByAge>()
  /// The number of running entries whose host name is being looked up.
  private(set) var lookingUp = 0

  /// The time of the next check.
  var nextDue: Int64? { watched.nextDue }

  /// Removes and returns an entry that is due for a check.
  func takeDue(by now: Int64) -> QueueEntry? { watched.takeDue(by: now) }

  /// Starts a new watch: counts the bytes that move from now on until the next check.
  func watch(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) {
    entry.forgetMoved()
    watched.set(entry, at: now &+ settings.lendAfter)
  }

  func unwatch(_ entry: QueueEntry) { watched.remove(entry) }

  /// Lends the place of an entry whose host name is being looked up: nothing goes over the link during the look-up.
  ///
  /// - Returns: whether the place is lent.
  func beginLookUp(_ entry: QueueEntry) -> Bool {
    guard entry.state == .running, !entry.isLending else { return false }
    entry.host.lend(of: entry, atMost: PlaceLending.lookingUpAtOnce)
    guard entry.isLending else { return false }
    entry.isLookingUp = true
    lookingUp += 1
    watched.remove(entry)
    return true
  }

  func endLookUp(_ entry: QueueEntry) {
    if entry.isLookingUp { lookingUp -= 1 }
    entry.isLookingUp = false
  }

  /// Counts bytes of a body.
  ///
  /// - Returns: whether the entry lends its place and is fast enough to get it back.
  func noteMoved(_ entry: QueueEntry, _ bytes: Int, _ settings: QueueSettings, at now: Int64) -> Bool {
    guard entry.state == .running else { return false }
    entry.noteMoved(bytes)
    guard entry.isLending else { return false }
    if entry.moved >= settings.leastBytes { return true }
    if !watched.contains(entry) { watched.set(entry, at: now &+ settings.lendAfter) }
    return false
  }

  /// Returns whether the entry gets no answer and blocks others:
  ///
  /// - It waits unusually long for its host, and entries of that host can't start before one of the host's requests ends.
  /// - Or it takes a place that entries of any host wait for.
  ///
  /// A host that has never answered may be slow for all requests. The more of them were put off, the longer the next ones may
  /// wait.
  func isInTheWay(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) -> Bool {
    let host = entry.host
    let wait = now &- entry.since
    guard entry.mayBePutOff, !entry.isAnswered, wait >= 2 * settings.lendAfter else { return false }
    let isKnown = host.latency.hasBaseline
    guard !isKnown || host.latency.isFarBeyond(wait) else { return false }
    let limit = host.limit(settings)
    let isLong = isKnown || wait / (8 * settings.lendAfter) > host.putOffCount / limit
    if isLong, host.hasQueued, host.isHeld || host.running >= limit { return true }
    return !entry.isLending && host.pool.hasBacklog(isBackground: entry.isBackground)
  }

  /// Lends the place of an entry that has moved too few bytes, unless too many are lent. Slow bodies lend at most as many places
  /// as there are.
  ///
  /// - Returns: whether it has lent the place.
  func lend(_ entry: QueueEntry) -> Bool {
    let pool = entry.host.pool
    guard !entry.isLending, !entry.isAnswered || pool.counts.lentForSlowBodies < pool.size else {
      return false
    }
    // A request in its look-up has no connection, so it uses no file descriptor.
    entry.host.lend(of: entry, atMost: pool.mostLent + lookingUp)
    return entry.isLending
  }
}
