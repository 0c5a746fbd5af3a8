import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// One thread that waits for descriptors, timers and posted jobs, and runs their handlers one at a time.
///
/// Any thread may call `post`, `fault` and `whenFailed`, and any thread but the loop's own may call `stop`. Only the loop's
/// thread uses the rest, hence Sendable.
package final class EventLoop: @unchecked Sendable {
  package typealias Job = @Sendable () -> Void

  /// A struct, because an array of plain closures would allocate a second closure around each job.
  private struct Posted { let job: Job }

  private struct Inbox {
    var jobs: [Posted] = []
    /// Whether `post` refuses jobs. `isStopped`: whether `stop` was called.
    var isClosed = false
    var isStopped = false
    /// Why the loop has ended by itself.
    var fault: TransportFault?
    var whenFailed: @Sendable (TransportFault) -> Void = { _ in }
  }

  private let inbox = Locked(Inbox())
  /// Whether the loop's thread waits, or is about to, and `post` hasn't woken it yet.
  private let isWaiting = Atomic(false)
  private let epoll: Int32
  private let wakeEvent: Int32
  private var thread: UInt64 = 0

  // Confined to the loop's thread.
  private var watchers: [Int32: (UInt32) -> Void] = [:]
  private var timers = TimerQueue()
  private var failure: TransportFault?
  /// The posted jobs while they run; otherwise empty, with room for later ones.
  private var running: [Posted] = []

  /// Starts the thread.
  package init() throws(TransportFault) {
    epoll = nhs_epoll_new()
    wakeEvent = nhs_eventfd_new()
    // With EPOLLET each write is an event, and the counter need not be read.
    let eachWrite = EPOLLIN.rawValue | EPOLLET.rawValue
    guard epoll >= 0, wakeEvent >= 0, nhs_epoll_watch(epoll, wakeEvent, UInt32(eachWrite), 1) == 0,
      EventLoop.canWait(epoll)
    else {
      let reason = errno
      for descriptor in [epoll, wakeEvent] where descriptor >= 0 { close(descriptor) }
      throw TransportFault(shortage: reason, "the event loop can't start, because epoll or eventfd fails")
    }
    // A forked child that shares the epoll descriptor would take events of its parent away.
    _ = nhs_close_in_child(epoll)
    _ = nhs_close_in_child(wakeEvent)
    let context = Unmanaged.passRetained(self)
    let failure = nhs_thread_start(&thread, "nuthatch-loop", runEventLoop, context.toOpaque())
    guard failure == 0 else {
      context.release()
      closeDescriptors()
      throw TransportFault(noThread: failure)
    }
  }

  /// Returns whether epoll_wait works: a seccomp filter may refuse this call alone.
  private static func canWait(_ epoll: Int32) -> Bool {
    var (descriptor, events): (Int32, UInt32) = (0, 0)
    return nhs_epoll_wait(epoll, &descriptor, &events, 1, 0) >= 0 || errno == EINTR
  }

  /// Why the loop has ended by itself; nil while it runs.
  package var fault: TransportFault? { inbox.withLock { $0.fault } }

  /// Sets a function that is called on the loop's thread if the loop ends because the kernel refuses epoll_wait or epoll_ctl.
  package func whenFailed(_ tell: @escaping @Sendable (TransportFault) -> Void) {
    inbox.withLock { $0.whenFailed = tell }
  }

  /// Runs `job` soon on the loop's thread. Returns false without running it if the loop has ended or is stopping.
  @discardableResult
  package func post(_ job: @escaping Job) -> Bool {
    let isTaken = inbox.withLock { inbox in
      if !inbox.isClosed { inbox.jobs.append(Posted(job: job)) }
      return !inbox.isClosed
    }
    if isTaken, isWaiting.load(ordering: .relaxed), isWaiting.exchange(false, ordering: .relaxed) { wake() }
    return isTaken
  }

  /// Runs all posted jobs, then `last`, and ends the thread. Returns when the thread has ended. If the loop has ended by
  /// itself, `last` runs on the caller's thread. Only the first call does anything.
  package func stop(_ last: @escaping Job) {
    let (isFirst, mustRunLast) = inbox.withLock { inbox in
      defer { (inbox.isStopped, inbox.isClosed) = (true, true) }
      if !inbox.isClosed { inbox.jobs.append(Posted(job: last)) }
      return (!inbox.isStopped, inbox.isClosed)
    }
    guard isFirst else { return }
    wake()
    _ = nhs_thread_join(thread)
    // A loop that has failed took no job any more, so `last` has not run.
    if mustRunLast { last() }
    closeDescriptors()
  }

  private func wake() {
    // The write fails only if the counter is full. Then the loop wakes anyway.
    _ = eventfd_write(wakeEvent, 1)
  }

  private func closeDescriptors() {
    for descriptor in [epoll, wakeEvent] {
      nhs_keep_in_child(descriptor)
      close(descriptor)
    }
  }
}

