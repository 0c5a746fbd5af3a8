/// A value that one thread at a time may touch.
package final class Locked<Value>: @unchecked Sendable {
  // Touched under the lock only, hence Sendable.
  private var value: Value
  private let lock = WordLock()

  package init(_ value: Value) { self.value = value }

  /// Calls `body` with the value, while every other thread waits.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try lock.withLock { () throws(Failure) in try body(&value) }
  }
}
