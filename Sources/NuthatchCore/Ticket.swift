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
    /// The final event until somebody takes it: whoever keeps the ticket doesn't keep the answer's bytes with it.
    var final: Event?
    var observers: [@Sendable (Event) -> Void] = []
    var abort: (@Sendable () -> Void)?
  }

  /// The URL as it was passed.
  public let url: String
  private let progress = Locked(Progress())
  private let bell = Bell()
  private let epoch = nhs_fork_epoch()

  init(url: String) { self.url = url }

  /// Where the request stands; `cancelled` in a forked child, which can't carry it out.
  public var state: State { isForked ? .cancelled : progress.withLock { $0.state } }

  /// Waits for the next event, which it hands out once. nil when none came by `deadline`.
  ///
  /// - Parameter milliseconds: The longest wait; nil waits for ever.
  /// - Throws: `forked` in a forked child; `invalid` when the final event has been handed out already.
  public func next(within milliseconds: Int64? = nil) throws(NuthatchError) -> Event? {
    let deadline = Bell.deadline(milliseconds)
    while true {
      if isForked { throw .forked }
      let ring = bell.current
      let (event, isFinal) = progress.withLock { progress in
        defer { progress.final = nil }
        return (progress.final, progress.isFinal)
      }
      if let event { return event }
      if isFinal { throw wasTaken }
      if nhs_monotonic_ns() >= deadline { return nil }
      bell.wait(after: ring, until: deadline)
    }
  }

  /// The URL for messages, its password hidden.
  package var shownURL: String { WebURL.redacted(url) }

  /// Waits for the answer.
  public func result() throws(NuthatchError) -> Response {
    while true {
      if let event = try next() { return try event.result.get() }
    }
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
      return (progress.final, progress.isFinal)
    }
    if isFinal { observer(event ?? .failed(wasTaken)) }
  }

  private var wasTaken: NuthatchError {
    NuthatchError(.invalid, "the ticket's final event was taken before: \(shownURL)")
  }

  private var isForked: Bool { nhs_fork_epoch() != epoch }
}

// MARK: - For the fetch behind it

extension Ticket {
  /// `abort` is called when the ticket ends before its fetch does. False when it has ended already.
  func begin(abort: @escaping @Sendable () -> Void) -> Bool {
    progress.withLock { progress in
      guard !progress.isFinal else { return false }
      progress.state = .running
      progress.abort = abort
      return true
    }
  }

  /// Makes `event` the final one; of several the first counts.
  func finish(_ event: Event) {
    let ended: Progress? = progress.withLock { progress in
      guard !progress.isFinal else { return nil }
      progress.isFinal = true
      progress.final = event
      if case .cancelled = event { progress.state = .cancelled } else { progress.state = .done }
      defer {
        progress.observers = []
        progress.abort = nil
      }
      return progress
    }
    guard let ended else { return }
    bell.ring()
    ended.abort?()
    for observer in ended.observers { observer(event) }
  }
}
