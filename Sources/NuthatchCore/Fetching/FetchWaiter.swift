import NuthatchImaging

/// What waits for a fetch. Called on the loop's thread.
protocol FetchWaiter: AnyObject {
  var plan: RequestPlan { get }
  var shared: SharedCache { get }
  var priority: Int { get }
  /// The fetch that it waits for. Only that fetch sets it.
  var joined: Fetch? { get set }
  /// When it began to wait for its fetch, or for its turn in the queue, on the monotonic clock.
  var joinedAt: Int64 { get }
  /// Nanoseconds left until its deadline; nil for none.
  var remaining: Int64? { get }

  /// Its fetch waits for a turn in the queue from now on.
  func noteQueued()
  /// That turn has come.
  func noteTurn()
  /// Its fetch has sent something.
  func noteBegin()
  func report(_ bytes: Int64, of total: Int64?, isUpload: Bool)
  /// Ends, because other requests need the place in the queue: its caller may ask again later.
  func putOff()
  /// The end of its fetch, which it has left before this call.
  func conclude(_ outcome: FetchOutcome)
}

extension [any FetchWaiter] {
  /// For how long the most patient of them waits for a host that is away, in nanoseconds; 0 when none does.
  var patience: Int64 { lazy.compactMap { $0.plan.patience }.max() ?? 0 }

  /// How much silence the most patient of them bears, in nanoseconds; nil for any.
  var silence: Int64? {
    contains { $0.plan.silence == nil } ? nil : lazy.compactMap { $0.plan.silence }.max()
  }

  /// Nanoseconds left until the last of their deadlines; nil for none.
  var remaining: Int64? { contains { $0.plan.deadline == nil } ? nil : lazy.compactMap(\.remaining).max() }

  /// What a picture may cost for the one that allows the most.
  var limits: ImageLimits { lazy.map { $0.plan.limits }.max { $0.pixels < $1.pixels } ?? ImageLimits() }
  /// Each once.
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
