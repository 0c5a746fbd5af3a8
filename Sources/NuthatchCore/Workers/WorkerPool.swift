import CSystem
import NuthatchBase
import NuthatchTransport

/// Runs jobs on its own threads. The runtime has three pools: one for computing and the store (a thread for each processor,
/// fewer if a control group leaves little memory, see `MemoryBudget`), one for writing files, one for reading files.
///
/// Each job states the most memory that it will hold. A job waits until all running jobs together stay within the pool's limit.
/// While a job waits for memory, it is overtaken only by jobs of higher priority and by jobs that need no memory. A job that
/// finds no idle thread starts one, up to `width`.
// Mutable state is guarded by `lock`, hence Sendable.
final class WorkerPool: @unchecked Sendable {
  typealias Job = @Sendable () -> Void

  private struct Entry {
    let need: Int
    let job: Job
  }

  /// A thread that waits for a job.
  ///
  /// Don't use a condition variable here. A thread that waits for one takes the mutex when it wakes up. A fork at that moment
  /// would leave the mutex locked in the child.
  private final class Sleeper: Sendable {
    let bell = EventCount()
  }

  /// How the memory is divided.
  let budget: MemoryBudget
  /// The bytes that one job may hold now, if no other large job runs.
  private let roomForOne: @Sendable () -> Int
  /// The largest number of threads.
  var width: Int { budget.threads }
  /// The most bytes that all jobs together may hold.
  var memory: Int { budget.decodes }

  private let lock = WordLock()
  // Guarded by `lock`.
  private var light: [Fifo<Entry>]
  private var heavy: [Fifo<Entry>]
  private var held = 0
  private var threads: [UInt64] = []
  private var idle = 0
  /// The idle threads that haven't been woken.
  private var asleep: [Sleeper] = []
  private var waiting = 0
  private var isStopping = false
  /// The `errno` of the last attempt to start a thread; 0 if it worked.
  private var startFailure: Int32 = 0

  /// - Parameters:
  ///   - budget: the memory of all jobs together, and the number of threads.
  ///   - roomForOne: the bytes that one job may hold if it runs alone.
  init(_ budget: MemoryBudget, roomForOne: @escaping @Sendable () -> Int) {
    self.budget = budget
    self.roomForOne = roomForOne
    light = Array(repeating: Fifo(), count: Priority.steps)
    heavy = Array(repeating: Fifo(), count: Priority.steps)
  }

  /// - Parameter memory: the most bytes that all jobs together may hold.
  convenience init(width: Int = WorkerPool.processors, memory: Int) {
    self.init(MemoryBudget(threads: max(1, width), decodes: memory), roomForOne: { memory })
  }

  /// The number of processors that this process may use.
  static var processors: Int {
    max(1, Int(nhs_processors()))
  }

