import CSystem
import Glibc

/// One thread that waits for descriptors, timers and posted jobs, and runs what they ask for, one at a time.
///
/// `post` and `stop` may be called from any thread; everything else is confined to the loop's own thread, which is
/// why this class may call itself Sendable: the confined state is touched by one thread only.
package final class EventLoop: @unchecked Sendable {
  package typealias Job = @Sendable () -> Void
  package typealias TimerID = UInt64

  private struct Inbox {
    var jobs: [Job] = []
    var isStopping = false
  }

  private let inbox = Locked(Inbox())
  private let epoll: Int32
  private let bell: Int32
  private var thread: UInt64 = 0

  // Confined to the loop's thread.
  private var watchers: [Int32: (UInt32) -> Void] = [:]
  private var timers = TimerQueue()

  /// Starts the thread.
  package init() throws(TransportFault) {
    epoll = nhs_epoll_new()
    bell = nhs_eventfd_new()
    guard epoll >= 0, bell >= 0, nhs_epoll_watch(epoll, bell, UInt32(EPOLLIN.rawValue), 1) == 0 else {
      let reason = errno
      for descriptor in [epoll, bell] where descriptor >= 0 { close(descriptor) }
      throw TransportFault(shortage: reason, "the event loop can't be set up")
    }
    // Sharing an epoll with its parent, a forked child would see, and steal, the parent's events.
    _ = nhs_close_in_child(epoll)
    _ = nhs_close_in_child(bell)
    let context = Unmanaged.passRetained(self)
    let failure = nhs_thread_start(&thread, "nuthatch-loop", runEventLoop, context.toOpaque())
    guard failure == 0 else {
      context.release()
      closeDescriptors()
      throw TransportFault(shortage: failure, "the loop's thread can't be started")
    }
  }

  /// Runs `job` soon on the loop's thread. False, and nothing is run, when the loop has been told to stop.
  @discardableResult
  package func post(_ job: @escaping Job) -> Bool {
    let mustRing: Bool? = inbox.withLock { inbox in
      guard !inbox.isStopping else { return nil }
      inbox.jobs.append(job)
      return inbox.jobs.count == 1
    }
    if mustRing == true { ring() }
    return mustRing != nil
  }

  /// Runs what has been posted, `last` after it, then ends the thread and waits for its end.
  package func stop(_ last: @escaping Job) {
    let isFirst = inbox.withLock { inbox in
      if inbox.isStopping { return false }
      inbox.jobs.append(last)
      inbox.isStopping = true
      return true
    }
    guard isFirst else { return }
    ring()
    _ = nhs_thread_join(thread)
    closeDescriptors()
  }

  private func ring() {
    // A full counter already wakes the loop, so a failed write loses nothing.
    _ = eventfd_write(bell, 1)
  }

  private func closeDescriptors() {
    for descriptor in [epoll, bell] {
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

  package func unwatch(_ descriptor: Int32) {
    guard watchers.removeValue(forKey: descriptor) != nil else { return }
    _ = nhs_epoll_watch(epoll, descriptor, 0, 0)
  }

  /// Nanoseconds of the monotonic clock.
  package var now: Int64 { nhs_monotonic_ns() }

  package func at(_ due: Int64, _ action: @escaping () -> Void) -> TimerID { timers.add(due: due, action) }

  package func cancelTimer(_ id: TimerID) { timers.cancel(id) }

  fileprivate func run() {
    var descriptors = [Int32](repeating: 0, count: 64)
    var events = [UInt32](repeating: 0, count: 64)
    while true {
      let patience = waitingTime()
      // Only here: libcurl, and OpenSSL below it, are called by this thread; a child must not find them in the middle of something.
      nhs_release_forks()
      let ready = nhs_epoll_wait(epoll, &descriptors, &events, 64, patience)
      nhs_hold_forks()
      for index in 0..<Int(max(ready, 0)) {
        if descriptors[index] == bell {
          var count: eventfd_t = 0
          _ = eventfd_read(bell, &count)
        } else {
          watchers[descriptors[index]]?(events[index])
        }
      }
      while let action = timers.popDue(by: now) { action() }
      let (jobs, isStopping) = inbox.withLock { inbox in
        defer { inbox.jobs = [] }
        return (inbox.jobs, inbox.isStopping)
      }
      for job in jobs { job() }
      // Whatever a timer keeps may keep the loop.
      if isStopping { return timers = TimerQueue() }
    }
  }

  /// Until the next timer, in whole milliseconds rounded up; -1 when there is none.
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
