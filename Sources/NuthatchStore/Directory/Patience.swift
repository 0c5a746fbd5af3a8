import CSystem
import NuthatchBase

/// How long the calling thread waits for locks of other threads and processes before it gives up with `busy`.
///
/// The calling thread sets it once, where it enters the store. The time counts from the first wait on.
enum Patience {
  /// For a commit, in ns. If it fails, the answer is delivered without being stored.
  static let writing: Int64 = 1_000_000_000
  /// For other operations that the caller asked for, in ns: remove, clear, trim, verify, flush, open, close.
  static let upkeep: Int64 = 5_000_000_000

  /// Runs `body` with a limit for its waits, unless this thread already has one.
  static func lasting<Result, Fault>(
    _ nanoseconds: Int64, _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    guard nhs_patience().length == 0 else { return try body() }
    nhs_set_patience(nhs_patience_state(length: nanoseconds, deadline: 0))
    defer { nhs_set_patience(nhs_patience_state()) }
    return try body()
  }

  /// Whether the thread has the patience of a commit.
  static var isOfWriter: Bool { nhs_patience().length == writing }

  /// Returns the deadline on the monotonic clock. The first call starts the time.
  static func deadline() -> Int64 {
    var own = nhs_patience()
    guard own.length != 0 else { return nhs_monotonic_ns() &+ upkeep }
    if own.deadline == 0 {
      own.deadline = nhs_monotonic_ns() &+ own.length
      nhs_set_patience(own)
    }
    return own.deadline
  }
}

extension SystemCalls {
  /// Locks a byte, waiting until the deadline. Returns false if it isn't free by then.
  ///
  /// The kernel can't wait for a lock for a limited time. So this polls.
  func lock(_ fd: Int32, _ byte: Int64, _ kind: LockKind, until deadline: Int64) throws(SystemFault) -> Bool {
    // A change of the index takes some microseconds: at first only yield the processor.
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
  /// Runs `body` under the lock. Throws `busy` if the lock isn't free before the thread's patience ends.
  @inline(__always)
  func patiently<Result>(
    _ busy: @autoclosure () -> StoreFault, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    guard lock(until: Patience.deadline) else { throw busy() }
    defer { unlock() }
    return try body()
  }
}
