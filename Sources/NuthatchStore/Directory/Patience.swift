import CSystem
import NuthatchBase

/// How long the calling thread waits for locks of other threads and processes before it gives up with `busy`.
///
/// A thread that calls the store says so once, at the store's door; the time counts from the first wait on.
enum Patience {
  /// For a record that is kept: its answer is delivered all the same.
  static let writing: Int64 = 1_000_000_000
  /// For what its caller asked for: remove, clear, trim, verify, flush, open, close.
  static let upkeep: Int64 = 5_000_000_000

  /// Does something with a patience, unless this thread has one already.
  static func lasting<Result, Fault>(
    _ nanoseconds: Int64, _ body: () throws(Fault) -> Result
  ) throws(Fault) -> Result {
    guard nhs_patience().length == 0 else { return try body() }
    nhs_set_patience(nhs_patience_state(length: nanoseconds, deadline: 0))
    defer { nhs_set_patience(nhs_patience_state()) }
    return try body()
  }

  /// Whether the thread only keeps a record.
  static var isOfWriter: Bool { nhs_patience().length == writing }

  /// On the monotonic clock. To be called when the thread has to wait.
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
  /// Locks a byte, or waits for it until the deadline. False when it isn't free by then.
  ///
  /// The kernel can wait for a lock, but not for a limited time. So the byte is tried again and again.
  func lock(_ fd: Int32, _ byte: Int64, _ kind: LockKind, until deadline: Int64) throws(SystemFault) -> Bool {
    // A change of the index takes some microseconds: at first only the processor is given to others.
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
  /// Does something under the lock. Throws what `busy` gives when the lock isn't free before the thread's patience ends.
  @inline(__always)
  func patiently<Result>(
    _ busy: @autoclosure () -> StoreFault, _ body: () throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    guard lock(until: Patience.deadline) else { throw busy() }
    defer { unlock() }
    return try body()
  }
}
