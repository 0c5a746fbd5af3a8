import Synchronization

/// Counts the revalidations that nobody waits for but a close.
final class Revalidations: Sendable {
  private let count = Atomic(0)
  private let bell = Bell()

  func add(_ ticket: Ticket) {
    count.wrappingAdd(1, ordering: .relaxed)
    ticket.whenFinal { _ in
      self.count.wrappingSubtract(1, ordering: .releasing)
      self.bell.ring()
    }
  }

  func wait(milliseconds: Int64) {
    let deadline = Bell.deadline(milliseconds)
    while true {
      let ring = bell.current
      guard count.load(ordering: .acquiring) > 0, Bell.deadline(0) < deadline else { return }
      bell.wait(after: ring, until: deadline)
    }
  }
}
