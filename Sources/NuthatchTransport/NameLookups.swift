import CSystem
import Glibc
import NuthatchBase

/// Looks up the addresses of names on its own threads. Requests for the same name share one lookup.
///
/// libcurl would start a thread for every transfer, without a limit, even if a hundred transfers wait for the same name. Here a
/// lookup counts as stuck after 250 ms. A stuck lookup doesn't count against `livelyLimit`, but only against `threadLimit`, or
/// against `certainThreads` if descriptors run short. `getaddrinfo` can't be cancelled: a lookup without waiters runs to its
/// end.
///
/// Only the loop's thread uses it, and the workers share only `LookupQueue`, hence Sendable.
final class NameLookups: @unchecked Sendable {
  typealias Answer = Result<[IPAddress], TransportFault>

  /// The highest number of running lookups that aren't stuck.
  static let livelyLimit = 64
  /// The highest number of threads.
  static let threadLimit = 512
  /// So many threads start even if descriptors run short. A lookup may need two.
  static let certainThreads = 128
  /// A lookup that takes longer counts as stuck, in ns.
  static let stuckAfter: Int64 = 250_000_000
  /// How long an answer is reused, in ns.
  private static let lifetime: Int64 = 60_000_000_000
  private static let mostAnswers = 4096

  private let loop: EventLoop
  private let lookupQueue = LookupQueue()
  private var answers: [String: (addresses: [IPAddress], until: Int64)] = [:]
  /// Names of proxied requests that this machine couldn't resolve, and when to forget that.
  private var unknown: [String: Int64] = [:]
  private var waiters: [String: [UInt64: (Answer) -> Void]] = [:]
  private var lastWaiter: UInt64 = 0
  private var stuckTimer: LoopTimer?

  init(loop: EventLoop) { self.loop = loop }

  /// Calls `done` with the addresses of `name` or a fault, now or later. Returns an id for `leave`; nil if the addresses were
  /// known.
  func find(_ name: String, _ done: @escaping (Answer) -> Void) -> UInt64? {
    if let known = answers[name], known.until > loop.now {
      done(.success(known.addresses))
      return nil
    }
    lastWaiter += 1
    let isFirst = waiters[name] == nil
    waiters[name, default: [:]][lastWaiter] = done
    if isFirst {
      lookupQueue.add(name)
      startWorkers()
    }
    return lastWaiter
  }

  func leave(_ name: String, _ waiter: UInt64) {
    waiters[name]?[waiter] = nil
    // Without waiters, a name in the queue is dropped; a running lookup goes on for later requests.
    if waiters[name]?.isEmpty == true, lookupQueue.remove(name) { waiters[name] = nil }
  }

  /// Returns whether a lookup for a proxied request failed or took too long within the last minute. Such a request can do
  /// without it.
  func isUnknown(_ name: String) -> Bool { (unknown[name] ?? .min) > loop.now }

  func noteUnknown(_ name: String) {
    let now = loop.now
    if unknown.count >= NameLookups.mostAnswers { unknown = unknown.filter { $0.value > now } }
    if unknown.count >= NameLookups.mostAnswers { unknown = [:] }
    unknown[name] = now + NameLookups.lifetime
  }

  /// Forgets addresses that didn't work: the next request looks the name up again.
  func forget(_ name: String) { answers[name] = nil }

  /// Starts no further lookup and calls no waiter any more.
  func stop() {
    lookupQueue.close()
    waiters = [:]
    if let stuckTimer { loop.cancelTimer(stuckTimer) }
    stuckTimer = nil
  }

  private func finish(_ name: String, _ answer: Answer) {
    if case .success(let addresses) = answer {
      unknown[name] = nil
      let now = loop.now
      if answers.count >= NameLookups.mostAnswers { answers = answers.filter { $0.value.until > now } }
      if answers.count >= NameLookups.mostAnswers { answers = [:] }
      answers[name] = (addresses, now + NameLookups.lifetime)
    }
    let called = waiters.removeValue(forKey: name) ?? [:]
    for (_, done) in called.sorted(by: { $0.key < $1.key }) { done(answer) }
  }

  private func startWorkers() {
    let now = loop.now
    while lookupQueue.reserveWorker(now: now, mayExceed: Self.hasDescriptors) {
      let worker = Worker(lookupQueue: lookupQueue) { [loop, weak self] name, answer in
        loop.post { [weak self] in self?.finish(name, answer) }
      }
      let failure = worker.start()
      guard failure == 0 else {
        lookupQueue.workerDidNotStart()
        return failIfNobodyWorks(TransportFault(noThread: failure))
      }
    }
    // After `stuckAfter`, running lookups may count as stuck, and more threads may start.
    guard stuckTimer == nil, lookupQueue.isWaiting else { return }
    stuckTimer = loop.at(now + NameLookups.stuckAfter) { [unowned self] in
      self.stuckTimer = nil
      self.startWorkers()
    }
  }

