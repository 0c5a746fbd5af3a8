/// What is due when: a binary heap of deadlines. Cancelled timers stay in the heap, and do nothing, until
/// their time comes or they are the greater part of it.
struct TimerQueue {
  typealias ID = UInt64

  private var heap: [(due: Int64, id: ID)] = []
  private var actions: [ID: Action] = [:]
  private var lastID: ID = 0

  /// A closure by itself would be wrapped in another one to stand in a dictionary.
  private struct Action {
    let run: () -> Void
  }

  /// The time of the next timer, nil when there is none.
  var nextDue: Int64? { heap.first?.due }

  mutating func add(due: Int64, _ action: @escaping () -> Void) -> ID {
    lastID += 1
    actions[lastID] = Action(run: action)
    heap.append((due, lastID))
    siftUp()
    return lastID
  }

  mutating func cancel(_ id: ID) {
    actions[id] = nil
    // A deadline far away is the usual case, and the usual request ends long before it.
    guard heap.count > 64, heap.count > 2 * actions.count else { return }
    // Sorted is a heap, too.
    heap = heap.filter { actions[$0.id] != nil }.sorted { $0.due < $1.due }
  }

  /// How many entries are kept, those of cancelled timers among them.
  var entryCount: Int { heap.count }

  /// Takes out the next action that is due by `now`.
  mutating func popDue(by now: Int64) -> (() -> Void)? {
    while let first = heap.first, first.due <= now {
      removeFirst()
      if let action = actions.removeValue(forKey: first.id) { return action.run }
    }
    return nil
  }

  private mutating func siftUp() {
    var child = heap.count - 1
    while child > 0, heap[child].due < heap[(child - 1) / 2].due {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { return }
      let least = left + 1 < heap.count && heap[left + 1].due < heap[left].due ? left + 1 : left
      guard heap[least].due < heap[parent].due else { return }
      heap.swapAt(least, parent)
      parent = least
    }
  }
}
