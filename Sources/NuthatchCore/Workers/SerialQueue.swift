/// Runs jobs one after the other, in the order of their submission, on a pool's threads. For disk work of threads that must not
/// wait for a disk.
final class SerialQueue: Sendable {
  private struct State {
    var jobs: [WorkerPool.Job] = []
    var isRunning = false
  }

  private let state = Locked(State())
  private let workers: WorkerPool

  init(_ workers: WorkerPool) { self.workers = workers }

  /// Runs `job` later. If the pool was stopped, the calling thread runs it, because locks must still be released and unwanted
  /// records removed.
  func submit(_ job: @escaping WorkerPool.Job) {
    let mustStart = state.withLock { state in
      state.jobs.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if mustStart, !start() { run() }
  }

  private func start() -> Bool { workers.submit(priority: Priority.most) { self.run() } }

  /// Runs the jobs that are waiting now. Jobs submitted meanwhile are run by a new job of the pool. So other queues get a
  /// thread in between, and a waiting fork can happen.
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
