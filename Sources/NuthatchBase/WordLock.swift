import CSystem
import Synchronization

/// A lock of four bytes, to stand in the object that it guards.
///
/// Swift's own `Mutex` can't be had here: its owner is the thread's number, which it notes once for each thread, so
/// that the first thread of a forked child still goes by its number in the parent. The kernel refuses it as owner as
/// soon as two threads of the child want the lock, and `Mutex` then ends the process.
public struct WordLock: ~Copyable, Sendable {
  @usableFromInline let word = Atomic<UInt32>(0)

  /// Free.
  @inlinable
  public init() {}

  /// Calls `body` while every other thread waits.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }

  /// Takes it. False when it isn't free before the deadline on the monotonic clock, which is asked for only then.
  @inlinable
  public func lock(until deadline: () -> Int64) -> Bool {
    nhs_word_try(word.address) != 0 || nhs_word_wait_until(word.address, deadline()) != 0
  }

  /// Calls `body` if no other thread has it. Whether it did.
  @inlinable
  public func withLockIfFree(_ body: () -> Void) -> Bool {
    guard nhs_word_try(word.address) != 0 else { return false }
    defer { unlock() }
    body()
    return true
  }

  /// For what holds it in one function and gives it back in the middle of another.
  @inlinable
  public func lock() { nhs_word_lock(word.address) }

  /// Frees it.
  @inlinable
  public func unlock() { nhs_word_unlock(word.address) }
}

extension Atomic where Value == UInt32 {
  /// Where it lies, which is the same for as long as it lives: an atomic is never moved out of the object whose
  /// constant it is, and is passed by its address.
  @inlinable
  public var address: UnsafeMutablePointer<UInt32> {
    withUnsafePointer(to: self) {
      UnsafeMutableRawPointer(mutating: $0).assumingMemoryBound(to: UInt32.self)
    }
  }
}
