/// Runs jobs one after the other, in the order in which they were submitted, on a pool's threads. For disk work, because other
/// threads must not wait for a disk.
final class SerialQueue: Sendable {
  private struct State {
    var jobs: [WorkerPool.Job] = []
    var isRunning = false
  }

  private let state = Locked(State())
  private let workers: WorkerPool

  init(_ workers: WorkerPool) { self.workers = workers }

  /// Runs `job` later. If the pool takes no jobs because it was stopped, the calling thread runs it: locks must still be
  /// released, and unwanted records removed.
  func submit(_ job: @escaping WorkerPool.Job) {
    let mustStart = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart, !start() { run() }
  }

  private func start() -> Bool { workers.submit(priority: Priority.most) { self.run() } }

  /// Runs the jobs that are waiting now. Jobs submitted meanwhile start as a new job of the pool, so that other queues get their
  /// turn and a waiting fork can happen in between.
  private func run() {
    repeat {
      let jobs = state.withLock { state in
        defer { state.jobs = [] }
        return state.jobs
      }
      for job in jobs { job() }
    } while goesOn() && !start()
  }

  private func goesOn() -> Bool {
    state.withLock { state in
      state.isRunning = !state.jobs.isEmpty
      return state.isRunning
    }
  }
}
