import CSystem
import Synchronization

/// The limit of private memory for all bodies that are being received, in the whole process.
final class ReceiveBudget: Sendable {
  private let limit: Atomic<Int>
  private let held = Atomic(0)

  private let writers: WorkerPool?
  private let epoch = nhs_fork_epoch()

  init(limit: Int, _ writers: WorkerPool? = nil) {
    self.limit = Atomic(limit)
    self.writers = writers
  }

  /// Runs a job on a writer's thread. If no writer takes it, as in a forked child, runs it on this thread.
  func onDisk(_ job: @escaping WorkerPool.Job) {
    if epoch != nhs_fork_epoch() || writers?.submit(priority: Priority.most, job) != true { job() }
  }

  /// The bytes that are used now.
  var bytes: Int { held.load(ordering: .relaxed) }

  /// The bytes that are still free.
  var room: Int { max(0, limit.load(ordering: .relaxed) - bytes) }

  func setLimit(_ bytes: Int) { limit.store(bytes, ordering: .relaxed) }

  /// Reserves bytes. Returns false, and reserves nothing, if fewer are free.
  func take(_ count: Int) -> Bool {
    let (_, now) = held.wrappingAdd(count, ordering: .relaxed)
    guard now > limit.load(ordering: .relaxed) else { return true }
    give(count)
    return false
  }

  func give(_ count: Int) {
    if count > 0 { _ = held.wrappingSubtract(count, ordering: .relaxed) }
  }
}
