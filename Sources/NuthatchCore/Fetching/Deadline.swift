import NuthatchBase
import NuthatchTransport

/// The time limit of a request. Some deadlines don't include the waits for a turn in the queue: they get later by these waits.
///
/// A part of its task. Made on the caller's thread, and confined to the loop's thread from `start` on.
struct Deadline {
  /// The extra time after the deadline to deliver a stored answer or to finish saving. Less than a second, so that no call
  /// returns a second after its deadline.
  private static let grace: Int64 = 750_000_000

  private let sharedTerms: SharedTerms
  /// When the request was submitted. All times here are monotonic, in nanoseconds.
  let submitted: Int64
  private var timer: LoopTimer?
  // These flags lie in padding, so that they cost no memory. There may be 100,000 waiting requests.
  /// Whether the deadline passed while the request waited in the queue. `noteTurn` then sets a new one.
  private var isHeld = false
  private(set) var hasPassed = false
  /// When the request began to wait for its fetch, or for its turn.
  private(set) var queuedAt: Int64 = 0
  /// The total wait for its turn, if the deadline doesn't include it.
  private var waited: Int64 = 0
  /// The total pause of its host when that wait began.
  private var pausedBefore: Int64 = 0

  init(_ plan: RequestPlan, now: Int64) {
    sharedTerms = plan.sharedTerms
    submitted = now
  }

  private var terms: RequestTerms { _read { yield sharedTerms.terms } }

  /// The time of the deadline, as far as it is known. Nil: there is none.
  var due: Int64? { terms.deadline.map { submitted &+ $0 &+ waited } }

  // MARK: Its timer

  /// Starts the timer, which calls the task's `deadlineHasPassed`.
  mutating func start(_ task: RequestTask) {
    guard let due else { return }
    // The timer retains the task. Every end of the task cancels the timer. A weak reference would cost 120 bytes for each
    // waiting task.
    timer = task.runtime.loop.at(due) { task.deadlineHasPassed() }
  }

  /// Notes that the deadline has passed. The task has the grace time to answer with what is stored; then `end` is called.
  mutating func pass(_ loop: EventLoop, then end: @escaping () -> Void) {
    hasPassed = true
    timer = loop.at(loop.now &+ Self.grace, end)
  }

  /// The deadline also limits the saving: a disk may not answer, and a pipe may have no reader.
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

  /// Returns what the present wait adds to the deadline. If the program has set the deadline, a pause that the server asked for
  /// adds nothing: the server causes it, not other requests.
  private func wait(_ task: RequestTask) -> Int64 {
    let wait = max(0, task.runtime.loop.now &- queuedAt)
    guard terms.isDeadlineSet, let pauses = task.joined?.pauses else { return wait }
    return max(0, wait - max(0, pauses.past - pausedBefore))
  }

  /// Call it when the timer has fired. If the request has waited, or still waits, for a turn that the deadline doesn't include,
  /// the deadline gets later. Returns whether it does; then the timer fires again, or `noteTurn` starts it.
  mutating func postponeIfQueued(_ task: RequestTask) -> Bool {
    guard !terms.deadlineCountsQueue, let due else { return false }
    let now = task.runtime.loop.now
    guard task.joined?.isWaitingForTurn == true else {
      if due > now { start(task) }
      return due > now
    }
    guard terms.isDeadlineSet else {
      isHeld = true
      return true
    }
    // Its host may be paused at any time, so check again later.
    let left = due &- now &+ wait(task)
    guard left > 0 else { return false }
    timer = task.runtime.loop.at(now &+ max(left, 10_000_000)) { task.deadlineHasPassed() }
    return true
  }

  // MARK: Errors

  /// Returns the error after the deadline. It names what the request was waiting for, if that was a pause that the server asked
  /// for, or a turn in the queue.
  func error(_ task: RequestTask) -> NuthatchError {
    guard let fetch = task.joined else { return error(task.plan, "not done") }
    let pauses = fetch.pauses
    guard fetch.isWaiting, pauses.left > 0, task.plan.freezingPlan == nil else {
      return error(
        task.plan, "not done", fetch.isWaitingForTurn ? "; it still waited for its turn in the queue" : "")
    }
    let seconds = Fetch.seconds(pauses.left)
    var error = NuthatchError(
      .http,
      "HTTP \(pauses.status): the deadline has passed, and the server's pause (Retry-After) lasts \(seconds) s more: \(task.plan.url)",
      status: pauses.status)
    error.retryAfter = seconds
    return error
  }

  func error(_ plan: RequestPlan, _ what: String, _ place: String = "") -> NuthatchError {
    let seconds = Double(terms.deadline ?? 0) / 1e9
    return NuthatchError(.timeout, "\(what) within the deadline of \(seconds) s\(place): \(plan.url)")
  }
}
