import NuthatchCore

/// The events of one request, as they come; the final event is the last. `Cache.events(for:)` returns it.
///
/// Each event is returned once, by one of the iterators. Cancelling the task that waits cancels the request; its final event is then
/// `cancelled`. Leaving the loop early doesn't cancel it: the answer is stored in the cache. To cancel it, call `ticket.cancel()`.
public struct EventSequence: AsyncSequence, Sendable {
  /// The ticket, to cancel the request, change its priority, or answer questions.
  public let ticket: Ticket
  private let news = News()

  init(_ ticket: Ticket) {
    self.ticket = ticket
    ticket.whenNews { [news] in news.ring() }
  }

  /// Returns an iterator over the events that weren't returned yet.
  public func makeAsyncIterator() -> Iterator { Iterator(ticket: ticket, news: news) }

  /// Returns events; nil after the final one.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let ticket: Ticket
    fileprivate let news: News

    /// Returns the next event. Holds no thread while it waits.
    public func next() async -> Event? {
      while true {
        let ring = news.current
        // Read the state before `take`: when the ticket ends, its final event can be taken already.
        let isOver = ticket.state == .done || ticket.state == .cancelled
        if let event = ticket.take() { return event }
        if isOver { return nil }
        await withTaskCancellationHandler {
          await news.wait(after: ring)
        } onCancel: { [ticket] in
          ticket.cancel()
        }
      }
    }
  }
}

/// Wakes tasks that wait for events. To miss no event, read `current`, then look for an event, then call `wait(after:)`.
private final class News: Sendable {
  private struct Book {
    var rings = 0
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let book = Locked(Book())

  var current: Int { book.withLock { $0.rings } }

  func ring() {
    let waiting = book.withLock { book in
      book.rings &+= 1
      defer { book.waiting = [] }
      return book.waiting
    }
    for task in waiting { task.resume() }
  }

  /// Waits until the number of rings differs from `ring`.
  func wait(after ring: Int) async {
    await withCheckedContinuation { task in
      let hasRung = book.withLock { book in
        if book.rings == ring { book.waiting.append(task) }
        return book.rings != ring
      }
      if hasRung { task.resume() }
    }
  }
}
