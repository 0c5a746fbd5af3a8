/// Runs jobs one after the other, in the order in which they were submitted, on a pool's threads. For disk work, because other
/// threads must not wait for a disk.
final class SerialLine: Sendable {
  private struct Line {
    var jobs: [WorkerPool.Job] = []
    var isRunning = false
  }

  private let line = Locked(Line())
  private let workers: WorkerPool

  init(_ workers: WorkerPool) { self.workers = workers }

  /// Runs `job` later. If the pool takes no jobs because it was stopped, the calling thread runs it: locks must still be
  /// released, and unwanted records removed.
  func submit(_ job: @escaping WorkerPool.Job) {
    let mustStart = line.withLock { line in
      line.jobs.append(job)
      defer { line.isRunning = true }
      return !line.isRunning
    }
    if mustStart, !start() { run() }
  }

  private func start() -> Bool { workers.submit(priority: Priority.most) { self.run() } }

  /// Runs the jobs that are waiting now. Jobs submitted meanwhile start as a new job of the pool, so that other lines get their
  /// turn and a waiting fork can happen in between.
  private func run() {
    repeat {
      let jobs = line.withLock { line in
        defer { line.jobs = [] }
        return line.jobs
      }
      for job in jobs { job() }
    } while goesOn() && !start()
  }

  private func goesOn() -> Bool {
    line.withLock { line in
      line.isRunning = !line.jobs.isEmpty
      return line.isRunning
    }
  }
}
