/// The fetches behind stale answers that are given all the same: no ticket waits for them, only a close. Each begins before its
/// answer is delivered, so that a close that comes then waits for it.
final class Revalidations: Sendable {
  /// How many are under way at most. What isn't asked about now is asked about when it is given once more.
  private static let most = 4096

  private struct State {
    var open: [ObjectIdentifier: Revalidation] = [:]
    var isClosed = false
  }

  private let state = Locked(State())
  /// Rings when one has ended.
  private let ended = EventCount()

  /// Asks the server whether what is stored still holds. Called on the loop's thread.
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

  /// Waits until none is left. False when that took longer; nil waits for ever.
  func wait(within milliseconds: Int64?) -> Bool {
    let deadline = EventCount.deadline(milliseconds)
    while true {
      let seen = ended.current
      if state.withLock({ $0.open.isEmpty }) { return true }
      if EventCount.deadline(0) >= deadline { return false }
      ended.wait(after: seen, until: deadline)
    }
  }

  /// Ends those that are left, and takes no more.
  func close() {
    let left = state.withLock { state in
      defer { state = State(open: [:], isClosed: true) }
      return Array(state.open.values)
    }
    ended.ring()
    for revalidation in left { revalidation.stop() }
  }
}
