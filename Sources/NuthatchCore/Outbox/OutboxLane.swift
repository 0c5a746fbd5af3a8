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

  /// Has `job` done. At the end, when the workers have been stopped, whoever submits it does it: locks are to be given back,
  /// and records that nobody wants removed.
  func submit(_ job: @escaping @Sendable () -> Void) {
    let mustStart = line.withLock { line in
      line.jobs.append(job)
      defer { line.isRunning = true }
      return !line.isRunning
    }
    if mustStart, !workers.submit(priority: Priority.most, { self.run() }) { run() }
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
