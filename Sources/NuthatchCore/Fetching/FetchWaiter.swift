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

extension FetchWaiter {
  func report(_ bytes: Int64, of total: Int64?) { report(bytes, of: total, isUpload: false) }
}

extension RequestTask: FetchWaiter {
  func noteBegin() { ticket.run() }

  func report(_ bytes: Int64, of total: Int64?, isUpload: Bool) {
    ticket.report(bytes, of: total, isUpload: isUpload)
  }

  func putOff() { ticket.cancel() }
}
