import CSystem
import Synchronization

/// A lock of four bytes, stored in the object that it guards.
///
/// Swift's own `Mutex` doesn't survive a fork. It stores the number of the owning thread. Swift reads that number only once for
/// each thread, so the first thread of a forked child still uses its number from the parent. When two threads of the child
/// contend for the lock, the kernel refuses that owner, and `Mutex` traps.
public struct WordLock: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt32>(0)

  /// An unlocked lock.
  @inlinable
  public init() {}

  /// Calls `body` under the lock.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Locks it, and returns true; returns false if it isn't free before the deadline (nanoseconds of the monotonic clock).
  /// `deadline` is called only if the thread must wait.
  @inlinable
  public func lock(until deadline: () -> Int64) -> Bool {
    nhs_word_try(word.address) != 0 || nhs_word_wait_until(word.address, deadline()) != 0
  }

  /// Calls `body` if the lock is free. Returns whether it did.
  @inlinable
  public func withLockIfFree(_ body: () -> Void) -> Bool {
    guard nhs_word_try(word.address) != 0 else { return false }
    defer { unlock() }
    body()
    return true
  }

  /// Waits until it is free, and locks it. `unlock` must follow on every path, so prefer `withLock`.
  @inlinable
  public func lock() { nhs_word_lock(word.address) }

  /// Unlocks it.
  @inlinable
  public func unlock() { nhs_word_unlock(word.address) }
}

extension Atomic where Value == UInt32 {
  /// The address. It stays the same if the atomic is a constant (`let`) of an object.
  @inlinable
  public var address: UnsafeMutablePointer<UInt32> {
    withUnsafePointer(to: self) {
      UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: UInt32.self)
    }
  }
}
