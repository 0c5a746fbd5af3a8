/// The tickets of a cache that have no final event yet. A close must end them.
///
/// A separate object, so that an ending ticket needs no reference to its cache. If the loop's thread released the last
/// reference to a cache, it would wait for itself.
final class OpenTickets: Sendable {
  private struct Book {
    /// The reason why no more tickets are accepted; nil while they are.
    var whyClosed: NuthatchError?
    /// Not ordered. Each ticket knows its index. A dictionary would be rebuilt when it grows, and the submitting thread would
    /// wait for that.
    var tickets: [Ticket] = []
    var watchers: [@Sendable () -> Void] = []
    /// Whether the last ticket was removed, and the watchers weren't called yet.
    var hasTurned = false
    /// The number of tickets between `noteEnd` and `tell`: they have ended, but their final events may not be there yet.
    var endsUnderWay = 0

    mutating func add(_ ticket: Ticket) {
      ticket.place = Int32(clamping: tickets.count)
      tickets.append(ticket)
    }

    /// Returns false if it isn't there.
    mutating func remove(_ ticket: Ticket) -> Bool {
      let place = Int(ticket.place)
      guard tickets.indices.contains(place), tickets[place] === ticket else { return false }
      let last = tickets.removeLast()
      if place < tickets.count {
        tickets[place] = last
        last.place = Int32(clamping: place)
      }
      // After a burst the memory is freed.
      if tickets.isEmpty, tickets.capacity > 64 { tickets = [] }
      return true
    }
  }

  private let book = Locked(Book())
  /// Rings when `endsUnderWay` has fallen.
  private let bell = EventCount()

  /// The reason why no more tickets are accepted; nil while they are.
  var whyClosed: NuthatchError? { book.withLock { $0.whyClosed } }

  /// The tickets that are open now.
  var all: [Ticket] { book.withLock { $0.tickets } }

  var count: Int { book.withLock { $0.tickets.count } }

  /// Keeps `ticket` until its final event. Returns false if the cache was closed.
  func add(_ ticket: Ticket) -> Bool {
    // Do this before another thread can find the ticket here and end it.
    ticket.stand(in: self)
    let added: [@Sendable () -> Void]? = book.withLock { book in
      guard book.whyClosed == nil else { return nil }
      book.add(ticket)
      return book.tickets.count == 1 ? book.watchers : []
    }
    guard let watchers = added else { return false }
    for watcher in watchers { watcher() }
    return true
  }

  /// Called under the ticket's lock, before the final event can be taken: a thread that has taken it finds the ticket removed.
  func noteEnd(of ticket: Ticket) {
    book.withLock { book in
      book.endsUnderWay += 1
      if book.remove(ticket), book.tickets.isEmpty { book.hasTurned = true }
    }
  }

  /// Called after `noteEnd` without locks, when the final event can be taken.
  func tell() {
    let watchers = book.withLock { book in
      defer { book.hasTurned = false }
      let watchers = book.hasTurned ? book.watchers : []
      if watchers.isEmpty { book.endsUnderWay -= 1 }
      return watchers
    }
    if !watchers.isEmpty {
      // The watchers run before `endsUnderWay` falls, so that a thread that waits for the end, and may then close the cache, finds
      // their notices.
      for watcher in watchers { watcher() }
      book.withLock { $0.endsUnderWay -= 1 }
    }
    bell.ring()
  }

  /// Calls `watcher` when the number of open tickets has changed from or to 0, on the thread that changed it. It must return at
  /// once, and read the number itself, because two changes may be reported in any order.
  func watch(_ watcher: @escaping @Sendable () -> Void) { book.withLock { $0.watchers.append(watcher) } }

  /// Waits until no ticket is open. Returns false if some still are after this time. If none is open, it also waits until all
  /// final events can be taken and the watchers were called. This second wait is short and has no limit.
  func waitUntilEmpty(within milliseconds: Int64?) -> Bool {
    let deadline = EventCount.deadline(milliseconds)
    while true {
      let ring = bell.current
      let (open, endsUnderWay) = book.withLock { ($0.tickets.count, $0.endsUnderWay) }
      if open == 0, endsUnderWay == 0 { return true }
      if open > 0, EventCount.deadline(0) >= deadline { return false }
      bell.wait(after: ring, until: open > 0 ? deadline : .max)
    }
  }

  /// Waits until the final events of all ended tickets can be taken. This wait is short.
  func waitUntilTold() {
    while true {
      let ring = bell.current
      if book.withLock({ $0.endsUnderWay == 0 }) { return }
      bell.wait(after: ring, until: .max)
    }
  }

  /// Accepts no more tickets, and returns the open ones, which the caller must end. Each stays in the list until its final
  /// event. Returns nil if the list was closed before.
  func close(_ whyClosed: NuthatchError = .closed) -> [Ticket]? {
    book.withLock { book in
      guard book.whyClosed == nil else { return nil }
      book.whyClosed = whyClosed
      return book.tickets
    }
  }

  /// Ends all open tickets with `error`; later ones get this error, too.
  func end(_ error: NuthatchError) {
    for ticket in close(error) ?? [] { ticket.finish(.failed(error)) }
  }
}
