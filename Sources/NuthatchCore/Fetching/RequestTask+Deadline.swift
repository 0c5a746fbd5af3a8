import NuthatchTransport

// How long a request may take.

extension RequestTask {
  /// Nanoseconds left until its deadline; nil for none.
  var remaining: Int64? { plan.deadline.map { submitted &+ $0 &+ waited &- runtime.loop.now } }

  /// In nanoseconds, for what nobody waits for.
  static var longestRevalidation: Int64 { 120_000_000_000 }

  /// How long after the deadline there may be a stored answer, or one that is being saved: no call outlives its deadline by a second.
  private static var grace: Int64 { 750_000_000 }

  func watchDeadline(orElse standard: Int64? = nil) {
    guard let limit = plan.deadline ?? standard else { return }
    // Keeps the task, whose every end takes the timer back: a weak reference would cost each that waits 120 bytes.
    deadlineTimer = runtime.loop.at(submitted &+ limit &+ waited) { self.deadlineHasPassed() }
  }

  /// When it began to wait for its fetch, or for its turn.
  var joinedAt: Int64 { queuedAt }

  func noteQueued() {
    queuedAt = runtime.loop.now
    if plan.terms.isDeadlineSet { pausedBefore = joined?.pauses.past ?? 0 }
  }

  /// The time in the queue is no part of some deadlines.
  func noteTurn() {
    guard !plan.terms.deadlineCountsQueue else { return }
    waited &+= waitInLine
    guard isDeadlineHeld else { return }
    isDeadlineHeld = false
    watchDeadline()
  }

  /// What this wait for its turn adds to the deadline. A pause that the server asked for adds nothing to one that was set:
  /// that is the server's answer, and nobody else's work.
  private var waitInLine: Int64 {
    let wait = max(0, runtime.loop.now &- queuedAt)
    guard plan.terms.isDeadlineSet, let joined else { return wait }
    return max(0, wait - max(0, joined.pauses.past - pausedBefore))
  }

  /// Whether the deadline has moved, or does so as long as it waits.
  private var hasMoreTime: Bool {
    guard !plan.terms.deadlineCountsQueue, let remaining else { return false }
    guard joined?.isInLine == true else {
      if remaining > 0 { watchDeadline() }
      return remaining > 0
    }
    guard plan.terms.isDeadlineSet else {
      isDeadlineHeld = true
      return true
    }
    // Its host may be paused from any moment on, so that this is looked at again.
    let left = remaining + waitInLine
    guard left > 0 else { return false }
    deadlineTimer = runtime.loop.at(runtime.loop.now &+ max(left, 10_000_000)) { self.deadlineHasPassed() }
    return true
  }

  private func deadlineHasPassed() {
    deadlineTimer = nil
    guard !hasMoreTime, !answersAtDeadline() else { return }
    // It is being kept: not behind others any more.
    if let freezing = plan.freezing, freezing.isFreezing { return shared.outbox.hurry(freezing) }
    let error = errorAtDeadline
    joined?.leave(self)
    if freezes(for: error) { return }
    isPastDeadline = true
    // A stored answer's pictures may have to be made first.
    deadlineTimer = runtime.loop.at(runtime.loop.now &+ Self.grace) {
      self.deadlineTimer = nil
      self.joined?.leave(self)
      self.fail(error)
    }
    settle(for: error)
  }

  /// What the deadline ends: a wait that the server has asked for, or any other.
  private var errorAtDeadline: NuthatchError {
    guard let joined else { return lateness("not done") }
    let pauses = joined.pauses
    guard joined.isWaiting, pauses.left > 0, plan.freezing == nil else {
      return lateness("not done", joined.isInLine ? " that came before its turn" : "")
    }
    let seconds = Fetch.seconds(pauses.left)
    var error = NuthatchError(
      .http,
      "HTTP \(pauses.status): its server wants to be left alone for \(seconds) s more, and the deadline has come: \(plan.url)",
      status: pauses.status)
    error.retryAfter = seconds
    return error
  }

  func lateness(_ what: String, _ place: String = "") -> NuthatchError {
    let limit = Double(plan.deadline ?? Self.longestRevalidation) / 1e9
    return NuthatchError(.timeout, "\(what) after \(limit) s, the deadline\(place): \(plan.url)")
  }

  func cancelDeadline() {
    isDeadlineHeld = false
    if let timer = deadlineTimer { runtime.loop.cancelTimer(timer) }
    deadlineTimer = nil
  }

  /// The deadline counts for what is saved, too: a disk may not answer, and nobody may read what is written to a pipe.
  func watchSaving(_ event: Event, _ download: Download) {
    guard let remaining else { return }
    deadlineTimer = runtime.loop.at(runtime.loop.now &+ max(0, min(remaining, .max / 4) + Self.grace)) {
      self.deadlineTimer = nil
      download.abandon()
      self.ticket.finish(event.error == nil ? .failed(self.lateness("not saved")) : event)
    }
  }
}
