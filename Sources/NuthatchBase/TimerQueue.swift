/// An action that is due at a set time. `TimerQueue.cancel` removes it.
package final class LoopTimer {
  fileprivate var action: (() -> Void)?
  fileprivate var position: Int32 = -1

  fileprivate init(_ action: @escaping () -> Void) { self.action = action }
}

/// Timers in the order of their times.
package struct TimerQueue {
  private var timers = PositionedHeap<Order>()

  private enum Order: HeapOrder {
    static func position(of element: LoopTimer) -> Int32 { element.position }
    static func setPosition(of element: LoopTimer, to position: Int32) { element.position = position }
  }

  package init() {}

  /// The time of the next timer; nil if there is none.
  package var nextDue: Int64? { timers.nextDue }

  package mutating func add(due: Int64, _ action: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(action)
    timers.set(timer, at: due)
    return timer
  }

  package mutating func cancel(_ timer: LoopTimer) {
    timers.remove(timer)
    // The action may retain the timer.
    timer.action = nil
  }

  /// Removes and returns the next action that is due by `now`.
  package mutating func popDue(by now: Int64) -> (() -> Void)? {
    guard let timer = timers.takeDue(by: now) else { return nil }
    let action = timer.action
    timer.action = nil
    return action
  }
}
