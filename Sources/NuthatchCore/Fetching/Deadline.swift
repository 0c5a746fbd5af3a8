import NuthatchBase
import NuthatchTransport

/// How long a request may take. The waits for its turn in the queue are no part of some deadlines: those move on with them.
///
/// A part of its task, made on the caller's thread, and confined to the loop's from `start` on.
struct Deadline {
  /// How long after the deadline there may be a stored answer, or one that is being saved: no call outlives its deadline by
  /// a second.
  private static let grace: Int64 = 750_000_000

  private let sharedTerms: SharedTerms
  /// On the monotonic clock, as all times here.
  let submitted: Int64
  private var timer: LoopTimer?
  // Here they take no room: a hundred thousand of these may wait.
  /// Whether the deadline has come while it waits.
  private var isHeld = false
  private(set) var hasPassed = false
  /// When the request began to wait for its fetch, or for its turn.
  private(set) var queuedAt: Int64 = 0
  /// How long it has waited for its turn in all, where its deadline leaves that out.
  private var waited: Int64 = 0
  /// For how long its host had been paused when that wait began.
  private var pausedBefore: Int64 = 0

  init(_ plan: RequestPlan, now: Int64) {
    sharedTerms = plan.sharedTerms
    submitted = now
  }

  private var terms: RequestTerms { _read { yield sharedTerms.terms } }

  /// When it comes, as far as that is known; nil for none.
  var due: Int64? { terms.deadline.map { submitted &+ $0 &+ waited } }

  // MARK: Its timer

  /// Calls the task's `deadlineHasPassed` when it comes.
  mutating func start(_ task: RequestTask) {
    guard let due else { return }
    // Keeps the task, whose every end takes the timer back: a weak reference would cost each that waits 120 bytes.
    timer = task.runtime.loop.at(due) { task.deadlineHasPassed() }
  }

  /// It has come. There is a moment more, for the task to answer with what is stored.
  mutating func pass(_ loop: EventLoop, then end: @escaping () -> Void) {
    hasPassed = true
    timer = loop.at(loop.now &+ Self.grace, end)
  }

  /// It counts for what is saved, too: a disk may not answer, and a pipe may have no reader.
  mutating func startSaving(_ loop: EventLoop, orElse end: @escaping () -> Void) {
    guard let due else { return }
    timer = loop.at(loop.now &+ max(0, min(due &- loop.now, .max / 4) + Self.grace), end)
  }

  mutating func stop(_ loop: EventLoop) {
    isHeld = false
    if let timer { loop.cancelTimer(timer) }
    timer = nil
  }

  // MARK: Waits for a turn

  mutating func noteQueued(_ task: RequestTask) {
    queuedAt = task.runtime.loop.now
    if terms.isDeadlineSet { pausedBefore = task.joined?.pauses.past ?? 0 }
  }

  mutating func noteTurn(_ task: RequestTask) {
    guard !terms.deadlineCountsQueue else { return }
    waited &+= wait(task)
    guard isHeld else { return }
    isHeld = false
    start(task)
  }

  /// What this wait for its turn adds to the deadline. A pause that the server asked for adds nothing to one that was set:
  /// that is the server's answer, and no other request's work.
  private func wait(_ task: RequestTask) -> Int64 {
    let wait = max(0, task.runtime.loop.now &- queuedAt)
    guard terms.isDeadlineSet, let pauses = task.joined?.pauses else { return wait }
    return max(0, wait - max(0, pauses.past - pausedBefore))
  }

  /// To be asked when the timer has run out: whether the deadline has moved, or does so as long as the request waits.
  mutating func hasMoved(_ task: RequestTask) -> Bool {
    guard !terms.deadlineCountsQueue, let due else { return false }
    let now = task.runtime.loop.now
    guard task.joined?.isInLine == true else {
      if due > now { start(task) }
      return due > now
    }
    guard terms.isDeadlineSet else {
      isHeld = true
      return true
    }
    // Its host may be paused from any moment on, so that this is looked at again.
    let left = due &- now &+ wait(task)
    guard left > 0 else { return false }
    timer = task.runtime.loop.at(now &+ max(left, 10_000_000)) { task.deadlineHasPassed() }
    return true
  }

  // MARK: What it ends with

  /// What the deadline has ended: a wait that the server asked for, or any other.
  func error(_ task: RequestTask) -> NuthatchError {
    guard let fetch = task.joined else { return error(task.plan, "not done") }
    let pauses = fetch.pauses
    guard fetch.isWaiting, pauses.left > 0, task.plan.freezing == nil else {
      return error(task.plan, "not done", fetch.isInLine ? " that came before its turn" : "")
    }
    let seconds = Fetch.seconds(pauses.left)
    var error = NuthatchError(
      .http,
      "HTTP \(pauses.status): its server wants to be left alone for \(seconds) s more, and the deadline has come: \(task.plan.url)",
      status: pauses.status)
    error.retryAfter = seconds
    return error
  }

  func error(_ plan: RequestPlan, _ what: String, _ place: String = "") -> NuthatchError {
    let seconds = Double(terms.deadline ?? 0) / 1e9
    return NuthatchError(.timeout, "\(what) after \(seconds) s, the deadline\(place): \(plan.url)")
  }
}
