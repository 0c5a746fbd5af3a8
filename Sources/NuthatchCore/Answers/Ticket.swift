import CSystem
import NuthatchBase
import NuthatchTransport

/// A request under way.
///
/// Releasing a ticket never cancels it; `cancel` does, and is answered at once.
///
/// What changes is under its lock, hence Sendable.
public final class Ticket: @unchecked Sendable {
  /// Where a request stands.
  public enum State: Int32, Sendable {
    case queued = 1
    case running = 2
    case done = 3
    case cancelled = 4
  }

  /// What a ticket has once there is something to tell, or somebody to be told.
  private final class Mail {
    /// Events that nobody has taken yet: at most one `progress`, one `question`, one `cached` and the final one. They go with whoever
    /// takes them, so that keeping the ticket doesn't keep the answer's bytes.
    var events: [Event] = []
    var observers: [@Sendable (Event) -> Void] = []
    /// Called with the final event before anybody can take it.
    var witness: (@Sendable (Event) -> Void)?
    /// Called after each event that can be taken.
    var news: (@Sendable () -> Void)?
    var asking: (question: Question, answer: @Sendable (Reply) -> Void)?
  }

  /// The URL as it was passed.
  public let url: String
  /// The word that the request was given.
  public let tag: String?
  /// Whose request it is.
  let site: Site.Identity?
  /// How to make the request again: its plan, or a box with what it was; nil for one that was answered at once. An object, so
  /// that a ticket pays one pointer for it.
  let repeatable: AnyObject?
  private let epoch = nhs_fork_epoch()
  // What isn't constant is under this lock, hence Sendable. All of it small, because a hundred thousand may wait.
  private let lock = WordLock()
  private let bell = EventCount()
  private var progress = State.queued
  /// What the final event will be is settled: every other is dropped.
  private var hasEnded = false
  /// The final event is there to be taken, or was.
  private var isFinal = false
  /// It was an answer, and one of success.
  private var isSuccess = false
  private var known: Mail?
  private var work: (any TicketWork)?
  private var book: OpenTickets?
  /// Where it stands in its book, under the book's lock.
  var place: Int32 = -1

  init(url: String, tag: String? = nil, site: Site.Identity? = nil, repeatable: AnyObject? = nil) {
    self.url = url
    self.tag = tag
    self.site = site
    self.repeatable = repeatable
  }

  /// That of a request.
  ///
  /// - Parameter repeatable: how to make it again.
  convenience init(_ request: Request, _ repeatable: AnyObject) {
    self.init(url: request.url, tag: request.tag, site: request.site?.identity, repeatable: repeatable)
  }

  /// Under the lock.
  private var mail: Mail {
    if let known { return known }
    let new = Mail()
    known = new
    return new
  }

  /// Where the request stands; `cancelled` in a forked child, which can't carry it out.
  public var state: State { isForked ? .cancelled : lock.withLock { progress } }

  /// Waits for the next event, which it hands out once. nil when none came by `deadline`.
  ///
  /// - Parameter milliseconds: The longest wait; nil waits for ever.
  /// - Throws: `forked` in a forked child; `invalid` when the final event has been handed out already.
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

  /// The next event, if there is one to take.
  package func take() -> Event? {
    guard !isForked else { return nil }
    return lock.withLock { takeFirst() }
  }

  /// Under the lock.
  private func takeFirst() -> Event? {
    guard let known, !known.events.isEmpty else { return nil }
    return known.events.removeFirst()
  }

  /// Whether there is an event to take.
  package var hasNews: Bool { !isForked && lock.withLock { known?.events.isEmpty == false } }

  /// Calls `observer` after every event that is to be taken, and at once when there is one, on whatever thread brings it:
  /// it must return at once. Called too often rather than too seldom.
  package func whenNews(_ observer: @escaping @Sendable () -> Void) {
    let isDue = lock.withLock {
      if !isFinal { mail.news = observer }
      return known?.events.isEmpty == false
    }
    if isDue { observer() }
  }

  /// The URL for messages, its password hidden.
  package var shownURL: String { WebURL.redacted(url) }

  /// Waits for the final event; those before it are passed over.
  ///
  /// - Parameter answering: answers questions, on this thread; without it they are passed over, too.
  public func final(
    within milliseconds: Int64? = nil, answering: ((Question) -> Reply)? = nil
  ) throws(NuthatchError) -> Event? {
    let due = EventCount.deadline(milliseconds)
    while let event = try next(until: due) {
      if event.isFinal { return event }
      guard let question = event.question else { continue }
      // It may have lapsed meanwhile; the final event tells what came of it.
      try? answer(question, answering?(question) ?? .pass)
    }
    return nil
  }

  /// Waits for the final event's answer.
  ///
  /// - Throws: the final event's error.
  public func result() throws(NuthatchError) -> Response {
    while true {
      if let event = try final() { return try event.result.get() }
    }
  }

