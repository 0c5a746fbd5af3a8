import NuthatchImaging

/// A request that waits for a fetch. Called on the loop's thread.
protocol FetchWaiter: AnyObject {
  var plan: RequestPlan { get }
  var shared: SharedCache { get }
  var priority: Int { get }
  /// The fetch that it waits for. Only that fetch sets it.
  var joined: Fetch? { get set }
  /// When it began to wait (monotonic, ns). A ticket's task begins anew with each wait for a turn in the queue.
  var waitsSince: Int64 { get }
  /// Nanoseconds until its deadline. Nil: there is none.
  var remaining: Int64? { get }

  /// Its fetch now waits for a turn in the queue.
  func noteQueued()
  /// That turn has come.
  func noteTurn()
  /// Its fetch now sends a request. Called for each hop of each attempt.
  func noteBegin()
  func report(_ bytes: Int64, of total: Int64?, isUpload: Bool)
  /// Ends because other requests need the place in the queue. Its caller may ask again later.
  func putOff(after attempts: Int)
  /// Its fetch has ended. The waiter has left it before this call.
  func conclude(_ outcome: FetchOutcome)
}

extension [any FetchWaiter] {
  /// The longest time that one of them waits for an unreachable host, in nanoseconds. 0: none waits.
  var patience: Int64 { lazy.compactMap { $0.plan.patience }.max() ?? 0 }

  /// The longest `timeout` (time without a byte) of the waiters, in nanoseconds. Nil: one of them has no limit.
  var silence: Int64? {
    contains { $0.plan.silence == nil } ? nil : lazy.compactMap { $0.plan.silence }.max()
  }

  /// Nanoseconds until the last of their deadlines. Nil: one of them has none.
  var remaining: Int64? { contains { $0.plan.deadline == nil } ? nil : lazy.compactMap(\.remaining).max() }

  /// The picture limits of the waiter that allows the most pixels. If one waiter wants the decoder isolated, it is for all.
  var limits: ImageLimits {
    var limits = lazy.map { $0.plan.limits }.max { $0.pixels < $1.pixels } ?? ImageLimits()
    limits.isIsolated = contains { $0.plan.limits.isIsolated }
    return limits
  }
  /// All sizes of the waiters, without duplicates.
  var recipes: [Recipe] {
    if count == 1, let recipes = first?.plan.recipes, recipes.count == 1 { return recipes }
    return [Recipe](Set(flatMap { $0.plan.recipes }))
  }
  var wantPictures: Bool { allSatisfy { $0.plan.wantsPictures } }

  func areAnswered(by stored: StoredAnswer) -> Bool { allSatisfy { stored.isAnswer(to: $0.plan) } }

  func report(_ bytes: Int64, of total: @autoclosure () -> Int64?, isUpload: Bool = false) {
    for waiter in self where waiter.plan.reportsProgress {
      waiter.report(bytes, of: total(), isUpload: isUpload)
    }
  }
}
