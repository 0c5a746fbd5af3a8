import NuthatchTransport
import Synchronization

/// The tickets of a cache that have no final event yet, which is whom a close must tell.
///
/// An object of its own, so that an ending ticket needs no reference to its cache: dropped on the loop's thread, the
/// last one would make that thread wait for itself.
final class OpenTickets: Sendable {
  private struct Book {
    var isClosed = false
    var lastNumber: UInt64 = 0
    var tickets: [UInt64: Ticket] = [:]
    var watchers: [@Sendable () -> Void] = []
  }

  private let book = Locked(Book())
  /// How many have no final event: it counts one less before that can be taken.
  private let underWay = Atomic(0)
  /// Rings when the last ticket has gone.
  private let bell = Bell()

  var isClosed: Bool { book.withLock { $0.isClosed } }

  /// Those that are open at this moment.
  var all: [Ticket] { book.withLock { Array($0.tickets.values) } }

  var count: Int { underWay.load(ordering: .acquiring) }

  /// Keeps `ticket` until its final event. False when the cache has been closed.
  func add(_ ticket: Ticket) -> Bool {
    let added: (number: UInt64, watchers: [@Sendable () -> Void])? = book.withLock { book in
      guard !book.isClosed else { return nil }
      book.lastNumber += 1
      book.tickets[book.lastNumber] = ticket
      return (book.lastNumber, book.tickets.count == 1 ? book.watchers : [])
    }
    guard let (number, watchers) = added else { return false }
    underWay.add(1, ordering: .acquiringAndReleasing)
    ticket.whenEnding { self.underWay.subtract(1, ordering: .acquiringAndReleasing) }
    for watcher in watchers { watcher() }
    ticket.whenFinal { _ in self.remove(number) }
    return true
  }

  private func remove(_ number: UInt64) {
    let watchers = book.withLock { book -> [@Sendable () -> Void]? in
      guard book.tickets.removeValue(forKey: number) != nil, book.tickets.isEmpty else { return nil }
      return book.watchers
    }
    guard let watchers else { return }
    bell.ring()
    for watcher in watchers { watcher() }
  }

  /// Calls `watcher` when the number of open tickets has turned from or to none, on whatever thread did it: it must return
  /// at once, and look for itself, because two turns may be told of in any order.
  func watch(_ watcher: @escaping @Sendable () -> Void) { book.withLock { $0.watchers.append(watcher) } }

  /// False when some are still open after this time. Those that aren't have told everybody of their end.
  func waitUntilEmpty(within milliseconds: Int64?) -> Bool {
    let deadline = Bell.deadline(milliseconds)
    while true {
      let ring = bell.current
      if book.withLock({ $0.tickets.isEmpty }) { return true }
      if Bell.deadline(0) >= deadline { return false }
      bell.wait(after: ring, until: deadline)
    }
  }

  /// Takes no more tickets, and hands over those that are left. nil when it was closed before.
  func close() -> [Ticket]? {
    defer { bell.ring() }
    let (left, watchers) = book.withLock { book -> ([Ticket]?, [@Sendable () -> Void]) in
      guard !book.isClosed else { return (nil, []) }
      book.isClosed = true
      defer { book.tickets = [:] }
      return (Array(book.tickets.values), book.tickets.isEmpty ? [] : book.watchers)
    }
    for watcher in watchers { watcher() }
    return left
  }
}
