import CNuthatch
import CSystem
import Glibc
import NuthatchCore

/// The tickets of one handle that have events to take: tickets with a callback for nh_dispatch, the others for nh_poll.
///
/// The queue holds tickets, not events. So an event that nh_wait takes is gone from here, too, and of progress events only the newest is
/// kept.
// Mutable properties are under its lock, hence Sendable.
final class CompletionQueue: @unchecked Sendable {
  /// The state of a ticket in the queue.
  enum Standing {
    case absent
    /// In a line, at this index.
    case listed(Int)
    /// Its callback runs; no other thread may call it meanwhile.
    case called
    /// Its callback runs, and there are more events.
    case calledAgain
  }

  /// The argument of a callback.
  enum Taken {
    case event(Event, TicketView)
    case notification(Notification)
  }

  private struct Book {
    var isClosed = false
    var isShutDown = false
    /// Notifications without a ticket.
    var notesForPoll: [Notification] = []
    var notesForDispatch: [Notification] = []
    var forPoll = Line()
    var forDispatch = Line()
    /// An eventfd that is readable while there are events to take; -1 until a program asks for it.
    var descriptor: Int32 = -1
    var isReadable = false
  }

  private let book = Locked(Book())
  /// Wakes the threads that wait in nh_dispatch.
  private let bell = EventCount()
  private let epoch = nhs_fork_epoch()

  private var isForked: Bool { nhs_fork_epoch() != epoch }

  // MARK: New events

  /// Lists the ticket whenever it has news, until its final event has been taken.
  func watch(_ view: TicketView) {
    view.ticket.whenNews { self.list(view) }
  }

  private func list(_ view: TicketView) {
    guard !isForked else { return }
    let mustRing = book.withLock { book in
      guard !book.isClosed, view.ticket.hasNews else { return false }
      switch view.standing {
      case .listed, .calledAgain: return false
      case .called:
        view.standing = .calledAgain
        return false
      case .absent: break
      }
      if view.callback == nil { book.forPoll.append(view) } else { book.forDispatch.append(view) }
      Self.signal(&book)
      return view.callback != nil
    }
    if mustRing { bell.ring() }
  }

  /// Adds a notification without a ticket.
  func add(_ notification: Notification) {
    guard !isForked else { return }
    let mustRing = book.withLock { book in
      guard !book.isClosed else { return false }
      let isForPoll = notification.listening.callback == nil
      if isForPoll {
        notification.add(to: &book.notesForPoll)
      } else {
        notification.add(to: &book.notesForDispatch)
      }
      Self.signal(&book)
      return !isForPoll
    }
    if mustRing { bell.ring() }
  }

  /// Call it after an event was taken from the ticket itself: removes the ticket from its line if it has no more events.
  func settle(_ view: TicketView) {
    guard !isForked else { return }
    let gone: TicketView? = book.withLock { book in
      guard case .listed(let place) = view.standing, !view.ticket.hasNews else { return nil }
      defer { Self.signal(&book) }
      return view.callback == nil ? book.forPoll.remove(at: place) : book.forDispatch.remove(at: place)
    }
    // Released after the lock, because its deinit may take this lock.
    withExtendedLifetime(gone) {}
  }

  // MARK: Taking events

  /// Returns the next event for nh_poll, or nil. It is converted to C here: an enum of both kinds of events would leave bytes
  /// of the result uninitialized.
  func poll() throws(NuthatchError) -> nh_event? {
    while true {
      if isForked { throw .forked }
      let (next, note): (TicketView?, Notification?) = book.withLock { book in
        defer { Self.signal(&book) }
        guard book.notesForPoll.isEmpty else { return (nil, book.notesForPoll.removeFirst()) }
        return (book.forPoll.popFirst(), nil)
      }
      if let note { return cEvent(note) }
      guard let next else { return nil }
      if let event = next.ticket.take() {
        list(next)
        return cEvent(event, of: next)
      }
    }
  }

