import CSystem
import Glibc

/// A lock of this process's threads.
///
/// Not `Synchronization.Mutex`, because what it guards lives in mapped files and in several objects at once. Each user
/// says what its lock guards. A forked child never takes a lock of its parent: the stores it inherits answer `forked`.
final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>

  init() {
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
  }

  deinit { mutex.deallocate() }

  @inline(__always)
  func with<Result, Fault>(_ body: () throws(Fault) -> Result) throws(Fault) -> Result {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return try body()
  }

  /// Takes it. False when it isn't free before the deadline on the monotonic clock, which is asked for only then.
  @inline(__always)
  func take(until deadline: () -> Int64) -> Bool {
    pthread_mutex_trylock(mutex) == 0 || nhs_lock_mutex(mutex, deadline()) == 0
  }

  func giveBack() { pthread_mutex_unlock(mutex) }

  func tryWith(_ body: () -> Void) -> Bool {
    guard pthread_mutex_trylock(mutex) == 0 else { return false }
    defer { pthread_mutex_unlock(mutex) }
    body()
    return true
  }
}
