/// The revalidations that nobody waits for but a close.
final class Revalidations: Sendable {
  private let open = OpenTickets()

  /// False when the cache is being closed.
  func add(_ ticket: Ticket) -> Bool {
    open.add(ticket)
  }

  /// Waits until none is left. False when that took longer; nil waits for ever.
  func wait(within milliseconds: Int64?) -> Bool { open.waitUntilEmpty(within: milliseconds) }

  /// Ends those that are left, and takes no more.
  func end(_ error: NuthatchError) { open.end(error) }
}
