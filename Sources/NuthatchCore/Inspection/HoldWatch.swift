/// Detects a process that keeps the store's lock, so that fetched answers can't be stored. For a run that fetches in order to
/// store: it pauses after 30 s with the same lock owner, and continues when the lock is free or has another owner.
package struct HoldWatch {
  /// The owner of the lock, and for how many nanoseconds it has held it; nil while the lock is free.
  package typealias Holder = (by: String, nanoseconds: Int64)

  package enum News: Equatable, Sendable {
    case stop(String)
    case goOn(String)
  }

  private static let pause: Int64 = 250_000_000

  private let patience: Int64
  private let holder: () -> Holder?
  private var due: Int64 = .min
  /// Whether the run is paused.
  package private(set) var isHeld = false

  package init(patience: Int64 = 30_000_000_000, _ holder: @escaping () -> Holder?) {
    self.patience = patience
    self.holder = holder
  }

  /// Returns the action and its message, once for each change.
  ///
  /// - Parameter now: nanoseconds on the monotonic clock.
  package mutating func news(at now: Int64) -> News? {
    guard now >= due else { return nil }
    due = now &+ Self.pause
    let holder = holder()
    let isHeldNow = holder.map { $0.nanoseconds >= patience } ?? false
    guard isHeldNow != isHeld else { return nil }
    isHeld = isHeldNow
    if let holder, isHeldNow {
      let seconds = holder.nanoseconds / 1_000_000_000
      return .stop(
        "\(holder.by) has held the lock of the cache for \(seconds) s: nothing can be stored, so nothing is fetched"
      )
    }
    return .goOn("the lock of the cache is free again, or has another owner: the run goes on")
  }
}
