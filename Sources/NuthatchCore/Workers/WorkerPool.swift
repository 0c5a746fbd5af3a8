import CSystem
import NuthatchBase
import NuthatchTransport

/// As many threads as the machine has processors, for what takes time but no waiting: hashing, decoding, writing.
///
/// A job states how much memory it will hold at most; jobs wait until all that run together hold no more than the
/// pool's limit. A job that has to wait for memory lets only those pass that hold none, so that it gets its turn.
/// Threads start with the first job that finds none free.
// What changes is under its lock, hence Sendable.
final class WorkerPool: @unchecked Sendable {
  typealias Job = @Sendable () -> Void

  private struct Entry {
    let need: Int
    let job: Job
  }

  /// A thread that waits for a job.
  ///
  /// Not at a condition variable: who waits at one has a mutex before and after, when the process may be forked.
  private final class Sleeper: Sendable {
    let bell = EventCount()
  }

  /// How much memory there is for what.
  let budget: MemoryBudget
  /// What one job may hold now, when no other one that holds much runs.
  private let roomForOne: @Sendable () -> Int
  /// How many threads there may be.
  var width: Int { budget.threads }
  /// What all jobs together may hold, in bytes.
  var memory: Int { budget.decodes }

  private let lock = WordLock()
  // Guarded by `lock`.
  private var light: [Fifo<Entry>]
  private var heavy: [Fifo<Entry>]
  private var held = 0
  private var threads: [UInt64] = []
  private var idle = 0
  /// The idle ones that nobody has woken.
  private var asleep: [Sleeper] = []
  private var waiting = 0
  private var isStopping = false
  /// Why the last thread that was wanted couldn't be started.
  private var startFailure: Int32 = 0

  /// - Parameters:
  ///   - budget: what jobs may hold together, and on how many threads they run.
  ///   - roomForOne: what one job may hold that runs alone.
  init(_ budget: MemoryBudget, roomForOne: @escaping @Sendable () -> Int) {
    self.budget = budget
    self.roomForOne = roomForOne
    light = Array(repeating: Fifo(), count: Priority.steps)
    heavy = Array(repeating: Fifo(), count: Priority.steps)
  }

  /// - Parameter memory: what jobs may hold together.
  convenience init(width: Int = WorkerPool.processors, memory: Int) {
    self.init(MemoryBudget(threads: max(1, width), decodes: memory), roomForOne: { memory })
  }

  /// The processors that this process may use.
  static var processors: Int {
    max(1, Int(nhs_processors()))
  }

  /// Runs `job` on one of the threads, those of higher priority first. False, and nothing is run, when the pool has been
  /// stopped or not one thread can be had.
  @discardableResult
  func submit(priority: Int = 0, need: Int = 0, _ job: @escaping Job) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    guard !isStopping else { return false }
    // A thread that was woken counts as idle until it runs, so those that wait for it are counted, too.
    if waiting >= idle, threads.count < width, !startThread(), threads.isEmpty { return false }
    waiting += 1
    let step = Priority.step(priority)
    // One that needs more than that runs alone; whether it may at all, `submitDecode` finds out.
    if need > 0 {
      heavy[step].append(Entry(need: min(need, memory), job: job))
    } else {
      light[step].append(Entry(need: 0, job: job))
    }
    asleep.popLast()?.bell.ring()
    return true
  }

  /// Why `submit` has just taken no job.
  var whyNoJob: NuthatchError {
    lock.lock()
    defer { lock.unlock() }
    return isStopping ? .closed : NuthatchError(TransportFault(noThread: startFailure))
  }

  /// Runs a decode, of which `job` hears how much it may hold: all that it needs, or what there is when it runs alone. nil:
  /// the pool was stopped before it could.
  ///
  /// A decode that finds too little memory beside others waits until they are over.
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

  /// What a decode that needs so much may hold now. What others may hold counts as if it weren't in use yet.
  func room(for need: Int, besides others: Int) -> Int {
    let most = roomForOne() - others
    guard budget.group != nil, need > most else { return most }
    // The allocator may hold what an earlier one has freed.
    nhs_trim_allocator()
    return roomForOne() - others
  }

  private func heldByOthers(than need: Int) -> Int {
    lock.lock()
    defer { lock.unlock() }
    return held - min(need, memory)
  }

  /// Runs what has been submitted, ends the threads and waits for their end.
  func stop() {
    lock.lock()
    isStopping = true
    let running = threads
    threads = []
    wakeAll()
    lock.unlock()
    for thread in running { _ = nhs_thread_join(thread) }
  }

  /// Drops what hasn't begun, ends the threads and waits for their end: for the end of the process.
  func abandon() {
    lock.lock()
    // Let go without the lock, because the end of an object may submit something.
    let dropped = (light, heavy)
    for step in light.indices {
      light[step] = Fifo()
      heavy[step] = Fifo()
    }
    lock.unlock()
    withExtendedLifetime(dropped) { stop() }
  }

  /// Under the lock.
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
        // Whoever waits to fork comes in here, when nothing is locked.
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

  /// Lets those in who wait to fork: in the middle of a job they would take what it has locked with them.
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

/// The range of priorities: higher ones go first.
enum Priority {
  static let least = -10
  static let most = 10
  static let steps = most - least + 1

  /// 0 for the least.
  static func step(_ priority: Int) -> Int { min(max(priority, least), most) - least }
}
