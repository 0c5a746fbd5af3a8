import NuthatchBase

/// Places to run, and the hosts that could use one now.
///
/// Work below zero holds at most all places but one, and what it holds beyond that (the size may shrink under
/// it) doesn't count against the others. At size 1:
///
/// - an automatic size is no promise, so one request of zero or above may run beside one below zero;
/// - a fixed one is, so work below zero runs only while nothing else waits, and the others wait for its end.
///
/// A request whose host's name is being looked up lends its place until the name is known, and then waits for
/// one like any other. One that nothing has come for after `lendAfter`, and of which nothing goes, lends its place,
/// too: it doesn't count until its head comes. So a slow host, or a name that doesn't resolve, keeps nobody from
/// anything, whatever the size is. A host that lends is held meanwhile: it has the places that it had before, and
/// beyond them only such as would be free if nothing were lent.
///
/// A request with a slow body lends its place likewise, and has it back when its body is fast again, even if no place is
/// free: then nothing starts until fewer run than `size`. Slow bodies lend at most `size` places in all, because each may
/// go on for as long as its server likes.
final class PlacePool {
  /// Lanes whose host may start something.
  private struct Ready {
    var byRank = PositionedHeap<LanesByRank>()
    var byAge = PositionedHeap<LanesByAge>()

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
  /// Whether the program asked for `size`, so that it holds in every case.
  var isFixed = false
  /// The size that is measured, for where none was asked for.
  var automatic: AutomaticSize
  private var foreground = Ready()
  private var background = Ready()
  private var heldForeground = Ready()
  private var heldBackground = Ready()
  private(set) var counts = PlaceCounts()
  private var aboveShare = Share()
  private var belowShare = Share()
  private var turnShare = Share()
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

  /// Whether hosts that lend may start more.
  private var hasRoomForHeld: Bool { counts.taken + counts.lent < size }

  /// Tells the automatic size when something waits for nothing but a place.
  ///
  /// - Returns: whether something does.
  func noteBacklog() -> Bool {
    let above = isFull(isBackground: false) ? foreground.byRank.first : nil
    let below = isFull(isBackground: true) ? background.byRank.first : nil
    guard above != nil || below != nil else { return false }
    automatic.noteBacklog(
      isBatch: above?.byRank.first?.isBatched == true || below?.byRank.first?.isBatched == true)
    return true
  }

  /// Counts a running entry as what it is now; -1 takes that back.
  func count(_ number: Int, of entry: QueueEntry) { counts.add(number, of: entry) }

  /// Those that `moved` counts take part in another pool from now on.
  func move(_ moved: PlaceCounts, to other: PlacePool) {
    counts.add(-1, of: moved)
    other.counts.add(1, of: moved)
  }

  /// Whether something waits for nothing but a place.
  func isFull(isBackground: Bool) -> Bool {
    let isEmpty = isBackground ? background.isEmpty : foreground.isEmpty
    return !isEmpty && !hasRoom(isBackground: isBackground)
  }

  /// Puts `lane` among those that could start something, or keeps its place there up to date.
  func offer(_ lane: HostQueue) {
    guard let best = lane.byRank.first, let oldest = lane.byAge.first else { return withdraw(lane) }
    if lane.isHeld != lane.host.isHeld {
      withdraw(lane)
      lane.isHeld = lane.host.isHeld
    }
    change(lane.isBackground, lane.isHeld) {
      $0.byRank.set(lane, key: best.rank)
      $0.byAge.set(lane, key: oldest.arrival)
    }
  }

  func withdraw(_ lane: HostQueue) {
    change(lane.isBackground, lane.isHeld) {
      $0.byRank.remove(lane)
      $0.byAge.remove(lane)
    }
  }

  /// Takes the entry out whose turn it is, if there is one and a place for it.
  func takeNext(waitingSince limit: Int64) -> QueueEntry? {
    let below = leaders(isBackground: true)
    guard let above = leaders(isBackground: false) else {
      return below.flatMap { take($0, &belowShare, limit) }
    }
    let isBelowsTurn = turnShare.isDue(below?.oldest.byAge.first, waitingSince: limit)
    if isBelowsTurn, let below { return take(below, &belowShare, limit) }
    return take(above, &aboveShare, limit)
  }

  /// Those of its lanes between which the turn is, if there is a place for one.
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

  private func take(_ lanes: Leaders, _ share: inout Share, _ limit: Int64) -> QueueEntry? {
    let isOldest = share.isDue(lanes.oldest.byAge.first, waitingSince: limit)
    return (isOldest ? lanes.oldest : lanes.best).takeNext(oldest: isOldest, waitingSince: limit)
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
