import NuthatchBase
import NuthatchTransport

/// Asks the server to confirm or replace a stale answer that was already given. No ticket waits for it, so it asks its program
/// nothing. The thumbnails that it makes are stored. Confined to the loop's thread, hence Sendable.
final class Revalidation: FetchWaiter, @unchecked Sendable {
  /// Limits for requests without a deadline, and for the wait for a turn, in nanoseconds. So a revalidation always ends.
  private static let longest: Int64 = 120_000_000_000
  private static let longestWait: Int64 = 900_000_000_000

  private(set) var plan: RequestPlan
  let shared: SharedCache
  var joined: Fetch?
  private var timer: LoopTimer?
  private let begin: Int64
  private var due: Int64
  private var hasBegun = false

  init(_ plan: RequestPlan, _ shared: SharedCache) {
    self.plan = plan
    self.shared = shared
    begin = shared.runtime.loop.now
    due = begin &+ (plan.deadlineCountsQueue ? plan.deadline ?? Self.longest : Self.longestWait)
  }

  private var loop: EventLoop { shared.runtime.loop }

  func start(_ stored: StoredAnswer) {
    timer = loop.at(due) { self.end() }
    shared.fetches.join(self, base: stored)
  }

  /// Any thread may call it.
  func stop() { loop.post { self.end() } }

  private func end() {
    if let timer { loop.cancelTimer(timer) }
    timer = nil
    joined?.leave(self)
    shared.revalidations.forget(self)
  }

  // MARK: As a fetch's waiter

  var priority: Int { plan.priority }
  var waitsSince: Int64 { begin }
  var remaining: Int64? { due &- loop.now }
  func noteQueued() {}
  func noteTurn() {}

  /// Some deadlines don't include the wait for a turn.
  func noteBegin() {
    guard !hasBegun, !plan.deadlineCountsQueue, let old = timer else { return }
    hasBegun = true
    loop.cancelTimer(old)
    due = loop.now &+ (plan.deadline ?? Self.longest)
    timer = loop.at(due) { self.end() }
  }

  func report(_ bytes: Int64, of total: Int64?, isUpload: Bool) {}
  /// Does nothing, because nothing would submit it again.
  func putOff(after attempts: Int) {}

  func conclude(_ outcome: FetchOutcome) {
    switch outcome {
    case .unchanged: break
    case .failed(let error): shared.remember(error, status: nil, plan)
    case .fetchedElsewhere(let other):
      if let source = other.pictureSource(plan) { return make(source) }
    case .answered(let fetched):
      if plan.followsRedirect(in: fetched.head), plan.isHopByHop { return follow(fetched) }
      if plan.wantsPictures, let error = fetched.noPicture {
        shared.remember(error, status: error.status, plan)
      } else if let source = fetched.pictureSource(plan) {
        return make(source)
      }
    }
    end()
  }

  /// Also fetches the target of a new redirect, unless a valid answer is stored.
  private func follow(_ fetched: FetchedAnswer) {
    guard let next = try? plan.following(fetched.head, sentByPublic: fetched.isFromPublic) else {
      return end()
    }
    plan = next
    let isSubmitted = shared.runtime.workers.submit(priority: priority) {
      let stored = self.shared.reader.readAdmitted(next)
      self.loop.post {
        guard self.timer != nil else { return self.end() }
        switch Decision(stored, next) {
        case .fetch, .hitAndRevalidate, .showThenFetch: self.shared.fetches.join(self, base: stored)
        // A later request finds the answer, or is refused.
        case .hit, .follow, .checkFirst, .refuse: self.end()
        }
      }
    }
    if !isSubmitted { end() }
  }

  /// Makes the sizes that the fetch hasn't made because it was already under way.
  private func make(_ source: PictureSource) {
    guard plan.wantsPictures else { return end() }
    shared.decodes.pictures(
      source, plan.recipes, priority: priority, shared.maker(plan.limits)
    ) { _ in self.end() }
  }
}
