import Glibc

/// A value that one thread at a time may touch.
///
/// Swift's own `Mutex` can't be had here: its owner is the thread's number, which it notes once for each thread, so
/// that the first thread of a forked child still goes by its number in the parent. The kernel refuses it as owner as
/// soon as two threads of the child want the lock, and `Mutex` then ends the process.
package final class Locked<Value>: @unchecked Sendable {
  // Touched under the lock only, hence Sendable.
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  package init(_ value: Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit {
    pthread_mutex_destroy(mutex)
    mutex.deallocate()
  }

  /// Calls `body` with the value, while every other thread waits.
  package func withLock<Result, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body(&value)
  }
}
