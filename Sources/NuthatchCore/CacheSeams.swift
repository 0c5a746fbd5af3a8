import NuthatchTransport

/// Replacements for clock, network and rules, for tests and for recorded answers.
package struct CacheSeams: Sendable {
  /// The wall clock.
  package var clock = WallClock.system
  /// The waits between attempts.
  var retryPolicy = RetryPolicy()
  /// The rules for retries of requests in the outbox.
  package var outboxRules = OutboxRules()
  /// The outbox's clocks; nil: the machine's clocks, and `clock`.
  var outboxClock: OutboxClock?
  /// Reports changes of the network, in addition to the kernel's reports.
  package var reachabilitySource: (any ReachabilitySource)?
  /// Makes a transport that replaces the network, for recorded answers or tests. Its argument is the event loop that the
  /// transport runs on.
  package var transport: (@Sendable (EventLoop) -> any Transport)?
  /// Tiers that are searched after the other processes of the machine (`OtherProcesses`).
  var tiers: [any FetchTier] = []
  /// Called before a note about a fetch is read or written (`FetchLocks`).
  package var beforeNotes: (@Sendable () -> Void)?
  /// Whether the pixels of a thumbnail that was made or unpacked stay in memory for later requests.
  package var keepsPixels = true

  /// Without replacements.
  package init() {}
}