  /// Gives the request another priority, −10 to 10: in the queue, and while it runs. Later it does nothing.
  public func setPriority(_ priority: Int) {
    guard !isForked else { return }
    let work = lock.withLock { self.work }
    work?.setPriority(min(max(priority, Priority.least), Priority.most))
  }

  /// Answers a question, from any thread.
  ///
  /// - Throws: `invalid` when it isn't open any more, because it was answered, too much time went by, or the request has
  ///   ended; and when the reply answers something else; `forked`.
  public func answer(_ question: Question, _ reply: Reply) throws(NuthatchError) {
    if isForked { throw .forked }
    guard reply.answers(question.kind) else {
      throw NuthatchError(.invalid, "the reply answers another kind of question: \(shownURL)")
    }
    let answer = lock.withLock { () -> (@Sendable (Reply) -> Void)? in
      guard let asking = known?.asking, asking.question.number == question.number else { return nil }
      known?.asking = nil
      return asking.answer
    }
    guard let answer else {
      throw NuthatchError(.invalid, "the question isn't open any more: \(shownURL)")
    }
    answer(reply)
  }

  /// Ends the request. Its final event is `cancelled`, at once, unless it had one before.
  public func cancel() {
    guard !isForked else { return }
    finish(.cancelled)
  }

  /// Calls `observer` with the final event, once, on a thread of the library's: it must return at once.
  package func whenFinal(_ observer: @escaping @Sendable (Event) -> Void) {
    let (event, isFinal) = lock.withLock { () -> (Event?, Bool) in
      if !self.isFinal { mail.observers.append(observer) }
      return (known?.events.last, self.isFinal)
    }
    if isFinal { observer(event ?? .failed(wasTaken)) }
  }

  /// Calls `witness` with the final event before anybody can take it, on whatever thread brings it; at once when it is there
  /// already. There is one at most.
  package func beforeFinal(_ witness: @escaping @Sendable (Event) -> Void) {
    let event = lock.withLock { () -> Event? in
      if !isFinal { mail.witness = witness }
      return isFinal ? known?.events.last ?? .failed(wasTaken) : nil
    }
    if let event { witness(event) }
  }

  private var wasTaken: NuthatchError {
    NuthatchError(.invalid, "the ticket's final event was taken before: \(shownURL)")
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }
}

// MARK: - For the task behind it

/// What is done for a ticket.
protocol TicketWork: AnyObject, Sendable {
  /// The ticket has ended, and the work perhaps not. Any thread may call it.
  func abandon()
  /// Any thread may call it.
  func setPriority(_ priority: Int)
}

extension Ticket {
  /// False when the ticket has ended already.
  func begin(_ work: any TicketWork) -> Bool {
    lock.withLock {
      if !hasEnded { self.work = work }
      return !hasEnded
    }
  }

  /// Notes in whose book it stands, which hears of its end. To be called before anything else happens to the ticket.
  func stand(in book: OpenTickets) { lock.withLock { self.book = book } }

  /// Whether its final event was an answer of success that the program has taken. A program that hasn't seen it repeats the
  /// request because it doubts that the server has done it: the server must recognise that one as the same.
  var hasSucceeded: Bool { lock.withLock { isSuccess && known?.events.isEmpty != false } }

  /// Whether its final event is still to come.
  var isOpen: Bool { lock.withLock { !hasEnded } }

  /// Notes that the queue has let the request through.
  func run() {
    lock.withLock { if progress == .queued { progress = .running } }
  }

  /// Tells of bytes that came; of several that nobody took the newest is kept.
  func report(_ done: Int64, of total: Int64?, isUpload: Bool = false) {
    add { mail in
      mail.events.removeAll { $0.kind == .progress }
      mail.events.append(.progress(done, of: total, isUpload: isUpload))
    }
  }

  /// Asks the program something. `answer` is called at most once, on any thread.
  func ask(_ question: Question, answer: @escaping @Sendable (Reply) -> Void) {
    add { mail in
      mail.asking = (question, answer)
      mail.events.append(.question(question))
    }
  }

  /// Takes a question back.
  func unask(_ question: Question) {
    lock.withLock {
      if known?.asking?.question.number == question.number { known?.asking = nil }
      known?.events.removeAll { $0.question?.number == question.number }
    }
  }

  /// Delivers an event. Once there is a final one, every other is dropped.
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

  /// Makes `event` the final one; of several the first counts.
  func finish(_ event: Event) { _ = isFinished(by: event) }

  /// The same; false when there was one before.
  func isFinished(by event: Event) -> Bool {
    let claim = lock.withLock { () -> (isFirst: Bool, witness: (@Sendable (Event) -> Void)?, ended: Ended?) in
      guard !hasEnded else { return (false, nil, nil) }
      hasEnded = true
      // Before anybody can take the event: whoever has it finds it ended.
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

  /// Whom a ticket kept, to be told of its end.
  private struct Ended {
    let work: (any TicketWork)?
    let book: OpenTickets?
    let news: (@Sendable () -> Void)?
    let observers: [@Sendable (Event) -> Void]
  }

  /// Under the lock, once.
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
