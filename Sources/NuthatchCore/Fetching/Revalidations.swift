/// The background revalidations of stale answers. No ticket waits for them, only a close. Each one begins before its answer is
/// delivered, so that a close after the delivery waits for it.
final class Revalidations: Sendable {
  /// The most revalidations at once. If there are more, an answer is revalidated when it is given the next time.
  private static let most = 4096

  private struct State {
    var open: [ObjectIdentifier: Revalidation] = [:]
    var isClosed = false
  }

  private let state = Locked(State())
  /// Rings when a revalidation has ended.
  private let ended = EventCount()

  /// Asks the server whether a stored answer is still valid. Called on the loop's thread.
  func start(_ plan: RequestPlan, _ stored: StoredAnswer, _ shared: SharedCache) {
    let revalidation = Revalidation(plan, shared)
    let isTaken = state.withLock { state in
      guard !state.isClosed, state.open.count < Self.most else { return false }
      state.open[ObjectIdentifier(revalidation)] = revalidation
      return true
    }
    if isTaken { revalidation.start(stored) }
  }

  func forget(_ revalidation: Revalidation) {
    _ = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(revalidation)) }
    ended.ring()
  }

  /// Waits until no revalidation is open. Returns false if one still is after this time. Nil: no limit.
  func wait(within milliseconds: Int64?) -> Bool {
    let deadline = EventCount.deadline(milliseconds)
    while true {
      let seen = ended.current
      if state.withLock({ $0.open.isEmpty }) { return true }
      if EventCount.deadline(0) >= deadline { return false }
      ended.wait(after: seen, until: deadline)
    }
  }

  /// Ends the open revalidations, and accepts no more.
  func close() {
    let left = state.withLock { state in
      defer { state = State(open: [:], isClosed: true) }
      return Array(state.open.values)
    }
    ended.ring()
    for revalidation in left { revalidation.stop() }
  }
}
