/// The freezable requests of one queue that are under way in this process, in the order of their submission. If their server can't be
/// reached, they are stored in that order, whichever fails first.
struct FreezeOrder {
  private enum Place {
    case underWay
    case waiting(() -> Void)
  }

  private var places: [UInt64: Place] = [:]
  /// The least number that may still be in use.
  private var first: UInt64 = 1
  private var next: UInt64 = 1

  var isEmpty: Bool { places.isEmpty }

  /// Returns a number at the end of the order, never 0.
  mutating func join() -> UInt64 {
    places[next] = .underWay
    next &+= 1
    return next &- 1
  }

  /// Stores what to do when no earlier request is left.
  mutating func wait(_ turn: UInt64, _ then: @escaping () -> Void) { places[turn] = .waiting(then) }

  /// Removes a request and returns what it was waiting to do.
  mutating func take(_ turn: UInt64) -> (() -> Void)? {
    guard case .waiting(let then)? = places.removeValue(forKey: turn) else { return nil }
    return then
  }

  /// Removes the waiting requests at the front, up to the first that is under way; returns what they do, in order.
  mutating func takeFirst() -> [() -> Void] {
    var due: [() -> Void] = []
    while first < next {
      switch places[first] {
      case .underWay?: return due
      case .waiting(let then)?:
        due.append(then)
        places[first] = nil
      case nil: break
      }
      first &+= 1
    }
    return due
  }
}

/// On the loop's thread.
extension DirectoryOutbox {
  /// Adds a request: later requests are stored after it.
  func join(_ attempt: FreezeAttempt) { attempt.turn = lines[attempt.queue, default: FreezeOrder()].join() }

  /// Calls `then` when all earlier requests of its queue are done. Returns whether that has happened already.
  func inTurn(_ attempt: FreezeAttempt, _ then: @escaping () -> Void) -> Bool {
    lines[attempt.queue]?.wait(attempt.turn) {
      attempt.turn = 0
      then()
    }
    goOn(attempt.queue)
    return attempt.turn == 0
  }

  /// Stops waiting: runs `then` now.
  func hurry(_ attempt: FreezeAttempt) {
    guard attempt.turn != 0 else { return }
    lines[attempt.queue]?.take(attempt.turn)?()
    goOn(attempt.queue)
  }

  /// Removes a request that won't be stored.
  func leave(_ attempt: FreezeAttempt) {
    guard attempt.turn != 0 else { return }
    _ = lines[attempt.queue]?.take(attempt.turn)
    attempt.turn = 0
    goOn(attempt.queue)
  }

  private func goOn(_ queue: String) {
    for then in lines[queue]?.takeFirst() ?? [] { then() }
    if lines[queue]?.isEmpty == true { lines[queue] = nil }
  }
}
