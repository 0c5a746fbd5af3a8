/// Does jobs one after the other, in the order in which they come, on a pool's threads: for what needs a disk, because nobody
/// else may wait for one.
final class SerialLine: Sendable {
  private struct Line {
    var jobs: [WorkerPool.Job] = []
    var isRunning = false
  }

  private let line = Locked(Line())
  private let workers: WorkerPool

  init(_ workers: WorkerPool) { self.workers = workers }

  /// Has `job` done. At the end, when the workers have been stopped, whoever submits it does it: locks are to be given back,
  /// and records that nobody wants removed.
  func submit(_ job: @escaping WorkerPool.Job) {
    let mustStart = line.withLock { line in
      line.jobs.append(job)
      defer { line.isRunning = true }
      return !line.isRunning
    }
    if mustStart, !start() { run() }
  }

  private func start() -> Bool { workers.submit(priority: Priority.most) { self.run() } }

  /// Does what there is. What has come meanwhile waits for its turn among other lines, and lets those in who wait to fork.
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
