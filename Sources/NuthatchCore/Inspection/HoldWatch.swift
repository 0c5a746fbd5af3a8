/// Notices a process that keeps the store's lock, so that nothing that is fetched can be stored meanwhile: for a run that
/// fetches in order to store. It stops after 30 s of one owner, and goes on when the lock is free, or has another owner.
package struct HoldWatch {
  /// Who has the lock, and for how many nanoseconds; nil while it is free.
  package typealias Holder = (by: String, nanoseconds: Int64)

  package enum News: Equatable, Sendable {
    case stop(String)
    case goOn(String)
  }

  private static let pause: Int64 = 250_000_000

  private let patience: Int64
  private let holder: () -> Holder?
  private var due: Int64 = .min
  /// Whether nothing is to be fetched.
  package private(set) var isHeld = false

  package init(patience: Int64 = 30_000_000_000, _ holder: @escaping () -> Holder?) {
    self.patience = patience
    self.holder = holder
  }

  /// What is to be said and done now, once for each change.
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
    return .goOn("the lock of the cache is free: the run goes on")
  }
}
