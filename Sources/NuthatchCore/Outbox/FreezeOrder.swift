/// The freezable requests of one queue that are under way in this process, in the order of their submission. If their server
/// can't be reached, they are stored in that order, even if a later one fails first.
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

  /// Keeps a function to call when no earlier request is left.
  mutating func wait(_ turn: UInt64, _ then: @escaping () -> Void) { places[turn] = .waiting(then) }

  /// Removes a request, and returns its function if it was waiting.
  mutating func take(_ turn: UInt64) -> (() -> Void)? {
    guard case .waiting(let then)? = places.removeValue(forKey: turn) else { return nil }
    return then
  }

  /// Removes the waiting requests before the first one that is under way. Returns their functions, in order.
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
  /// Adds a request to the order of its queue. Later requests are stored after it.
  func join(_ freezer: Freezer) { freezer.turn = freezeOrders[freezer.queue, default: FreezeOrder()].join() }

  /// Calls `then` when all earlier requests of its queue are done. Returns whether it was called at once.
  func callInTurn(_ freezer: Freezer, _ then: @escaping () -> Void) -> Bool {
    freezeOrders[freezer.queue]?.wait(freezer.turn) {
      freezer.turn = 0
      then()
    }
    callDue(freezer.queue)
    return freezer.turn == 0
  }

  /// Ends the wait of a request: calls its function now.
  func stopWaiting(_ freezer: Freezer) {
    guard freezer.turn != 0 else { return }
    freezeOrders[freezer.queue]?.take(freezer.turn)?()
    callDue(freezer.queue)
  }

  /// Removes a request that won't be stored.
  func leave(_ freezer: Freezer) {
    guard freezer.turn != 0 else { return }
    _ = freezeOrders[freezer.queue]?.take(freezer.turn)
    freezer.turn = 0
    callDue(freezer.queue)
  }

  private func callDue(_ queue: String) {
    for then in freezeOrders[queue]?.takeFirst() ?? [] { then() }
    if freezeOrders[queue]?.isEmpty == true { freezeOrders[queue] = nil }
  }
}
