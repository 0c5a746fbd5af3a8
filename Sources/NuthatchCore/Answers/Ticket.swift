import CSystem
import NuthatchBase
import NuthatchTransport

/// A submitted request.
///
/// Releasing a ticket doesn't cancel the request; `cancel` does, at once.
///
/// Mutable properties are under its lock, hence Sendable.
public final class Ticket: @unchecked Sendable {
  /// The state of a request.
  public enum State: Int32, Sendable {
    case queued = 1
    case running = 2
    case done = 3
    case cancelled = 4
  }

  /// Events and observers; created with the first of them.
  private final class Mail {
    /// Events that weren't taken yet: `data` events, and at most one `progress`, one `question`, one `cached` and the final
    /// event. Taking an event removes it, so that a ticket that is kept doesn't keep the answer's bytes.
    var events: [Event] = []
    var observers: [@Sendable (Event) -> Void] = []
    /// Called with the final event before it can be taken.
    var witness: (@Sendable (Event) -> Void)?
    /// Called after each event that can be taken.
    var news: (@Sendable () -> Void)?
    var asking: (question: Question, answer: @Sendable (Reply) -> Void)?
  }

  /// The URL as it was passed.
  public let url: String
  /// The tag of the request.
  public let tag: String?
  /// The site of the request.
  let site: Site.Identity?
  /// The request, for `resubmit`: its plan, or a `RepeatableRequest`; nil for a ticket that was answered at once. An object, so
  /// that it takes one pointer in the ticket.
  let repeatable: AnyObject?
  private let epoch = nhs_fork_epoch()
  // Mutable properties are under this lock. All of them are small, because a hundred thousand tickets may wait.
  private let lock = WordLock()
  private let bell = EventCount()
  private var progress = State.queued
  /// Whether the final event is decided. Any later event is dropped.
  private var hasEnded = false
  /// Whether the final event can be taken, or was taken.
  private var isFinal = false
  /// Whether the final event is a success.
  private var isSuccess = false
  private var known: Mail?
  private var work: (any TicketWork)?
  private var book: OpenTickets?
  /// Its index in `book`, under the lock of `book`.
  var place: Int32 = -1

  init(url: String, tag: String? = nil, site: Site.Identity? = nil, repeatable: AnyObject? = nil) {
    self.url = url
    self.tag = tag
    self.site = site
    self.repeatable = repeatable
  }

  /// The ticket of a request.
  ///
  /// - Parameter repeatable: the request, for `resubmit`.
  convenience init(_ request: Request, _ repeatable: AnyObject) {
    self.init(url: request.url, tag: request.tag, site: request.site?.identity, repeatable: repeatable)
  }

  /// Call it under the lock.
  private var mail: Mail {
    if let known { return known }
    let new = Mail()
    known = new
    return new
  }

  /// The state of the request; `cancelled` in a forked child, which can't carry it out.
  public var state: State { isForked ? .cancelled : lock.withLock { progress } }

  /// Waits for the next event and takes it. Returns nil if none came in time.
  ///
  /// - Parameter milliseconds: the longest wait; nil: no limit.
  /// - Throws: `forked` in a forked child; `invalid` if the final event was taken before.
  public func next(within milliseconds: Int64? = nil) throws(NuthatchError) -> Event? {
    try next(until: EventCount.deadline(milliseconds))
  }

  private func next(until deadline: Int64) throws(NuthatchError) -> Event? {
    while true {
      if isForked { throw .forked }
      let ring = bell.current
      let (event, isFinal) = lock.withLock { () -> (Event?, Bool) in (takeFirst(), self.isFinal) }
      if let event { return event }
      if isFinal { throw wasTaken }
      if nhs_monotonic_ns() >= deadline { return nil }
      bell.wait(after: ring, until: deadline)
    }
  }

  /// Takes the next event, if there is one.
  package func take() -> Event? {
    guard !isForked else { return nil }
    return lock.withLock { takeFirst() }
  }

  /// Call it under the lock.
  private func takeFirst() -> Event? {
    guard let known, !known.events.isEmpty else { return nil }
    return known.events.removeFirst()
  }

