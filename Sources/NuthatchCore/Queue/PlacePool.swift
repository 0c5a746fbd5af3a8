/// Places to run, and the hosts that could use one now.
///
/// Work below zero holds at most all places but one, and what it holds beyond that (the size may shrink under
/// it) doesn't count against the others. At size 1:
///
/// - an automatic size is no promise, so one request of zero or above may run beside one below zero;
/// - a fixed one is, so work below zero runs only while nothing else waits, and the others wait for its end.
final class PlacePool {
  /// Lanes whose host may start something.
  struct Ready {
    var byRank = PositionedHeap<LanesByRank>()
    var byAge = PositionedHeap<LanesByAge>()
    var share = Share()
  }

  var size: Int
  /// Whether `size` is somebody's wish that holds in every case.
  var isFixed: Bool
  private(set) var foreground = Ready()
  private(set) var background = Ready()
  private(set) var runningForeground = 0
  private(set) var runningBackground = 0
  private var backgroundShare = Share()

  init(size: Int, isFixed: Bool) {
    self.size = size
    self.isFixed = isFixed
  }

  var running: Int { runningForeground + runningBackground }

  private var backgroundPlaces: Int { max(1, size - 1) }

  var hasForegroundRoom: Bool {
    let reserved = isFixed ? backgroundPlaces : size - 1
    return runningForeground + min(runningBackground, reserved) < size
  }

  var hasBackgroundRoom: Bool { running < size && runningBackground < backgroundPlaces }

  /// Whether somebody waits for nothing but a place.
  var hasBacklog: Bool {
    (!foreground.byRank.isEmpty && !hasForegroundRoom) || (!background.byRank.isEmpty && !hasBackgroundRoom)
  }

  func noteStart(isBackground: Bool) {
    if isBackground { runningBackground += 1 } else { runningForeground += 1 }
  }

  func noteEnd(isBackground: Bool) {
    if isBackground { runningBackground -= 1 } else { runningForeground -= 1 }
  }

  /// Puts `lane` among those that could start something, or keeps its place there up to date.
  func offer(_ lane: QueueLane) {
    guard let best = lane.byRank.first, let oldest = lane.byAge.first else { return withdraw(lane) }
    change(lane.isBackground) {
      $0.byRank.set(lane, key: best.rank)
      $0.byAge.set(lane, key: oldest.arrival)
    }
  }

  func withdraw(_ lane: QueueLane) {
    change(lane.isBackground) {
      $0.byRank.remove(lane)
      $0.byAge.remove(lane)
    }
  }

  /// Takes the entry out whose turn it is, if there is one and a place for it.
  func takeNext(waitingSince limit: Int64) -> QueueEntry? {
    let mayForeground = !foreground.byRank.isEmpty && hasForegroundRoom
    let mayBackground = !background.byRank.isEmpty && hasBackgroundRoom
    guard mayForeground || mayBackground else { return nil }
    let oldestBelow = background.byAge.first?.byAge.first
    let isBackgroundsTurn =
      mayForeground ? backgroundShare.isDue(mayBackground ? oldestBelow : nil, waitingSince: limit) : true
    var chosen: (lane: QueueLane, isOldest: Bool)?
    change(isBackgroundsTurn && mayBackground) {
      let isOldest = $0.share.isDue($0.byAge.first?.byAge.first, waitingSince: limit)
      if let lane = isOldest ? $0.byAge.first : $0.byRank.first { chosen = (lane, isOldest) }
    }
    guard let (lane, isOldest) = chosen else { return nil }
    return lane.takeNext(oldest: isOldest, waitingSince: limit)
  }

  private func change(_ isBackground: Bool, _ body: (inout Ready) -> Void) {
    if isBackground { body(&background) } else { body(&foreground) }
  }
}