  /// Calls `call` with the notifications, and with one event of each ticket, that wait at the start. Waits for the first until
  /// `deadline`. Returns the number of calls.
  ///
  /// - Throws: `closed` if no more events will come; `forked`.
  func dispatch(
    until deadline: Int64, isIdle: () -> Bool, _ call: (Taken) -> Void
  ) throws(NuthatchError) -> Int {
    while true {
      if isForked { throw .forked }
      let ring = bell.current
      // Events that callbacks cause are left for the next call, so that this call ends.
      let (waiting, notes): (Int, [Notification]) = book.withLock { book in
        defer { Self.signal(&book) }
        defer { book.notesForDispatch = [] }
        return (book.forDispatch.count, book.notesForDispatch)
      }
      var told = notes.count
      for note in notes { call(.notification(note)) }
      for _ in 0..<waiting {
        guard let view = beginCall() else { break }
        if let event = view.ticket.take() {
          call(.event(event, view))
          told += 1
        }
        endCall(view)
      }
      if told > 0 { return told }
      let (isClosed, isShutDown) = book.withLock { ($0.isClosed, $0.isShutDown && $0.forDispatch.count == 0) }
      if isClosed || (isShutDown && isIdle()) { throw .closed }
      if nhs_monotonic_ns() >= deadline { return 0 }
      bell.wait(after: ring, until: deadline)
    }
  }

  private func beginCall() -> TicketView? {
    book.withLock { book in
      defer { Self.signal(&book) }
      let view = book.forDispatch.popFirst()
      view?.standing = .called
      return view
    }
  }

  private func endCall(_ view: TicketView) {
    guard !isForked else { return }
    book.withLock { $0.isClosed ? () : (view.standing = .absent) }
    list(view)
  }

  // MARK: The descriptor

  /// Returns an eventfd that is readable while there are events to take.
  func descriptor() throws(NuthatchError) -> Int32 {
    if isForked { throw .forked }
    let (found, reason): (Int32, Int32) = book.withLock { book in
      guard !book.isClosed else { return (-1, 0) }
      if book.descriptor < 0 {
        book.descriptor = nhs_eventfd_new()
        if book.descriptor < 0 { return (-1, errno) }
        _ = nhs_close_in_child(book.descriptor)
        Self.signal(&book)
      }
      return (book.descriptor, 0)
    }
    if found >= 0 { return found }
    if reason == 0 { throw .closed }
    throw NuthatchError(.io, "no descriptor for nh_fd: \(String(cString: strerror(reason)))")
  }

  /// Makes the descriptor readable if there are events to take, else unreadable. Call it under the lock.
  private static func signal(_ book: inout Book) {
    let isDue =
      book.forPoll.count > 0 || book.forDispatch.count > 0 || !book.notesForPoll.isEmpty
      || !book.notesForDispatch.isEmpty
    guard book.descriptor >= 0, isDue != book.isReadable else { return }
    book.isReadable = isDue
    if isDue {
      _ = eventfd_write(book.descriptor, 1)
    } else {
      var count: eventfd_t = 0
      _ = eventfd_read(book.descriptor, &count)
    }
  }

  // MARK: Close

  /// Makes `dispatch` end with `closed` once it has delivered all events and no request is under way.
  func shutDown() {
    guard !isForked else { return }
    book.withLock { $0.isShutDown = true }
    bell.ring()
  }

  /// Discards all events that weren't taken, and accepts no more.
  func close() {
    guard !isForked else { return }
    let left: (Line, Line) = book.withLock { book in
      book.isClosed = true
      (book.notesForPoll, book.notesForDispatch) = ([], [])
      if book.descriptor >= 0 {
        nhs_keep_in_child(book.descriptor)
        // Wakes threads that poll the descriptor.
        _ = eventfd_write(book.descriptor, 1)
        Glibc.close(book.descriptor)
        book.descriptor = -1
      }
      defer { (book.forPoll, book.forDispatch) = (Line(), Line()) }
      return (book.forPoll, book.forDispatch)
    }
    bell.ring()
    withExtendedLifetime(left) {}
  }
}

/// Tickets in the order in which their events came. Any ticket can be removed.
private struct Line {
  /// nil where a ticket was removed.
  private var places: [TicketView?] = []
  private var first = 0
  private(set) var count = 0

  mutating func append(_ view: TicketView) {
    if places.count - first > 2 * count + 64 || first > 1024 && first > places.count / 2 { closeHoles() }
    view.standing = .listed(places.count)
    places.append(view)
    count += 1
  }

  mutating func popFirst() -> TicketView? {
    while first < places.count {
      first += 1
      if let view = remove(at: first - 1) { return view }
    }
    return nil
  }

  mutating func remove(at place: Int) -> TicketView? {
    guard places.indices.contains(place), let view = places[place] else { return nil }
    places[place] = nil
    view.standing = .absent
    count -= 1
    if count == 0 {
      places.removeAll(keepingCapacity: places.capacity <= 4096)
      first = 0
    }
    return view
  }

  private mutating func closeHoles() {
    places = places[first...].filter { $0 != nil }
    first = 0
    for (place, view) in places.enumerated() { view?.standing = .listed(place) }
  }
}
