import NuthatchTransport

/// The tickets of a cache that have no final event yet, which is whom a close must tell.
///
/// An object of its own, so that an ending ticket needs no reference to its cache: dropped on the loop's thread, the
/// last one would make that thread wait for itself.
final class OpenTickets: Sendable {
  private struct Book {
    var isClosed = false
    var lastNumber: UInt64 = 0
    var tickets: [UInt64: Ticket] = [:]
  }

  private let book = Locked(Book())
  /// Rings when the last ticket has gone.
  private let bell = Bell()

  var isClosed: Bool { book.withLock { $0.isClosed } }

  /// Those that are open at this moment.
  var all: [Ticket] { book.withLock { Array($0.tickets.values) } }

  var count: Int { book.withLock { $0.tickets.count } }

  /// Keeps `ticket` until its final event. False when the cache has been closed.
  func add(_ ticket: Ticket) -> Bool {
    let number: UInt64? = book.withLock { book in
      guard !book.isClosed else { return nil }
      book.lastNumber += 1
      book.tickets[book.lastNumber] = ticket
      return book.lastNumber
    }
    guard let number else { return false }
    ticket.whenFinal { _ in self.remove(number) }
    return true
  }

  private func remove(_ number: UInt64) {
    let isLast = book.withLock { book in
      book.tickets.removeValue(forKey: number) != nil && book.tickets.isEmpty
    }
    if isLast { bell.ring() }
  }

  /// False when some are still open after this time.
  func waitUntilEmpty(within milliseconds: Int64?) -> Bool {
    let deadline = Bell.deadline(milliseconds)
    while true {
      let ring = bell.current
      if count == 0 { return true }
      if Bell.deadline(0) >= deadline { return false }
      bell.wait(after: ring, until: deadline)
    }
  }

  /// Takes no more tickets, and hands over those that are left. nil when it was closed before.
  func close() -> [Ticket]? {
    defer { bell.ring() }
    return book.withLock { book in
      guard !book.isClosed else { return nil }
      book.isClosed = true
      defer { book.tickets = [:] }
      return Array(book.tickets.values)
    }
  }
}
