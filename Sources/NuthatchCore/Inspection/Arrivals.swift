import CSystem
import NuthatchTransport

/// What ended among many requests, in the order of their ends: filled by the library's threads, taken by one of the
/// program's. Keeps what is made of an event, never its pictures, unless that is what is made of it.
package final class Arrivals<Element: Sendable>: Sendable {
  private let ended = Locked<[Element]>([])
  private let bell = Bell()

  package init() {}

  /// Follows a ticket: what `make` makes of its final event will arrive. `make` runs on a thread of the library's and
  /// must return at once.
  package func follow(_ ticket: Ticket, _ make: @escaping @Sendable (Event) -> Element) {
    ticket.whenFinal { event in
      let element = make(event)
      self.ended.withLock { $0.append(element) }
      self.bell.ring()
    }
  }

  /// All that has arrived since the last call; waits until something does, or `milliseconds` have gone by.
  package func take(within milliseconds: Int64) -> [Element] {
    let due = Bell.deadline(milliseconds)
    while true {
      let ring = bell.current
      let taken = ended.withLock { ended in
        defer { ended = [] }
        return ended
      }
      if !taken.isEmpty || nhs_monotonic_ns() >= due { return taken }
      bell.wait(after: ring, until: due)
    }
  }
}
