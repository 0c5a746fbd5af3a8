/// The freezable requests of one queue that are under way in this process, in the order in which they were submitted: those
/// whose server can't be reached are kept in that order, whichever of them hears of it first.
struct FreezeOrder {
  private enum Place {
    case underWay
    case waiting(() -> Void)
  }

  private var places: [UInt64: Place] = [:]
  /// Nobody is before this one.
  private var first: UInt64 = 1
  private var next: UInt64 = 1

  var isEmpty: Bool { places.isEmpty }

  /// A place at the end, which is never 0.
  mutating func join() -> UInt64 {
    places[next] = .underWay
    next &+= 1
    return next &- 1
  }

  /// Notes what it does when nobody is before it.
  mutating func wait(_ turn: UInt64, _ then: @escaping () -> Void) { places[turn] = .waiting(then) }

  /// Takes one out, whoever is before it; what it was waiting to do.
  mutating func take(_ turn: UInt64) -> (() -> Void)? {
    guard case .waiting(let then)? = places.removeValue(forKey: turn) else { return nil }
    return then
  }

  /// Takes out all who wait with nobody before them; what they do, in their order.
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
  /// What is submitted later is kept behind it.
  func join(_ attempt: FreezeAttempt) { attempt.turn = lines[attempt.queue, default: FreezeOrder()].join() }

  /// Does something when all of its queue that were submitted before are through. False while it waits.
  func inTurn(_ attempt: FreezeAttempt, _ then: @escaping () -> Void) -> Bool {
    lines[attempt.queue]?.wait(attempt.turn) {
      attempt.turn = 0
      then()
    }
    goOn(attempt.queue)
    return attempt.turn == 0
  }

  /// Has it done now, if it still waits.
  func hurry(_ attempt: FreezeAttempt) {
    guard attempt.turn != 0 else { return }
    lines[attempt.queue]?.take(attempt.turn)?()
    goOn(attempt.queue)
  }

  /// It won't be kept.
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