// MARK: - On the loop's thread

extension EventLoop {
  /// Calls `handler` with epoll's events whenever `descriptor` has some of `events`.
  package func watch(_ descriptor: Int32, _ events: UInt32, _ handler: @escaping (UInt32) -> Void) {
    let isNew = watchers.updateValue(handler, forKey: descriptor) == nil
    _ = nhs_epoll_watch(epoll, descriptor, events, isNew ? 1 : 0)
  }

  /// Calls `watch`. If the kernel refuses the descriptor, the loop ends.
  func watchOrFail(_ descriptor: Int32, _ events: UInt32, _ handler: @escaping (UInt32) -> Void) {
    errno = 0
    watch(descriptor, events, handler)
    if [EPERM, EACCES, ENOSYS].contains(errno) { fail("epoll_ctl") }
  }

  /// Ends the loop after this round, because transfers would never get events. `errno` has the reason.
  private func fail(_ call: String) {
    let reason = String(cString: strerror(errno))
    failure =
      failure
      ?? TransportFault(
        .internal,
        "the event loop has ended: the kernel refuses \(call) (\(reason)); the sandbox of this process must allow it"
      )
  }

  package func unwatch(_ descriptor: Int32) {
    guard watchers.removeValue(forKey: descriptor) != nil else { return }
    _ = nhs_epoll_watch(epoll, descriptor, 0, 0)
  }

  /// The monotonic clock, in ns.
  package var now: Int64 { nhs_monotonic_ns() }

  package func at(_ due: Int64, _ action: @escaping () -> Void) -> LoopTimer { timers.add(due: due, action) }

  package func cancelTimer(_ timer: LoopTimer) { timers.cancel(timer) }

  fileprivate func run() {
    var descriptors = [Int32](repeating: 0, count: 64)
    var events = [UInt32](repeating: 0, count: 64)
    while true {
      // `post` sees this if its job isn't seen here, because both take the inbox's lock in between.
      isWaiting.store(true, ordering: .relaxed)
      let timeout = inbox.withLock { $0.jobs.isEmpty } ? waitingTime() : 0
      // Other threads may fork only while this thread waits. Otherwise it may be in libcurl or OpenSSL, in the middle of a
      // call.
      nhs_release_forks()
      let ready = nhs_epoll_wait(epoll, &descriptors, &events, 64, timeout)
      isWaiting.store(false, ordering: .relaxed)
      if ready < 0, errno != EINTR { fail("epoll_wait") }
      nhs_hold_forks()
      for index in 0..<Int(max(ready, 0)) { watchers[descriptors[index]]?(events[index]) }
      while let action = timers.popDue(by: now) { action() }
      let isStopping = runJobs(closing: false)
      if !isStopping, let failure { cleanUp(after: failure) }
      guard isStopping || failure != nil else { continue }
      // Drop all timers, because their closures may retain the loop.
      while timers.popDue(by: .max) != nil {}
      return
    }
  }

  /// Runs the posted jobs. Returns whether the loop is closed. `closing`: closes the inbox if it is empty.
  private func runJobs(closing: Bool) -> Bool {
    let isClosed = inbox.withLock { inbox in
      if closing, inbox.jobs.isEmpty { inbox.isClosed = true }
      swap(&inbox.jobs, &running)
      return inbox.isClosed
    }
    for posted in running { posted.job() }
    // After very many jobs at once, free the memory.
    running.removeAll(keepingCapacity: running.count < 1000)
    return isClosed
  }

  /// Reports the failure, and runs the jobs that clean up running transfers.
  private func cleanUp(after failure: TransportFault) {
    let tell = inbox.withLock { inbox in
      inbox.fault = failure
      return inbox.whenFailed
    }
    tell(failure)
    while !runJobs(closing: true) {}
  }

  /// The time until the next timer, in milliseconds, rounded up; -1 if there is none.
  private func waitingTime() -> Int32 {
    guard let due = timers.nextDue else { return -1 }
    return Int32(clamping: (max(0, due - now) + 999_999) / 1_000_000)
  }
}

private func runEventLoop(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