  /// Whether there is an event to take.
  package var hasNews: Bool { !isForked && lock.withLock { known?.events.isEmpty == false } }

  /// Calls `observer` after each new event, and also now if there is an event to take. It runs on any thread and must return at
  /// once. It may be called without a new event.
  package func whenNews(_ observer: @escaping @Sendable () -> Void) {
    let isDue = lock.withLock {
      if !isFinal { mail.news = observer }
      return known?.events.isEmpty == false
    }
    if isDue { observer() }
  }

  /// The URL for messages, with its password hidden.
  package var shownURL: String { WebURL.redacted(url) }

  /// Waits for the final event and takes it; earlier events are dropped. Returns nil if it didn't come in time.
  ///
  /// - Parameter answering: answers questions, on this thread; nil: each question is answered with `pass`.
  public func final(
    within milliseconds: Int64? = nil, answering: ((Question) -> Reply)? = nil
  ) throws(NuthatchError) -> Event? {
    let due = EventCount.deadline(milliseconds)
    while let event = try next(until: due) {
      if event.isFinal { return event }
      guard let question = event.question else { continue }
      // The question may have expired; the final event has the result.
      try? answer(question, answering?(question) ?? .pass)
    }
    return nil
  }

  /// Waits for the final event and returns its answer.
  ///
  /// - Throws: the final event's error.
  public func result() throws(NuthatchError) -> Response {
    while true {
      if let event = try final() { return try event.result.get() }
    }
  }

  /// Changes the priority of the request, −10 to 10, in the queue and while it runs. After its end it does nothing.
  public func setPriority(_ priority: Int) {
    guard !isForked else { return }
    let work = lock.withLock { self.work }
    work?.setPriority(min(max(priority, Priority.least), Priority.most))
  }

  /// Answers a question, from any thread.
  ///
  /// - Throws: `invalid` if the question isn't open any more, because it was answered, its time is over, or the request has
  ///   ended; also if the reply is of another kind; `forked`.
  public func answer(_ question: Question, _ reply: Reply) throws(NuthatchError) {
    if isForked { throw .forked }
    guard reply.answers(question.kind) else {
      throw NuthatchError(.invalid, "the reply doesn't fit the kind of the question: \(shownURL)")
    }
    let answer = lock.withLock { () -> (@Sendable (Reply) -> Void)? in
      guard let asking = known?.asking, asking.question.number == question.number else { return nil }
      known?.asking = nil
      return asking.answer
    }
    guard let answer else {
      throw NuthatchError(
        .invalid,
        "the question is no longer open, because it was answered or its time has passed: \(shownURL)")
    }
    answer(reply)
  }

  /// Ends the request. Its final event, `cancelled`, is available at once, unless it had a final event before.
  public func cancel() {
    guard !isForked else { return }
    finish(.cancelled())
  }

  /// Calls `observer` once with the final event, on any thread: it must return at once. If the event is there already, calls it
  /// now; if the event was taken already, with an error.
  package func whenFinal(_ observer: @escaping @Sendable (Event) -> Void) {
    let (event, isFinal) = lock.withLock { () -> (Event?, Bool) in
      if !self.isFinal { mail.observers.append(observer) }
      return (known?.events.last, self.isFinal)
    }
    if isFinal { observer(event ?? .failed(wasTaken)) }
  }

  /// Calls the only `witness` with the final event before it can be taken, on any thread; now if the event is there already.
  package func beforeFinal(_ witness: @escaping @Sendable (Event) -> Void) {
    let event = lock.withLock { () -> Event? in
      if !isFinal { mail.witness = witness }
      return isFinal ? known?.events.last ?? .failed(wasTaken) : nil
    }
    if let event { witness(event) }
  }

  private var wasTaken: NuthatchError {
    NuthatchError(.invalid, "the ticket's final event was already taken: \(shownURL)")
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }
}

// MARK: - For the task of the ticket

/// The task of a ticket.
protocol TicketWork: AnyObject, Sendable {
  /// Called after the end of the ticket; the task may still run. On any thread.
  func abandon()
  /// Called on any thread.
  func setPriority(_ priority: Int)
}

