import NuthatchBase

/// Limits the number of running requests, and knows the hosts that could start one now.
///
/// Requests of priority below zero (background) take at most `size - 1` places. If they take more because the size has shrunk,
/// the excess doesn't keep the others from starting. At size 1:
///
/// - If the size is automatic, one request of priority zero or above may run beside a background request.
/// - If the size is fixed, a background request runs only while no other waits, and the others wait until it ends.
///
/// A request lends its place while its host name is being looked up, and then waits for a place like any other. A request also
/// lends its place if fewer than `leastBytes` of it have moved for `lendAfter`; then it doesn't count until its head comes. So
/// a slow host, or a name that doesn't resolve, blocks no other request at any size. A host that lends places is *held*: it
/// keeps the number of places that it had before, and gets another one only if that would be free without lending.
///
/// A request with a slow body lends its place, too. It gets the place back when its body is fast again, even if none is free:
/// then nothing starts until fewer than `size` run. Slow bodies lend at most `size` places in all, because each may go on for a
/// long time.
final class PlacePool {
  /// The queues of hosts that may start a request.
  private struct Ready {
    var byRank = PositionedHeap<QueuesByRank>()
    var byAge = PositionedHeap<QueuesByAge>()

    var isEmpty: Bool { byRank.isEmpty }

    var leaders: Leaders? {
      guard let best = byRank.first, let oldest = byAge.first else { return nil }
      return Leaders(best: best, oldest: oldest)
    }
  }

  private struct Leaders {
    var best: HostQueue
    var oldest: HostQueue
  }

  var size: Int
  /// Whether the program has set `size`.
  var isFixed = false
  /// The measured size, used if the program has set none.
  var automatic: AutomaticSize
  private var foreground = Ready()
  private var background = Ready()
  private var heldForeground = Ready()
  private var heldBackground = Ready()
  private(set) var counts = PlaceCounts()
  private var foregroundGuard = StarvationGuard()
  private var backgroundGuard = StarvationGuard()
  private var classGuard = StarvationGuard()
  var mostLent = 0

  init(_ automatic: AutomaticSize) {
    self.automatic = automatic
    size = automatic.size
  }

  private var backgroundPlaces: Int { max(1, size - 1) }

  func hasRoom(isBackground: Bool) -> Bool {
    if isBackground { return counts.taken < size && counts.background < backgroundPlaces }
    let reserved = isFixed ? backgroundPlaces : size - 1
    return counts.foreground + min(counts.background, reserved) < size
  }

  /// Whether hosts that lend places may start more requests.
  private var hasRoomForHeld: Bool { counts.taken + counts.lent < size }

  /// Tells the automatic size if an entry waits only for a place.
  ///
  /// - Returns: whether one does.
  func noteBacklog() -> Bool {
    let foregroundQueue = hasBacklog(isBackground: false) ? foreground.byRank.first : nil
    let backgroundQueue = hasBacklog(isBackground: true) ? background.byRank.first : nil
    guard foregroundQueue != nil || backgroundQueue != nil else { return false }
    automatic.noteBacklog(
      isBatch: foregroundQueue?.byRank.first?.isBatched == true
        || backgroundQueue?.byRank.first?.isBatched == true)
    return true
  }

  /// Adds `number` (1 or -1) to the count that fits the present state of a running entry.
  func count(_ number: Int, of entry: QueueEntry) { counts.add(number, of: entry) }

  /// Moves the requests that `moved` counts to another pool.
  func move(_ moved: PlaceCounts, to other: PlacePool) {
    counts.add(-1, of: moved)
    other.counts.add(1, of: moved)
  }

  /// Returns whether an entry waits only for a place.
  func hasBacklog(isBackground: Bool) -> Bool {
    let isEmpty = isBackground ? background.isEmpty : foreground.isEmpty
    return !isEmpty && !hasRoom(isBackground: isBackground)
  }

  /// Adds `queue` to the queues that may start a request, or updates its position there.
  func offer(_ queue: HostQueue) {
    guard let best = queue.byRank.first, let oldest = queue.byAge.first else { return withdraw(queue) }
    if queue.isHeld != queue.host.isHeld {
      withdraw(queue)
      queue.isHeld = queue.host.isHeld
    }
    change(queue.isBackground, queue.isHeld) {
      $0.byRank.set(queue, key: best.rank)
      $0.byAge.set(queue, key: oldest.arrival)
    }
  }

  func withdraw(_ queue: HostQueue) {
    change(queue.isBackground, queue.isHeld) {
      $0.byRank.remove(queue)
      $0.byAge.remove(queue)
    }
  }

  /// Removes and returns the entry whose turn it is, if there is one and a place for it.
  func takeNext(waitingSince limit: Int64) -> QueueEntry? {
    let background = leaders(isBackground: true)
    guard let foreground = leaders(isBackground: false) else {
      return background.flatMap { take($0, &backgroundGuard, limit) }
    }
    let isBackgroundsTurn = classGuard.isDue(background?.oldest.byAge.first, waitingSince: limit)
    if isBackgroundsTurn, let background { return take(background, &backgroundGuard, limit) }
    return take(foreground, &foregroundGuard, limit)
  }

  /// Returns the queues with the best and with the oldest entry. Nil if no place is free or no host may start a request.
  private func leaders(isBackground: Bool) -> Leaders? {
    guard hasRoom(isBackground: isBackground) else { return nil }
    let free = isBackground ? background.leaders : foreground.leaders
    guard counts.lent > 0, hasRoomForHeld else { return free }
    guard let held = isBackground ? heldBackground.leaders : heldForeground.leaders else { return free }
    guard let free else { return held }
    return Leaders(
      best: held.best.bestRank < free.best.bestRank ? held.best : free.best,
      oldest: held.oldest.oldestArrival < free.oldest.oldestArrival ? held.oldest : free.oldest)
  }

  private func take(_ leaders: Leaders, _ fairness: inout StarvationGuard, _ limit: Int64) -> QueueEntry? {
    let isOldest = fairness.isDue(leaders.oldest.byAge.first, waitingSince: limit)
    return (isOldest ? leaders.oldest : leaders.best).takeNext(oldest: isOldest, waitingSince: limit)
  }

  private func change(_ isBackground: Bool, _ isHeld: Bool, _ body: (inout Ready) -> Void) {
    switch (isBackground, isHeld) {
    case (false, false): body(&foreground)
    case (true, false): body(&background)
    case (false, true): body(&heldForeground)
    case (true, true): body(&heldBackground)
    }
  }
}
