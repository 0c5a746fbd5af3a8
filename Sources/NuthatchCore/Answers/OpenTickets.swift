/// The tickets of a cache that have no final event yet, which is whom a close must tell.
///
/// An object of its own, so that an ending ticket needs no reference to its cache: dropped on the loop's thread, the
/// last one would make that thread wait for itself.
final class OpenTickets: Sendable {
  private struct Book {
    /// Why no more are taken; nil as long as they are.
    var whyClosed: NuthatchError?
    /// In no order. Each knows its place: a table would be made anew, entry by entry, each time that it grows, which whoever
    /// submits the hundred thousandth request has to wait for.
    var tickets: [Ticket] = []
    var watchers: [@Sendable () -> Void] = []
    /// The last one has gone, and the watchers haven't been told.
    var hasTurned = false
    /// How many have ended and are just telling who is to know of it.
    var telling = 0

    mutating func add(_ ticket: Ticket) {
      ticket.place = Int32(clamping: tickets.count)
      tickets.append(ticket)
    }

    /// False when it isn't there.
    mutating func remove(_ ticket: Ticket) -> Bool {
      let place = Int(ticket.place)
      guard tickets.indices.contains(place), tickets[place] === ticket else { return false }
      let last = tickets.removeLast()
      if place < tickets.count {
        tickets[place] = last
        last.place = Int32(clamping: place)
      }
      // A burst that is over keeps no memory.
      if tickets.isEmpty, tickets.capacity > 64 { tickets = [] }
      return true
    }
  }

  private let book = Locked(Book())
  /// Rings when a ticket has gone.
  private let bell = EventCount()

  /// Why no more tickets are taken; nil as long as they are.
  var whyClosed: NuthatchError? { book.withLock { $0.whyClosed } }

  /// Those that are open at this moment.
  var all: [Ticket] { book.withLock { $0.tickets } }

  var count: Int { book.withLock { $0.tickets.count } }

  /// Keeps `ticket` until its final event. False when the cache has been closed.
  func add(_ ticket: Ticket) -> Bool {
    // Before anybody finds it here, who may end it at once.
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

  /// Called under the ticket's lock, before anybody can take the final event: whoever has it finds none under way.
  func noteEnd(of ticket: Ticket) {
    book.withLock { book in
      book.telling += 1
      if book.remove(ticket), book.tickets.isEmpty { book.hasTurned = true }
    }
  }

  /// Called after `noteEnd`, when nothing is locked.
  func tell() {
    let watchers = book.withLock { book in
      defer { book.hasTurned = false }
      let watchers = book.hasTurned ? book.watchers : []
      if watchers.isEmpty { book.telling -= 1 }
      return watchers
    }
    if !watchers.isEmpty {
      // What they tell is there before whoever waits for the end goes on, and closes the cache perhaps.
      for watcher in watchers { watcher() }
      book.withLock { $0.telling -= 1 }
    }
    bell.ring()
  }

  /// Calls `watcher` when the number of open tickets has turned from or to none, on whatever thread did it: it must return
  /// at once, and look for itself, because two turns may be told of in any order.
  func watch(_ watcher: @escaping @Sendable () -> Void) { book.withLock { $0.watchers.append(watcher) } }

  /// False when some are still open after this time. Those that aren't have told everybody of their end: that is waited for
  /// however short the time is, because it comes at once.
  func waitUntilEmpty(within milliseconds: Int64?) -> Bool {
    let deadline = EventCount.deadline(milliseconds)
    while true {
      let ring = bell.current
      let (open, telling) = book.withLock { ($0.tickets.count, $0.telling) }
      if open == 0, telling == 0 { return true }
      if open > 0, EventCount.deadline(0) >= deadline { return false }
      bell.wait(after: ring, until: open > 0 ? deadline : .max)
    }
  }

  /// Waits for those that have ended and are telling so at this moment, which is soon done.
  func waitUntilTold() {
    while true {
      let ring = bell.current
      if book.withLock({ $0.telling == 0 }) { return }
      bell.wait(after: ring, until: .max)
    }
  }

  /// Takes no more tickets, and hands over those that are left, which the caller ends. They stay open until they have had their
  /// final events. nil when it was closed before.
  func close(_ whyClosed: NuthatchError = .closed) -> [Ticket]? {
    book.withLock { book in
      guard book.whyClosed == nil else { return nil }
      book.whyClosed = whyClosed
      return book.tickets
    }
  }

  /// Ends those that are left with `error`, which is what whoever comes later gets, too.
  func end(_ error: NuthatchError) {
    for ticket in close(error) ?? [] { ticket.finish(.failed(error)) }
  }
}
