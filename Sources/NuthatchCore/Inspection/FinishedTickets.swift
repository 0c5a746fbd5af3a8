import CSystem

/// The results of finished requests, in the order of their ends. Any thread adds them, and one thread of the program takes
/// them. Only the result of `make` is kept, not the event with its pictures.
package final class FinishedTickets<Element: Sendable>: Sendable {
  private struct Line {
    var ended: [Element] = []
    /// The number of results after which the taking thread is woken again.
    var enough = 1
  }

  private let line = Locked(Line())
  private let bell = EventCount()

  package init() {}

  /// Adds the result of `make` when the ticket has its final event. `make` runs on any thread and must return at once.
  package func follow(_ ticket: Ticket, _ make: @escaping @Sendable (Event) -> Element) {
    ticket.whenFinal { event in
      let element = make(event)
      let isNews = self.line.withLock { line in
        line.ended.append(element)
        return line.ended.count == 1 || line.ended.count == line.enough
      }
      // Waking a thread costs a good part of the time of a small fetch.
      if isNews { self.bell.ring() }
    }
  }

  /// Takes all results since the last call. Waits until there is one, or `milliseconds` have passed. After the first result it
  /// waits up to 5 ms more, until there are `enough`.
  package func take(within milliseconds: Int64, enough: Int = 1) -> [Element] {
    var due = EventCount.deadline(milliseconds)
    var isLingering = false
    while true {
      let ring = bell.current
      let (taken, count) = line.withLock { line -> ([Element], Int) in
        line.enough = enough
        let count = line.ended.count
        guard count >= enough || isLingering && nhs_monotonic_ns() >= due else { return ([], count) }
        defer { line.ended = [] }
        return (line.ended, count)
      }
      if !taken.isEmpty { return taken }
      if count > 0, !isLingering {
        isLingering = true
        due = min(due, nhs_monotonic_ns() + Self.lingering)
      }
      if count == 0, nhs_monotonic_ns() >= due { return [] }
      bell.wait(after: ring, until: due)
    }
  }

  /// In nanoseconds. Too short for a user to notice.
  private static var lingering: Int64 { 5_000_000 }
}
