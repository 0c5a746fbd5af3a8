import NuthatchBase

/// Which running requests lend their place to others: those that wait for the address of their host, and those of which too
/// little moves. Each is looked at `lendAfter` after it began to be watched.
final class PlaceLending {
  /// So many places at most are lent by those whose name is looked up: not quite what there are threads for.
  static let lookingUpAtOnce = 448

  /// Running entries of which something moves, or should, by the time of the next look.
  private var watched = PositionedHeap<EntriesByAge>()
  /// How many running entries wait for the address of their host.
  private(set) var lookingUp = 0

  /// When the next look is.
  var nextDue: Int64? { watched.nextDue }

  /// Takes one out that is to be looked at.
  func takeDue(by now: Int64) -> QueueEntry? { watched.takeDue(by: now) }

  /// What moves from now on counts at the next look.
  func watch(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) {
    entry.forgetMoved()
    watched.set(entry, at: now &+ settings.lendAfter)
  }

  func unwatch(_ entry: QueueEntry) { watched.remove(entry) }

  /// Nothing goes over the link before the name is known: others may have the place, whatever the size is.
  ///
  /// - Returns: whether the place is lent for that.
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
  /// - Returns: whether it lends its place, and is fast enough to have it back.
  func noteMoved(_ entry: QueueEntry, _ bytes: Int, _ settings: QueueSettings, at now: Int64) -> Bool {
    guard entry.state == .running else { return false }
    entry.noteMoved(bytes)
    guard entry.isLending else { return false }
    if entry.moved >= settings.leastBytes { return true }
    if !watched.contains(entry) { watched.set(entry, at: now &+ settings.lendAfter) }
    return false
  }

  /// Whether nothing comes for it at a host that answers others, which wait for a place there; or whether it holds a place that
  /// others wait for, whatever their host.
  ///
  /// A host that has never answered may be slow as a whole: there, a request is put off after a longer wait, the more have been.
  func isInTheWay(_ entry: QueueEntry, _ settings: QueueSettings, at now: Int64) -> Bool {
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

  /// Lends the place of one of which too little has moved; slow bodies lend no more than there are places.
  ///
  /// - Returns: false when it may not, or lends it already.
  func lend(_ entry: QueueEntry) -> Bool {
    let pool = entry.host.pool
    guard !entry.isLending, !entry.isAnswered || pool.counts.lentByBodies < pool.size else { return false }
    // A request whose host's name is looked up takes no descriptor of a connection.
    entry.host.lend(of: entry, atMost: pool.mostLent + lookingUp)
    return true
  }
}
