import CSystem
import NuthatchBase

/// How long the calling thread waits for locks of other threads and processes before it throws `busy`.
///
/// The limit is set once, where the thread enters the store. The time counts from the first wait on.
enum WaitLimit {
  /// For a commit, in ns. If it fails, the answer is delivered without being stored.
  static let commit: Int64 = 1_000_000_000
  /// For other operations that the caller asked for, in ns: remove, clear, trim, verify, flush, open, close.
  static let upkeep: Int64 = 5_000_000_000

  /// Runs `body` with a limit for its waits, unless this thread already has one.
  static func applying<Result, Fault>(
    _ nanoseconds: Int64, _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    guard nhs_get_wait_limit().length == 0 else { return try body() }
    nhs_set_wait_limit(nhs_wait_limit(length: nanoseconds, deadline: 0))
    defer { nhs_set_wait_limit(nhs_wait_limit()) }
    return try body()
  }

  /// Whether the thread has the limit of a commit.
  static var isOfCommit: Bool { nhs_get_wait_limit().length == commit }

  /// Returns the thread's deadline on the monotonic clock, in ns. The first call starts the time.
  static func deadline() -> Int64 {
    var own = nhs_get_wait_limit()
    guard own.length != 0 else { return nhs_monotonic_ns() &+ upkeep }
    if own.deadline == 0 {
      own.deadline = nhs_monotonic_ns() &+ own.length
      nhs_set_wait_limit(own)
    }
    return own.deadline
  }
}

extension SystemCalls {
  /// Locks a byte, waiting until the deadline. Returns false if it isn't free by then.
  ///
  /// The kernel has no lock with a time limit, so this polls.
  func lock(_ fd: Int32, _ byte: Int64, _ kind: LockKind, until deadline: Int64) throws(SystemFault) -> Bool {
    // A change of the index takes some microseconds, so at first only yield the processor.
    for _ in 0..<16 {
      if try tryLock(fd, byte, kind) { return true }
      sched_yield()
    }
    var pause: Int64 = 20_000
    while true {
      if try tryLock(fd, byte, kind) { return true }
      guard nhs_monotonic_ns() < deadline else { return false }
      nhs_nap(pause)
      pause = min(pause * 2, 1_000_000)
    }
  }
}

extension WordLock {
  /// Runs `body` under the lock. Throws `busy` if the lock isn't free before the deadline of `WaitLimit`.
  @inline(__always)
  func withLock<Result>(
    orThrow busy: @autoclosure () -> StoreFault, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    guard lock(until: WaitLimit.deadline) else { throw busy() }
    defer { unlock() }
    return try body()
  }
}
