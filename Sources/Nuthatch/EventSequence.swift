import NuthatchCore

/// The events of one request, as they come; the final one is the last. From `Cache.events(for:)`.
///
/// Each event is handed out once, whoever iterates. Cancelling the task that waits cancels the request, whose final event
/// then says so; leaving the loop early doesn't: what comes is kept in the cache. `ticket.cancel()` does.
public struct EventSequence: AsyncSequence, Sendable {
  /// For cancelling, for another priority, for answering questions.
  public let ticket: Ticket
  private let news = News()

  init(_ ticket: Ticket) {
    self.ticket = ticket
    ticket.whenNews { [news] in news.ring() }
  }

  /// Hands out what has not been handed out.
  public func makeAsyncIterator() -> Iterator { Iterator(ticket: ticket, news: news) }

  /// Hands out events; nil after the final one.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let ticket: Ticket
    fileprivate let news: News

    /// The next event. Holds no thread while it waits.
    public func next() async -> Event? {
      while true {
        let ring = news.current
        // In this order: a ticket that has ended has its last event already.
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

/// Wakes tasks: those that wait, and those that are just about to.
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

  /// Waits until it has rung after the time that `ring` was the current one.
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
