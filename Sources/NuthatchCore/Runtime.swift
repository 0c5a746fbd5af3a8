import CSystem
import Glibc
import NuthatchStore
import NuthatchTransport

/// Objects that all open caches of a process share: the transport and its thread, the queue, the workers. Created for the first
/// cache, ended after the last.
///
/// A forked child has none of its parent's threads, so it never uses its parent's runtime. The first cache that it opens
/// creates a new runtime. The parent's runtime is never freed there.
// Its parts are Sendable or confined to the loop's thread, and the number of users is guarded by the process lock, hence Sendable.
final class Runtime: @unchecked Sendable {
  private let curl: CurlTransport
  let workers: WorkerPool
  /// Threads that write answers to files while they arrive, cookies and heartbeats. They are separate, so that a disk that
  /// doesn't answer doesn't block the workers, and decodes don't delay the writes.
  let writers = WorkerPool(width: 4, memory: 0)
  /// Threads that read the files that requests send; separate for the same reason.
  private let readers = WorkerPool(width: 4, memory: 0)
  /// The memory of bodies that are being received.
  let inFlight: ReceiveBudget
  let reachability = Reachability()
  private let queueDriver: QueueDriver
  /// Confined to the loop's thread.
  private let pressure: PressureWatch
  private let epoch: UInt64
  /// Functions to call when the loop fails, by owner.
  private let failureHandlers = Locked<[ObjectIdentifier: @Sendable (NuthatchError) -> Void]>([:])
  // Guarded by the process lock, like `current`.
  private var users = 0
  nonisolated(unsafe) private static var current: Runtime?

  private init() throws(NuthatchError) {
    do {
      curl = try CurlTransport(readers: { [readers] in readers.submit($0) })
    } catch {
      throw NuthatchError(error)
    }
    let inFlight = ReceiveBudget(limit: ProcessQueue.inFlight, writers)
    self.inFlight = inFlight
    let budget = MemoryBudget.own
    let gauge = MemoryGauge()
    workers = WorkerPool(budget, roomForOne: { budget.roomForOne(gauge, promised: inFlight.room) })
    let loop = curl.loop
    queueDriver = QueueDriver(loop, mostAtOnce: curl.ceiling)
    let workers = workers
    pressure = PressureWatch(relieve: { level, origin in
      Log.note(.info, "memory is short (\(level), reported by \(origin)): cached memory is freed")
      // Freeing memory takes too long for the loop's thread. If the job is refused, the caches are being closed.
      _ = workers.submit(priority: Priority.most) { OpenCaches.relieve(level) }
    })
    epoch = nhs_fork_epoch()
    loop.whenFailed { [failureHandlers] fault in
      Log.note(.error, fault.message)
      for tell in failureHandlers.withLock({ Array($0.values) }) { tell(NuthatchError(fault)) }
    }
    loop.post {
      self.pressure.start(on: loop, after: PressureWatch.startDelay)
      self.queueDriver.start { self.reachability.networkChanged() }
    }
  }

  var loop: EventLoop { curl.loop }
  var transport: any Transport { curl }
  /// Confined to the loop's thread.
  var queue: FetchQueue { queueDriver.queue }

  /// Returns the runtime, which it creates if there is none. The runtime ends when `release` has been called once for each call
  /// of this function.
  static func acquire() throws(NuthatchError) -> Runtime {
    if let running = claim() {
      guard let fault = running.loop.fault else { return running }
      running.release()
      throw NuthatchError(fault)
    }
    let made = try Runtime()
    _ = endsAtExit
    let winner = claim(orInstall: made)
    if winner !== made { made.end() }
    return winner
  }

  /// Calls `tell` when the loop fails; at once if it has failed.
  func enlist(_ owner: AnyObject, _ tell: @escaping @Sendable (NuthatchError) -> Void) {
    failureHandlers.withLock { $0[ObjectIdentifier(owner)] = tell }
    if let fault = loop.fault { tell(NuthatchError(fault)) }
  }

  func delist(_ owner: AnyObject) {
    // Release the function only after unlocking, because that may run other code.
    _ = failureHandlers.withLock { $0.removeValue(forKey: ObjectIdentifier(owner)) }
  }

  /// The reason why the loop doesn't accept a job.
  var whyNoJob: NuthatchError { loop.fault.map { NuthatchError($0) } ?? .closed }

  func release() {
    guard epoch == nhs_fork_epoch() else { return }
    nhs_process_lock()
    users -= 1
    let isLast = users == 0
    if isLast, Runtime.current === self { Runtime.current = nil }
    nhs_process_unlock()
    if isLast { end() }
  }

  /// Stops all threads. The workers end first, so that the loop still receives their results.
  private func end() {
    workers.stop()
    loop.post {
      self.pressure.stop()
      self.queueDriver.stop()
    }
    curl.stop()
    // They end after the loop, which may submit jobs to them until its end. It no longer needs their results.
    writers.stop()
    readers.stop()
  }

  /// Stops the threads at exit(). Otherwise the loop would use OpenSSL after exit() has shut it down. This handler is
  /// registered after libcurl has initialised OpenSSL, so it runs before OpenSSL's own clean-up.
  private static let endsAtExit = atexit {
    nhs_process_lock()
    let running = current
    nhs_process_unlock()
    guard let running, running.epoch == nhs_fork_epoch() else { return }
    running.workers.abandon()
    running.curl.abandon()
    running.writers.abandon()
    running.readers.abandon()
  }

  /// Applies the program's options to the queue (`ProcessQueue`).
  static func adoptQueueOptions() {
    nhs_process_lock()
    let running = current
    nhs_process_unlock()
    guard let running, running.epoch == nhs_fork_epoch() else { return }
    running.inFlight.setLimit(ProcessQueue.inFlight)
    let queueDriver = running.queueDriver
    running.loop.post { queueDriver.adoptOptions() }
  }

  private static func claim() -> Runtime? {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    guard let running = current, running.epoch == nhs_fork_epoch() else { return nil }
    running.users += 1
    return running
  }

  private static func claim(orInstall made: Runtime) -> Runtime {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if let running = current, running.epoch == nhs_fork_epoch() {
      running.users += 1
      return running
    }
    // In a forked child, never free the parent's runtime: its threads don't exist here.
    if let stranger = current { _ = Unmanaged.passRetained(stranger) }
    current = made
    made.users = 1
    return made
  }
}

extension EventLoop: PressureHost {}