  /// Returns whether less than three quarters of the process's descriptors are in use.
  private static func hasDescriptors() -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
      let taken = folderNames("/proc/self/fd")
    else { return false }
    return taken.count < limit.rlim_cur / 4 * 3
  }

  /// Fails the names in the queue if no thread runs: they would wait forever.
  private func failIfNobodyWorks(_ fault: TransportFault) {
    for name in lookupQueue.takeAllIfIdle() { finish(name, .failure(fault)) }
  }
}

/// The names to look up, and the start times of the running lookups.
private final class LookupQueue: Sendable {
  private struct State {
    var names: [String] = []
    /// The start time of each running lookup.
    var begun: [UInt64: Int64] = [:]
    var starting = 0
    var lastLookup: UInt64 = 0
    var isClosed = false

    var threads: Int { begun.count + starting }
  }

  private let state = Locked(State())

  func add(_ name: String) { state.withLock { $0.names.append(name) } }

  func remove(_ name: String) -> Bool {
    state.withLock { state in
      guard let place = state.names.firstIndex(of: name) else { return false }
      state.names.remove(at: place)
      return true
    }
  }

  func close() {
    state.withLock {
      $0.isClosed = true
      $0.names = []
    }
  }

  var isWaiting: Bool { state.withLock { !$0.names.isEmpty } }

  /// Counts one more thread and returns true. Returns false if the thread must not start. Asks `mayExceed` from
  /// `certainThreads` on.
  func reserveWorker(now: Int64, mayExceed: () -> Bool) -> Bool {
    state.withLock { state in
      let lively = state.starting + state.begun.values.count { now - $0 < NameLookups.stuckAfter }
      guard state.names.count > state.starting, lively < NameLookups.livelyLimit,
        state.threads < NameLookups.threadLimit,
        state.threads < NameLookups.certainThreads || mayExceed()
      else { return false }
      state.starting += 1
      return true
    }
  }

  func workerDidNotStart() { state.withLock { $0.starting -= 1 } }

  func takeAllIfIdle() -> [String] {
    state.withLock { state in
      guard state.threads == 0 else { return [] }
      defer { state.names = [] }
      return state.names
    }
  }

  /// Returns the next name to look up. Nil: the worker must end. `lookup`: the one that the worker has ended; nil if it has
  /// just started.
  func next(after lookup: UInt64?) -> (name: String, lookup: UInt64)? {
    state.withLock { state in
      if let lookup {
        state.begun[lookup] = nil
      } else {
        state.starting -= 1
      }
      guard !state.isClosed, !state.names.isEmpty else { return nil }
      state.lastLookup += 1
      state.begun[state.lastLookup] = nhs_monotonic_ns()
      return (state.names.removeFirst(), state.lastLookup)
    }
  }
}

/// One thread that looks up names until there are none left.
private final class Worker: Sendable {
  private let lookupQueue: LookupQueue
  private let report: @Sendable (String, NameLookups.Answer) -> Void

  init(lookupQueue: LookupQueue, report: @escaping @Sendable (String, NameLookups.Answer) -> Void) {
    self.lookupQueue = lookupQueue
    self.report = report
  }

  /// Returns 0, or the error number.
  func start() -> Int32 { DetachedThread.start("nuthatch-names") { self.run() } }

  private func run() {
    var next = lookupQueue.next(after: nil)
    while let (name, lookup) = next {
      report(name, lookUp(name))
      next = lookupQueue.next(after: lookup)
    }
  }

  private func lookUp(_ name: String) -> NameLookups.Answer {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    // Let other threads fork during this long wait; glibc makes `getaddrinfo` safe in the child.
    nhs_release_forks()
    let failure = getaddrinfo(name, nil, &hints, &found)
    nhs_hold_forks()
    guard failure == 0 else {
      let kind: TransportFault.Kind = failure == EAI_MEMORY ? .outOfMemory : .dns
      return .failure(
        TransportFault(kind, "no address for \(name): \(String(cString: gai_strerror(failure)))"))
    }
    defer { freeaddrinfo(found) }
    var addresses: [IPAddress] = []
    var entry = found
    while let one = entry?.pointee {
      if let address = one.ai_addr, let read = IPAddress(address, length: Int(one.ai_addrlen)),
        !addresses.contains(read), addresses.count < 32
      {
        addresses.append(read)
      }
      entry = one.ai_next
    }
    guard addresses.isEmpty else { return .success(addresses) }
    return .failure(TransportFault(.dns, "no address for \(name)"))
  }
}
