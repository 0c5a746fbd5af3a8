import NuthatchTransport

/// The fetches behind stale answers that are given all the same: no ticket waits for them, only a close. Each begins before its
/// answer is delivered, so that a close that comes then waits for it.
final class Revalidations: Sendable {
  /// How many are under way at most. What isn't asked about now is asked about when it is given once more.
  private static let most = 4096

  private struct State {
    var open: [ObjectIdentifier: Revalidation] = [:]
    var isClosed = false
  }

  private let state = Locked(State())
  /// Rings when one has ended.
  private let ended = EventCount()

  /// Asks the server whether what is stored still holds. Called on the loop's thread.
  func start(_ plan: RequestPlan, _ stored: StoredAnswer, _ shared: SharedCache) {
    guard plan.mayUseNetwork else { return }
    let revalidation = Revalidation(plan, shared)
    let isTaken = state.withLock { state in
      guard !state.isClosed, state.open.count < Self.most else { return false }
      state.open[ObjectIdentifier(revalidation)] = revalidation
      return true
    }
    if isTaken { revalidation.start(stored) }
  }

  fileprivate func forget(_ revalidation: Revalidation) {
    _ = state.withLock { $0.open.removeValue(forKey: ObjectIdentifier(revalidation)) }
    ended.ring()
  }

  /// Waits until none is left. False when that took longer; nil waits for ever.
  func wait(within milliseconds: Int64?) -> Bool {
    let deadline = EventCount.deadline(milliseconds)
    while true {
      let seen = ended.current
      if state.withLock({ $0.open.isEmpty }) { return true }
      if EventCount.deadline(0) >= deadline { return false }
      ended.wait(after: seen, until: deadline)
    }
  }

  /// Ends those that are left, and takes no more.
  func close() {
    let left = state.withLock { state in
      defer { state = State(open: [:], isClosed: true) }
      return Array(state.open.values)
    }
    ended.ring()
    for revalidation in left { revalidation.stop() }
  }
}

/// One of them: it asks no question, and keeps the sizes that it makes. Confined to the loop's thread.
private final class Revalidation: FetchWaiter, @unchecked Sendable {
  /// In nanoseconds, where the request sets no deadline: what nobody waits for always ends.
  private static let longest: Int64 = 120_000_000_000

  private(set) var plan: RequestPlan
  let shared: SharedCache
  var joined: Fetch?
  private var timer: EventLoop.TimerID?
  private let begin: Int64

  init(_ plan: RequestPlan, _ shared: SharedCache) {
    self.plan = plan
    self.shared = shared
    begin = shared.runtime.loop.now
  }

  private var loop: EventLoop { shared.runtime.loop }
  private var limit: Int64 { plan.deadline ?? Self.longest }

  func start(_ stored: StoredAnswer) {
    timer = loop.at(begin &+ limit) { self.end() }
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
  var joinedAt: Int64 { begin }
  var remaining: Int64? { begin &+ limit &- loop.now }
  func noteQueued() {}
  func noteTurn() {}
  func noteBegin() {}
  func report(_ bytes: Int64, of total: Int64?, isUpload: Bool) {}
  func putOff() { end() }

  func conclude(_ outcome: FetchOutcome) {
    switch outcome {
    case .unchanged: break
    case .failed(let error): shared.remember(error, status: nil, plan)
    case .stored(let other):
      if let source = other.pictureSource(plan) { return make(source) }
    case .answered(let fetched):
      if fetched.head.redirection != nil, plan.isHopByHop { return follow(fetched) }
      if plan.wantsPictures, let error = fetched.noPicture {
        shared.remember(error, status: error.status, plan)
      } else if let source = fetched.pictureSource(plan) {
        return make(source)
      }
    }
    end()
  }

  /// What a new redirect leads to is asked for, too, where it isn't there.
  private func follow(_ fetched: FetchedAnswer) {
    guard let next = try? plan.following(fetched.head, sentByPublic: fetched.isFromPublic) else {
      return end()
    }
    plan = next
    let isSubmitted = shared.runtime.workers.submit(priority: priority) {
      let stored = self.shared.reader.find(next)
      self.loop.post {
        guard self.timer != nil, Decision(stored, next) != .hit else { return self.end() }
        self.shared.fetches.join(self, base: stored)
      }
    }
    if !isSubmitted { end() }
  }

  /// Makes the sizes that the fetch hasn't made, because it was under way already.
  private func make(_ source: PictureSource) {
    guard plan.wantsPictures else { return end() }
    shared.decodes.pictures(
      source, plan.recipes, priority: priority, shared.maker(maxPixels: plan.maxPixels)
    ) { _ in self.end() }
  }
}
