/// The revalidations that nobody waits for but a close.
final class Revalidations: Sendable {
  private let open = OpenTickets()
  private let bell = Bell()

  /// False when the cache is being closed.
  func add(_ ticket: Ticket) -> Bool {
    guard open.add(ticket) else { return false }
    ticket.whenFinal { _ in self.bell.ring() }
    return true
  }

  /// Waits until none is left, or until the time is up; then ends those that are left, and takes no more.
  func finish(within milliseconds: Int64) {
    let deadline = Bell.deadline(milliseconds)
    while true {
      let ring = bell.current
      guard open.count > 0, Bell.deadline(0) < deadline else { break }
      bell.wait(after: ring, until: deadline)
    }
    for ticket in open.close() ?? [] { ticket.finish(.failed(.closed)) }
  }
}