extension Ticket {
  /// Sets the ticket's task. Returns false if the ticket has ended.
  func begin(_ work: any TicketWork) -> Bool {
    lock.withLock {
      if !hasEnded { self.work = work }
      return !hasEnded
    }
  }

  /// Sets the list that is told of the ticket's end. Call it before anything else happens to the ticket.
  func stand(in book: OpenTickets) { lock.withLock { self.book = book } }

  /// Whether its final event was a success that the program has taken. A program that hasn't taken it may repeat the request
  /// because it doesn't know whether the server has processed it. The server must then recognise the repeated request.
  var hasSucceeded: Bool { lock.withLock { isSuccess && known?.events.isEmpty != false } }

  /// Whether the final event is still to come.
  var isOpen: Bool { lock.withLock { !hasEnded } }

  /// Marks the request as running: it has left the queue.
  func run() {
    lock.withLock { if progress == .queued { progress = .running } }
  }

  /// Reports the progress. A newer `progress` event replaces one that wasn't taken.
  func report(_ done: Int64, of total: Int64?, isUpload: Bool = false) {
    add { mail in
      mail.events.removeAll { $0.kind == .progress }
      mail.events.append(.progress(done, of: total, isUpload: isUpload))
    }
  }

  /// Asks the program a question. `answer` is called at most once, on any thread.
  func ask(_ question: Question, answer: @escaping @Sendable (Reply) -> Void) {
    add { mail in
      mail.asking = (question, answer)
      mail.events.append(.question(question))
    }
  }

  /// Withdraws a question.
  func unask(_ question: Question) {
    lock.withLock {
      if known?.asking?.question.number == question.number { known?.asking = nil }
      known?.events.removeAll { $0.question?.number == question.number }
    }
  }

  /// Delivers an event. After the final event all others are dropped.
  func deliver(_ event: Event) {
    if event.isFinal { return finish(event) }
    add { $0.events.append(event) }
  }

  private func add(_ change: (Mail) -> Void) {
    let (isTold, news) = lock.withLock {
      guard !hasEnded else { return (false, (@Sendable () -> Void)?.none) }
      change(mail)
      return (true, mail.news)
    }
    guard isTold else { return }
    bell.ring()
    news?()
  }

  /// Makes `event` the final one; only the first call counts.
  func finish(_ event: Event) { _ = isFinished(by: event) }

  /// Like `finish`; returns false if there was a final event before.
  func isFinished(by event: Event) -> Bool {
    let claim = lock.withLock { () -> (isFirst: Bool, witness: (@Sendable (Event) -> Void)?, ended: Ended?) in
      guard !hasEnded else { return (false, nil, nil) }
      hasEnded = true
      // Before the event can be taken: a thread that has taken it finds the ticket removed.
      book?.noteEnd(of: self)
      guard let witness = known?.witness else { return (true, nil, end(event)) }
      return (true, witness, nil)
    }
    guard claim.isFirst else { return false }
    claim.witness?(event)
    let ended = claim.ended ?? lock.withLock { end(event) }
    bell.ring()
    ended.news?()
    ended.work?.abandon()
    ended.book?.tell()
    for observer in ended.observers { observer(event) }
    return true
  }

  /// Observers and tasks to call after the end.
  private struct Ended {
    let work: (any TicketWork)?
    let book: OpenTickets?
    let news: (@Sendable () -> Void)?
    let observers: [@Sendable (Event) -> Void]
  }

  /// Call it under the lock, once.
  private func end(_ event: Event) -> Ended {
    isFinal = true
    isSuccess = event.error == nil && event.response?.isSuccess != false
    progress = event.kind == .cancelled ? .cancelled : .done
    let mail = mail
    mail.events.removeAll { $0.kind == .progress || $0.kind == .question }
    mail.events.append(event)
    let ended = Ended(work: work, book: book, news: mail.news, observers: mail.observers)
    (work, book, mail.news, mail.asking, mail.witness) = (nil, nil, nil, nil, nil)
    mail.observers = []
    return ended
  }
}
