import NuthatchImaging
import NuthatchTransport

/// One fetch that any number of errands wait for: queue, hops, attempts, admission.
///
/// Errands come and go; the last one to leave ends the fetch. Its priority is the highest of theirs. Confined to the
/// loop's thread.
final class FetchTask: @unchecked Sendable {
  /// Where the fetch stands. Whatever holds something (a place in the queue, a transfer, a timer) says so here, so
  /// that `letGo` can give it back.
  enum Phase {
    case idle
    case queued(QueueEntry)
    case flying(QueueEntry, transfer: UInt64)
    /// Another process fetches it; or an attempt failed, and the next one is due later.
    case waiting(EventLoop.TimerID)
    /// On a worker's thread, which can't be stopped.
    case admitting
    case over
  }

  let shared: SharedCache
  /// The request as the first errand made it.
  let plan: RequestPlan
  var runtime: Runtime { shared.runtime }
  /// The highest of its errands'.
  var priority: Int { Int(step) }
  var joint: RequestPlan.Joint? { plan.joint }
  /// Whether answers that are stored count for nothing.
  var isReload: Bool { plan.policy.rules == .reload }

  private(set) var errands: [Errand] = []
  /// What is asked about, when the server is asked whether it still holds.
  var base: Found? {
    didSet { if let base { known = base.meta.mark } }
  }
  /// The mark of what was found stored, also when it can't be told at the moment whether that is still there: nothing else that
  /// is found has come meanwhile.
  private(set) var known: UInt64?
  /// Whether it is not asked about all the same, because the server has said that something else still holds.
  private(set) var asksWhole = false
  var phase = Phase.idle
  private var step: Int8
  private(set) var hasBegun = false

  // The current attempt.
  /// The transfer was ended, because everybody's pictures were done: nobody else can have anything of it.
  var stoppedEarly = false
  var attempt = 1
  /// How long, and how often, its host has been waited for; nil when it wasn't.
  var hold: Hold?
  /// Made when it sets out, so that what waits is small.
  private(set) var begunExchange: Exchange?
  var exchange: Exchange {
    if let begunExchange { return begunExchange }
    let new = Exchange(plan.first)
    new.admitPictures = errands.contains { $0.plan.wantsPictures }
    begunExchange = new
    return new
  }
  /// On the monotonic clock, when the last wait for a place in the queue began.
  var queuedSince: Int64 = 0
  /// Whether it waits for its turn, and for nothing else: that is no part of anybody's deadline.
  var isInLine = false
  /// The place of the lock that this fetch holds; nil while it holds none.
  var lockPlace: Int64? {
    didSet {
      if let place = lockPlace ?? oldValue {
        shared.fetches.noteLock(place, of: lockPlace == nil ? nil : self)
      }
    }
  }
  /// Whether another process was waited for in vain: then this one asks by itself.
  var goesAlone = false
  /// Since when another process was waited for, on the monotonic clock; nil when none was.
  var waitedSince: Int64?
  /// What that process has noted; nil before it has been waited for in earnest.
  var otherSign: OtherSign?

  init(_ plan: RequestPlan, base: Found?, _ shared: SharedCache) {
    self.plan = plan
    self.shared = shared
    self.base = base
    known = base?.meta.mark
    step = Int8(clamping: plan.priority)
  }

  // MARK: Errands

  /// Whether an errand that comes now gets what it wants from this fetch. One that must not be answered from the past joins
  /// no fetch that has begun.
  func mayJoin(_ errand: Errand) -> Bool {
    // An error page was passed over, because all wanted pictures then.
    if let begun = begunExchange, begun.skipsBody, begun.head?.redirection == nil, !errand.plan.wantsPictures
    {
      return false
    }
    // What it will bring was taken out before this one asked.
    if stoppedEarly { return false }
    if let asked = begunExchange?.asked, !shared.store.isCurrent(asked) { return false }
    guard case .over = phase else { return errand.plan.policy.rules != .reload || (isReload && !hasBegun) }
    return false
  }