  /// Runs `job` on one of the threads; jobs of higher priority start first. Returns false and runs nothing if the pool was
  /// stopped or no thread can be started.
  @discardableResult
  func submit(priority: Int = 0, need: Int = 0, _ job: @escaping Job) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping else { return false }
    // A thread that was woken counts as idle until it runs. So `waiting` also counts the jobs that such threads will take.
    if waiting >= idle, threads.count < width, !startThread(), threads.isEmpty { return false }
    waiting += 1
    let step = Priority.step(priority)
    // A job that needs more than `memory` runs alone. `submitDecode` checks whether it may run at all.
    if need > 0 {
      heavy[step].append(Entry(need: min(need, memory), job: job))
    } else {
      light[step].append(Entry(need: 0, job: job))
    }
    asleep.popLast()?.bell.ring()
    return true
  }

  /// The reason why the last `submit` returned false.
  var whyNoJob: NuthatchError {
    lock.lock()
    defer { lock.unlock() }
    return isStopping ? .closed : NuthatchError(TransportFault(noThread: startFailure))
  }

  /// Runs a decode. `job` gets the most bytes that it may hold: at least `need`, or if less is free even without other large
  /// decodes, the free memory. It gets nil if the pool was stopped first.
  ///
  /// If there is too little memory beside other decodes, the decode waits until they are done.
  @discardableResult
  func submitDecode(priority: Int, need: Int, _ job: @escaping @Sendable (_ most: Int?) -> Void) -> Bool {
    submit(priority: priority, need: need) {
      let others = self.heldByOthers(than: need)
      let most = self.room(for: need, besides: others)
      if need <= most || others == 0 { return job(most) }
      let isSubmitted = self.submit(priority: priority, need: self.memory) {
        job(self.room(for: need, besides: 0))
      }
      if !isSubmitted { job(nil) }
    }
  }

  /// Returns the bytes that a decode of this need may hold now, besides `others`, the bytes of other large decodes. These may
  /// not have been allocated yet, so they are subtracted from the free memory in full.
  func room(for need: Int, besides others: Int) -> Int {
    let most = roomForOne() - others
    guard budget.group != nil, need > most else { return most }
    // The allocator may still hold memory that an earlier decode has freed.
    nhs_trim_allocator()
    return roomForOne() - others
  }

  private func heldByOthers(than need: Int) -> Int {
    lock.lock()
    defer { lock.unlock() }
    return held - min(need, memory)
  }

  /// Runs all submitted jobs, then ends the threads and waits for them.
  func stop() {
    lock.lock()
    isStopping = true
    let running = threads
    threads = []
    wakeAll()
    lock.unlock()
    for thread in running { _ = nhs_thread_join(thread) }
  }

  /// Drops the jobs that haven't begun, then ends the threads and waits for them. For the end of the process.
  func abandon() {
    lock.lock()
    // Release the dropped jobs without the lock, because a deinitializer may submit a job.
    let dropped = (light, heavy)
    for step in light.indices {
      light[step] = Fifo()
      heavy[step] = Fifo()
    }
    lock.unlock()
    withExtendedLifetime(dropped) { stop() }
  }

  /// Call it with `lock` held.
  private func wakeAll() {
    for sleeper in asleep { sleeper.bell.ring() }
    asleep = []
  }

  private func startThread() -> Bool {
    let context = Unmanaged.passRetained(self)
    var thread: UInt64 = 0
    startFailure = nhs_thread_start(&thread, "nuthatch-worker", runWorker, context.toOpaque())
    guard startFailure == 0 else {
      context.release()
      return false
    }
    threads.append(thread)
    return true
  }
}

// MARK: - On a worker's thread

extension WorkerPool {
  fileprivate func run() {
    let own = Sleeper()
    lock.lock()
    while true {
      if let entry = take() {
        waiting -= 1
        held += entry.need
        lock.unlock()
        entry.job()
        takeTurns()
        lock.lock()
        held -= entry.need
        if entry.need > 0 { wakeAll() }
      } else if isStopping && isEmpty {
        break
      } else {
        idle += 1
        let seen = own.bell.current
        asleep.append(own)
        // A waiting fork happens here, while no lock is held.
        lock.unlock()
        nhs_release_forks()
        own.bell.wait(after: seen, until: .max)
        nhs_hold_forks()
        lock.lock()
        asleep.removeAll { $0 === own }
        idle -= 1
      }
    }
    lock.unlock()
  }

  /// Lets a waiting fork happen between two jobs. After a fork in the middle of a job, the child would inherit the job's locks.
  private func takeTurns() {
    nhs_release_forks()
    nhs_hold_forks()
  }

  private var isEmpty: Bool { light.allSatisfy(\.isEmpty) && heavy.allSatisfy(\.isEmpty) }

  private func take() -> Entry? {
    var mayTakeHeavy = true
    for step in (0..<Priority.steps).reversed() {
      if let entry = light[step].popFirst() { return entry }
      guard mayTakeHeavy, let entry = heavy[step].first else { continue }
      if held + entry.need <= memory { return heavy[step].popFirst() }
      mayTakeHeavy = false
    }
    return nil
  }
}

private func runWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<WorkerPool>.fromOpaque(context).takeRetainedValue().run()
  return nil
}

/// The range of priorities. Higher ones are served first.
enum Priority {
  static let least = -10
  static let most = 10
  static let steps = most - least + 1

  /// Returns 0 for the lowest priority.
  static func step(_ priority: Int) -> Int { min(max(priority, least), most) - least }
}
