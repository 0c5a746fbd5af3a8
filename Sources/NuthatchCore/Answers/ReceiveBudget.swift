import CSystem
import Synchronization

/// What all bodies that are being received hold in private memory, and may hold, in the whole process.
final class ReceiveBudget: Sendable {
  private let limit: Atomic<Int>
  private let held = Atomic(0)

  private let writers: WorkerPool?
  private let epoch = nhs_fork_epoch()

  init(limit: Int, _ writers: WorkerPool? = nil) {
    self.limit = Atomic(limit)
    self.writers = writers
  }

  /// Has a job done by the writers, of which a forked child has none.
  func onDisk(_ job: @escaping WorkerPool.Job) {
    if epoch != nhs_fork_epoch() || writers?.submit(priority: Priority.most, job) != true { job() }
  }

  /// Bytes held at this moment.
  var bytes: Int { held.load(ordering: .relaxed) }

  /// What may be taken still.
  var room: Int { max(0, limit.load(ordering: .relaxed) - bytes) }

  func setLimit(_ bytes: Int) { limit.store(bytes, ordering: .relaxed) }

  /// False when there is no room for so many more.
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
