/// Something to be done at a time, unless it is cancelled before.
package final class LoopTimer {
  fileprivate var action: (() -> Void)?
  fileprivate var position: Int32 = -1

  fileprivate init(_ action: @escaping () -> Void) { self.action = action }
}

/// What is due when.
package struct TimerQueue {
  private var heap = PositionedHeap<Order>()

  private enum Order: HeapOrder {
    static func position(of element: LoopTimer) -> Int32 { element.position }
    static func setPosition(of element: LoopTimer, to position: Int32) { element.position = position }
  }

  package init() {}

  /// The time of the next timer, nil when there is none.
  package var nextDue: Int64? { heap.firstKey.map { Int64(clamping: $0) } }

  package mutating func add(due: Int64, _ action: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(action)
    heap.set(timer, key: UInt64(max(0, due)))
    return timer
  }

  package mutating func cancel(_ timer: LoopTimer) {
    heap.remove(timer)
    // It may keep what keeps the timer.
    timer.action = nil
  }

  /// Takes out the next action that is due by `now`.
  package mutating func popDue(by now: Int64) -> (() -> Void)? {
    guard let due = nextDue, due <= now, let timer = heap.first else { return nil }
    let action = timer.action
    cancel(timer)
    return action
  }
}
