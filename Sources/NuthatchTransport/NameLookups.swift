import CSystem
import Glibc
import NuthatchBase

/// Finds the addresses of names, each name once at a time, on threads of its own.
///
/// libcurl would start a thread for every transfer, also for the hundredth to the same silent name, and would tell
/// nobody how many are still at it. Here a lookup counts as stuck after a quarter of a second; stuck ones don't take
/// the places of others until there are very many, or no descriptors are left for more. Nobody can end `getaddrinfo`:
/// whoever no longer waits leaves it to itself.
///
/// Confined to the loop's thread, which makes it Sendable; the workers share `Backlog` only.
final class NameLookups: @unchecked Sendable {
  typealias Answer = Result<[IPAddress], TransportFault>

  /// So many lookups at once that aren't stuck; so many threads in all.
  static let livelyLimit = 64
  static let threadLimit = 512
  /// So many threads, whatever else the program has open: each may hold two descriptors.
  static let certainThreads = 128
  /// Nanoseconds after which a lookup counts as stuck.
  static let patience: Int64 = 250_000_000
  /// Nanoseconds for which an answer is used again. Longer than a hop takes, shorter than anybody's patience.
  private static let lifetime: Int64 = 60_000_000_000
  private static let mostAnswers = 4096

  private let loop: EventLoop
  private let backlog = Backlog()
  private var answers: [String: (addresses: [IPAddress], until: Int64)] = [:]
  /// Names that nobody here knew, until then.
  private var unknown: [String: Int64] = [:]
  private var waiters: [String: [UInt64: (Answer) -> Void]] = [:]
  private var lastWaiter: UInt64 = 0
  private var look: LoopTimer?

  init(loop: EventLoop) { self.loop = loop }

  /// Calls `done` with what `name` means, now or later. The result is for `leave`; nil when it has been called.
  func find(_ name: String, _ done: @escaping (Answer) -> Void) -> UInt64? {
    if let known = answers[name], known.until > loop.now {
      done(.success(known.addresses))
      return nil
    }
    lastWaiter += 1
    let isFirst = waiters[name] == nil
    waiters[name, default: [:]][lastWaiter] = done
    if isFirst {
      backlog.add(name)
      startWorkers()
    }
    return lastWaiter
  }

  func leave(_ name: String, _ waiter: UInt64) {
    waiters[name]?[waiter] = nil
    // A name that is still in the backlog need not be looked up any more; one under way goes on, for the next.
    if waiters[name]?.isEmpty == true, backlog.remove(name) { waiters[name] = nil }
  }

  /// Whether a name was asked for a short time ago and nobody here knew it, or said so in time. For who can do without.
  func isUnknown(_ name: String) -> Bool { (unknown[name] ?? .min) > loop.now }

  func noteUnknown(_ name: String) {
    let now = loop.now
    if unknown.count >= NameLookups.mostAnswers { unknown = unknown.filter { $0.value > now } }
    if unknown.count >= NameLookups.mostAnswers { unknown = [:] }
    unknown[name] = now + NameLookups.lifetime
  }

  /// The addresses didn't do: the next request asks anew.
  func forget(_ name: String) { answers[name] = nil }

  /// No further lookup begins, and nobody is called any more.
  func stop() {
    backlog.close()
    waiters = [:]
    if let look { loop.cancelTimer(look) }
    look = nil
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
    while backlog.admitsWorker(now: now, mayExceed: Self.hasDescriptors) {
      let worker = Worker(backlog: backlog) { [loop, weak self] name, answer in
        loop.post { [weak self] in self?.finish(name, answer) }
      }
      let failure = worker.start()
      guard failure == 0 else {
        backlog.workerEnded()
        return failIfNobodyWorks(TransportFault(noThread: failure))
      }
    }
    // When those that keep the places turn out to be stuck, more may begin.
    guard look == nil, backlog.isWaiting else { return }
    look = loop.at(now + NameLookups.patience) { [unowned self] in
      self.look = nil
      self.startWorkers()
    }
  }

  /// Whether three quarters of the descriptors that the process may have aren't taken.
  private static func hasDescriptors() -> Bool {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0,
      let taken = folderNames("/proc/self/fd")
    else { return false }
    return taken.count < limit.rlim_cur / 4 * 3
  }

  /// Without a single thread the names in the backlog would wait for ever.
  private func failIfNobodyWorks(_ fault: TransportFault) {
    for name in backlog.takeAllIfIdle() { finish(name, .failure(fault)) }
  }
}

/// The names to look up, and the threads that do.
private final class Backlog: Sendable {
  private struct State {
    var names: [String] = []
    /// When each lookup under way began.
    var begun: [UInt64: Int64] = [:]
    var starting = 0
    var lastTurn: UInt64 = 0
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

  /// Whether one more thread may start; it is counted then. `mayExceed` is asked when there are many.
  func admitsWorker(now: Int64, mayExceed: () -> Bool) -> Bool {
    state.withLock { state in
      let lively = state.starting + state.begun.values.count { now - $0 < NameLookups.patience }
      guard state.names.count > state.starting, lively < NameLookups.livelyLimit,
        state.threads < NameLookups.threadLimit,
        state.threads < NameLookups.certainThreads || mayExceed()
      else { return false }
      state.starting += 1
      return true
    }
  }

  func workerEnded() { state.withLock { $0.starting -= 1 } }

  func takeAllIfIdle() -> [String] {
    state.withLock { state in
      guard state.threads == 0 else { return [] }
      defer { state.names = [] }
      return state.names
    }
  }

  /// The next name for a worker that has just started, or has ended its `turn`; nil when it may end.
  func next(after turn: UInt64?) -> (name: String, turn: UInt64)? {
    state.withLock { state in
      if let turn {
        state.begun[turn] = nil
      } else {
        state.starting -= 1
      }
      guard !state.isClosed, !state.names.isEmpty else { return nil }
      state.lastTurn += 1
      state.begun[state.lastTurn] = nhs_monotonic_ns()
      return (state.names.removeFirst(), state.lastTurn)
    }
  }
}

/// One thread that looks names up until there are none left.
private final class Worker: Sendable {
  private let backlog: Backlog
  private let report: @Sendable (String, NameLookups.Answer) -> Void

  init(backlog: Backlog, report: @escaping @Sendable (String, NameLookups.Answer) -> Void) {
    self.backlog = backlog
    self.report = report
  }

  /// 0, or why there is no thread.
  func start() -> Int32 {
    let context = Unmanaged.passRetained(self)
    var thread: UInt64 = 0
    let failure = nhs_thread_start(&thread, "nuthatch-names", runWorker, context.toOpaque())
    guard failure == 0 else {
      context.release()
      return failure
    }
    // It ends by itself, perhaps long after everybody who knew of it.
    pthread_detach(pthread_t(thread))
    return 0
  }

  fileprivate func run() {
    var next = backlog.next(after: nil)
    while let (name, turn) = next {
      report(name, lookUp(name))
      next = backlog.next(after: turn)
    }
  }

  private func lookUp(_ name: String) -> NameLookups.Answer {
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    // The longest wait of all; glibc sees to its own locks.
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

private func runWorker(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context else { return nil }
  Unmanaged<Worker>.fromOpaque(context).takeRetainedValue().run()
  return nil
}
