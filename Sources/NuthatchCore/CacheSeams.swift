import NuthatchTransport

/// What takes the place of clock, network and rules where a test, or recorded answers, want it.
package struct CacheSeams: Sendable {
  /// The time of day.
  package var clock = WallClock.system
  /// Waits between attempts.
  var retryPolicy = RetryPolicy()
  /// What becomes of requests in the outbox.
  package var outboxRules = OutboxRules()
  /// The outbox's clocks; nil: the machine's, and the time of day above.
  var outboxClock: OutboxClock?
  /// Says when the network has changed, beside the kernel.
  package var reachabilitySource: (any ReachabilitySource)?
  /// What takes the network's place: recorded answers, or a test's. It is given the thread that calls it.
  package var transport: (@Sendable (EventLoop) -> any Transport)?
  /// Asked after the other processes of the machine.
  var tiers: [any FetchTier] = []
  /// Called before a note on a flight is read or written (`FetchLocks`).
  package var beforeNotes: (@Sendable () -> Void)?

  /// None.
  package init() {}
}
