import CSystem

/// What ended among many requests, in the order of their ends: filled by the library's threads, taken by one of the
/// program's. Keeps what is made of an event, never its pictures, unless that is what is made of it.
package final class FinishedTickets<Element: Sendable>: Sendable {
  private struct Line {
    var ended: [Element] = []
    /// How many the taker wants to find before it is woken once more.
    var enough = 1
  }

  private let line = Locked(Line())
  private let bell = EventCount()

  package init() {}

  /// Follows a ticket: what `make` makes of its final event will arrive. `make` runs on a thread of the library's and
  /// must return at once.
  package func follow(_ ticket: Ticket, _ make: @escaping @Sendable (Event) -> Element) {
    ticket.whenFinal { event in
      let element = make(event)
      let isNews = self.line.withLock { line in
        line.ended.append(element)
        return line.ended.count == 1 || line.ended.count == line.enough
      }
      // Waking a thread costs as much as a good part of a small fetch.
      if isNews { self.bell.ring() }
    }
  }

  /// All that has arrived since the last call; waits until something does, or `milliseconds` have gone by. After the
  /// first it waits a little longer, until there are `enough`.
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

  /// In nanoseconds: too short to be noticed.
  private static var lingering: Int64 { 5_000_000 }
}
