/// A value under a lock. Public, so that the compiler specialises it for other modules' values: a generic call costs more than
/// the lock.
public final class Locked<Value>: @unchecked Sendable {
  // Accessed only under the lock, hence Sendable, and Swift's run-time check for exclusive access would find nothing.
  @exclusivity(unchecked) @usableFromInline var value: Value
  @usableFromInline let lock = WordLock()

  /// The value, unlocked.
  @inlinable
  public init(_ value: Value) { self.value = value }

  /// Calls `body` with the value under the lock.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
