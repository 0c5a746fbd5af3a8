import CSystem
import NuthatchTransport

/// A request under way.
///
/// Releasing a ticket never cancels it; `cancel` does, and is answered at once.
public final class Ticket: Sendable {
  /// Where a request stands.
  public enum State: Int32, Sendable {
    case queued = 1
    case running = 2
    case done = 3
    case cancelled = 4
  }

  private struct Progress {
    var state = State.queued
    var isFinal = false
    /// Events that nobody has taken yet: at most one `progress`, one `question`, one `cached` and the final one. They go with whoever
    /// takes them, so that keeping the ticket doesn't keep the answer's bytes.
    var events: [Event] = []
    var observers: [@Sendable (Event) -> Void] = []
    /// Called with the final event, before anybody can take it.
    var ending: (@Sendable () -> Void)?
    /// Called after each event that can be taken.
    var news: (@Sendable () -> Void)?
    var abort: (@Sendable () -> Void)?
    var prioritise: (@Sendable (Int) -> Void)?
    var asking: (question: Question, answer: @Sendable (Reply) -> Void)?
  }

  /// The URL as it was passed.
  public let url: String
  /// The word that the request was given.
  public let tag: String?
  private let progress = Locked(Progress())
  private let bell = Bell()
  private let epoch = nhs_fork_epoch()

  init(url: String, tag: String? = nil) {
    self.url = url
    self.tag = tag
  }

  /// Where the request stands; `cancelled` in a forked child, which can't carry it out.
  public var state: State { isForked ? .cancelled : progress.withLock { $0.state } }

  /// Waits for the next event, which it hands out once. nil when none came by `deadline`.
  ///
  /// - Parameter milliseconds: The longest wait; nil waits for ever.
  /// - Throws: `forked` in a forked child; `invalid` when the final event has been handed out already.
  public func next(within milliseconds: Int64? = nil) throws(NuthatchError) -> Event? {
    try next(until: Bell.deadline(milliseconds))
  }

  private func next(until deadline: Int64) throws(NuthatchError) -> Event? {
    while true {
      if isForked { throw .forked }
      let ring = bell.current
      let (event, isFinal) = progress.withLock { progress in
        (progress.events.isEmpty ? nil : progress.events.removeFirst(), progress.isFinal)
      }
      if let event { return event }
      if isFinal { throw wasTaken }
      if nhs_monotonic_ns() >= deadline { return nil }
      bell.wait(after: ring, until: deadline)
    }
  }

  /// The next event, if there is one to take.
  package func take() -> Event? {
    guard !isForked else { return nil }
    return progress.withLock { $0.events.isEmpty ? nil : $0.events.removeFirst() }
  }

  /// Whether there is an event to take.
  package var hasNews: Bool { !isForked && progress.withLock { !$0.events.isEmpty } }

  /// Calls `observer` after every event that is to be taken, and at once when there is one, on whatever thread brings it:
  /// it must return at once. Called too often rather than too seldom.
  package func whenNews(_ observer: @escaping @Sendable () -> Void) {
    let isDue = progress.withLock { progress in
      if !progress.isFinal { progress.news = observer }
      return !progress.events.isEmpty
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
    let due = Bell.deadline(milliseconds)
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
    let prioritise = progress.withLock { $0.prioritise }
    prioritise?(min(max(priority, Priority.least), Priority.most))
  }

  /// Answers a question, from any thread.
  ///
  /// - Throws: `invalid` when it isn't open any more, because it was answered, too much time went by, or the request has
  ///   ended; and when the reply answers something else; `forked`.
  public func answer(_ question: Question, _ reply: Reply) throws(NuthatchError) {
    if isForked { throw .forked }
    guard reply.kind == nil || reply.kind == question.kind else {
      throw NuthatchError(.invalid, "the reply answers another kind of question: \(shownURL)")
    }
    let answer = progress.withLock { progress -> (@Sendable (Reply) -> Void)? in
      guard let asking = progress.asking, asking.question.number == question.number else { return nil }
      progress.asking = nil
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
    let (event, isFinal) = progress.withLock { progress in
      if !progress.isFinal { progress.observers.append(observer) }
      return (progress.events.last, progress.isFinal)
    }
    if isFinal { observer(event ?? .failed(wasTaken)) }
  }

  private var wasTaken: NuthatchError {
    NuthatchError(.invalid, "the ticket's final event was taken before: \(shownURL)")
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }
}

// MARK: - For the errand behind it

extension Ticket {
  /// `abort` is called when the ticket ends before its errand does. False when it has ended already.
  func begin(
    abort: @escaping @Sendable () -> Void, prioritise: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> Bool {
    progress.withLock { progress in
      guard !progress.isFinal else { return false }
      progress.abort = abort
      progress.prioritise = prioritise
      return true
    }
  }

  /// Calls `observer` when it ends, before anybody can know: under a lock, so that it must do next to nothing. To be called
  /// before anything else happens to the ticket.
  func whenEnding(_ observer: @escaping @Sendable () -> Void) { progress.withLock { $0.ending = observer } }

  /// Whether its final event is still to come.
  var isOpen: Bool { progress.withLock { !$0.isFinal } }

  /// Notes that the queue has let the request through.
  func run() {
    progress.withLock { progress in if progress.state == .queued { progress.state = .running } }
  }

  /// Tells of bytes that came; of several that nobody took the newest is kept.
  func report(_ done: Int64, of total: Int64?) {
    add { events in
      events.removeAll { $0.kind == .progress }
      events.append(.progress(done, of: total))
    }
  }

  /// Asks the program something. `answer` is called at most once, on any thread.
  func ask(_ question: Question, answer: @escaping @Sendable (Reply) -> Void) {
    progress.withLock { progress in if !progress.isFinal { progress.asking = (question, answer) } }
    add { $0.append(.question(question)) }
  }

  /// Takes a question back.
  func unask(_ question: Question) {
    progress.withLock { progress in
      if progress.asking?.question.number == question.number { progress.asking = nil }
      progress.events.removeAll { $0.question?.number == question.number }
    }
  }

  /// Delivers an event. Once there is a final one, every other is dropped.
  func deliver(_ event: Event) {
    if event.isFinal { return finish(event) }
    add { $0.append(event) }
  }

  private func add(_ change: (inout [Event]) -> Void) {
    let (isTold, news) = progress.withLock { progress in
      if !progress.isFinal { change(&progress.events) }
      return (!progress.isFinal, progress.news)
    }
    guard isTold else { return }
    bell.ring()
    news?()
  }

  /// Makes `event` the final one; of several the first counts.
  func finish(_ event: Event) {
    let ended: Progress? = progress.withLock { progress in
      guard !progress.isFinal else { return nil }
      progress.isFinal = true
      progress.ending?()
      progress.events.removeAll { $0.kind == .progress || $0.kind == .question }
      progress.events.append(event)
      progress.state = event.kind == .cancelled ? .cancelled : .done
      defer {
        progress.observers = []
        progress.ending = nil
        progress.news = nil
        progress.abort = nil
        progress.prioritise = nil
        progress.asking = nil
      }
      return progress
    }
    guard let ended else { return }
    bell.ring()
    ended.news?()
    ended.abort?()
    for observer in ended.observers { observer(event) }
  }
}