  func join(_ errand: Errand) {
    errands.append(errand)
    errand.task = self
    errand.noteQueued()
    adoptPriority()
    if hasBegun { errand.ticket.run() }
    begunExchange?.admitPictures = errands.contains { $0.plan.wantsPictures }
    if errands.count > 1 { watchSilence() }
  }

  /// Takes an errand out; the fetch ends with the last one.
  func leave(_ errand: Errand) {
    guard let place = errands.firstIndex(where: { $0 === errand }) else { return }
    errands.remove(at: place)
    errand.task = nil
    if errands.isEmpty { return end() }
    adoptPriority()
    watchSilence()
  }

  func adoptPriority() {
    let highest = errands.map(\.priority).max() ?? priority
    guard highest != priority else { return }
    step = Int8(clamping: highest)
    if case .queued(let entry) = phase {
      runtime.queue.setPriority(highest, of: entry, now: runtime.loop.now)
    }
  }

  /// The server said that something else still holds than what is stored: the whole answer is asked for.
  func fetchAnew() {
    guard case .admitting = phase else { return }
    asksWhole = true
    exchange.begin(again: plan.first)
    enqueue()
  }

  /// Gives every errand its outcome, each for itself, and is over.
  func conclude(_ outcome: FetchOutcome) {
    shared.note(outcome)
    var outcome = outcome
    if case .failed(var error) = outcome {
      error.attempts = exchange.journey.attempts
      outcome = .failed(error)
    }
    if case .failed(let error) = outcome, !error.isOwnEnd { releaseLock(isVain: true) }
    let waiting = errands
    errands = []
    for errand in waiting { errand.task = nil }
    end()
    for errand in waiting { errand.conclude(outcome) }
  }

  /// Gives back whatever is held.
  func end() {
    letGo()
    phase = .over
    shared.fetches.forget(self)
    releaseLock()
  }

  func letGo() {
    let held = phase
    phase = .idle
    switch held {
    case .queued(let entry): runtime.queue.remove(entry, now: runtime.loop.now)
    case .flying(let entry, let transfer):
      runtime.transport.cancel(transfer)
      runtime.queue.finished(entry, .abandoned, now: runtime.loop.now)
    case .waiting(let timer): runtime.loop.cancelTimer(timer)
    case .idle, .admitting, .over: break
    }
  }

  /// - Parameter isVain: whether the fetch leaves nothing for those in other processes who wait for it.
  func releaseLock(isVain: Bool = false) {
    guard let place = lockPlace else { return }
    lockPlace = nil
    guard isVain else { return shared.locks.release(place) }
    // A worker writes the note, because a disk may be slow. The lock is released behind it: those who get the lock read it.
    let (locks, now) = (shared.locks, runtime.loop.now)
    let isSubmitted = runtime.workers.submit(priority: Priority.most) {
      locks.noteVain(place, at: now)
      locks.release(place)
    }
    if !isSubmitted { locks.release(place) }
  }

  func noteBegin() {
    hasBegun = true
    for errand in errands { errand.ticket.run() }
  }
}

/// How a fetch ended.
enum FetchOutcome {
  /// There is an answer, of any status.
  case answered(Fetched)
  /// The stored answer still holds; this is it, renewed.
  case unchanged(Found)
  /// Another process fetched it meanwhile.
  case stored(Found)
  case failed(NuthatchError)
}

/// An answer from the network, admitted.
struct Fetched: Sendable {
  let head: ResponseHead
  let body: Payload
  /// Nil for answers that are no pictures, or when none was wanted.
  let content: Digest?
  let pictures: [Recipe: Result<Picture, NuthatchError>]
  var origin: AnswerOrigin
  /// Whether a public server has had a part in it.
  var isFromPublic = false
  /// Stores it, on a worker's thread, if it may be stored; false when it isn't. Nil when that has been done.
  var keep: (@Sendable () -> Bool)?
}
