import NuthatchTransport

/// Does what needs the outbox's disk, one thing after the other, in the order in which it was asked for; on the workers'
/// threads, because nobody else may wait for a disk.
final class OutboxLane: Sendable {
  private struct Line {
    var jobs: [@Sendable () -> Void] = []
    var isRunning = false
  }

  private let line = Locked(Line())
  private let workers: WorkerPool

  init(_ workers: WorkerPool) { self.workers = workers }

  /// False, and nothing is done, when the workers have been stopped.
  @discardableResult
  func submit(_ job: @escaping @Sendable () -> Void) -> Bool {
    let mustStart = line.withLock { line in
      line.jobs.append(job)
      defer { line.isRunning = true }
      return !line.isRunning
    }
    guard mustStart else { return true }
    guard workers.submit(priority: Priority.most, { self.run() }) else {
      line.withLock { $0 = Line() }
      return false
    }
    return true
  }

  private func run() {
    while true {
      let next: (@Sendable () -> Void)? = line.withLock { line in
        guard !line.jobs.isEmpty else {
          line.isRunning = false
          return nil
        }
        return line.jobs.removeFirst()
      }
      guard let next else { return }
      next()
    }
  }
}
