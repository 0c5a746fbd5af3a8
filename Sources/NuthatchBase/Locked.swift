/// A value that one thread at a time may touch. Public, because the compiler makes code for a room's own values only of what is: a
/// generic call costs more than the lock.
public final class Locked<Value>: @unchecked Sendable {
  // Touched under the lock only, hence Sendable; Swift's check at run time would find nothing.
  @exclusivity(unchecked) @usableFromInline var value: Value
  @usableFromInline let lock = WordLock()

  /// Free, with this value.
  @inlinable
  public init(_ value: Value) { self.value = value }

  /// Calls `body` with the value, while every other thread waits.
  @inlinable
  public func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&value)
  }
}
