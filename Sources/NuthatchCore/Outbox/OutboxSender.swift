import NuthatchBase
import NuthatchStore
import NuthatchTransport

/// Sends the requests of the outbox. Only one process of the machine sends at a time. It sends one request of each queue at a
/// time, in the queue's order.
///
/// Confined to the loop's thread, hence Sendable. Jobs on the serial queue read and write the disk.
final class OutboxSender: @unchecked Sendable {
  /// An attempt that is under way. Compared by identity: a later attempt may send the same request.
  // Confined to the loop's thread, hence Sendable.
  private final class Sending: @unchecked Sendable {
    let entry: OutboxContents.Entry
    var ticket: Ticket?

    init(_ entry: OutboxContents.Entry) { self.entry = entry }

    var id: UInt64 { entry.id }
    var queue: String { entry.request.queue }
  }

  private let store: OutboxStore
  private let serialQueue: SerialQueue
  private let runtime: Runtime
  private let rules: OutboxRules
  private var secrets: OutboxSecrets { store.secrets }
  /// nil after the last handle was closed.
  private weak var shared: SharedCache?
  /// Called with news for the program.
  private let tell: @Sendable (OutboxStore.Survey?, _ wanted: [String]) -> Void
  /// The options for requests; nil while this process must not send.
  private var options: Options?
  private var sendings: [String: Sending] = [:]
  private var isLooking = false
  private var mustLookAgain = false
  /// Whether an attempt has ended since the last survey began, so that its result is outdated.
  private var isOutdated = false
  private var hasLease = false
  private var isDraining = false
  private var timer: LoopTimer?
  private lazy var probes = OutboxProbes(runtime, rules) { [weak self] origin in self?.wake(origin) }
  /// The time of the last change of the network; in `wokenHosts`, the last time at which a host could be reached. A request
  /// whose connection failed before that is tried again at once.
  private var wokenAt: DurableTime?
  private var wokenHosts: [Origin: DurableTime] = [:]
  /// Requests that are being dropped, and must not be sent.
  private var barred: Set<UInt64> = []
  /// First attempts that are under way in this process.
  let live = Locked<Set<UInt64>>([])
  /// The number of requests that are being sent.
  let inFlight = Locked(0)
  let inFlightChanges = EventCount()

  /// How often the sender checks whether another process still sends, in nanoseconds.
  private static let recheckInterval: Int64 = 1_000_000_000

  init(
    _ store: OutboxStore, _ serialQueue: SerialQueue, _ runtime: Runtime, _ rules: OutboxRules,
    tell: @escaping @Sendable (OutboxStore.Survey?, [String]) -> Void
  ) {
    self.store = store
    self.serialQueue = serialQueue
    self.runtime = runtime
    self.rules = rules
    self.tell = tell
  }

  /// Starts to send, or continues with other options. nil stops its attempts; other processes may send when `done` is called.
  func run(
    _ options: Options?, for shared: SharedCache?, done: @escaping @Sendable () -> Void
  ) {
    self.shared = shared
    self.options = options
    isDraining = false
    guard options == nil else {
      done()
      return look()
    }
    if let timer { runtime.loop.cancelTimer(timer) }
    timer = nil
    probes.stop()
    let ended = sendings.values.compactMap(\.ticket)
    sendings = [:]
    inFlight.withLock { $0 = 0 }
    inFlightChanges.ring()
    for ticket in ended { ticket.cancel() }
    // Posted twice, to run after the jobs that the ends of the tickets post: other processes may send only when no attempt is
    // under way. If the loop has ended, so have all attempts.
    let isPosted = runtime.loop.post {
      if !self.runtime.loop.post({ self.giveUpLease(done) }) { self.giveUpLease(done) }
    }
    if !isPosted { giveUpLease(done) }
  }

  /// Releases the lease, then calls `done`. Does so on the serial queue, because a survey may be taking the lease there now. If
  /// sending was started again, keeps the lease.
  private func giveUpLease(_ done: @escaping @Sendable () -> Void) {
    guard options == nil else { return done() }
    hasLease = false
    serialQueue.submit {
      self.store.journal.withLocks { $0.releaseLease() }
      done()
    }
  }

  /// Call it after a change of the network. Requests whose connection failed are then tried again at once.
  func wake() {
    wokenAt = store.clock.now()
    look()
  }

  /// Call it when a host could be reached. Requests for it are then tried again at once.
  func wake(_ origin: Origin) {
    wokenHosts[origin] = store.clock.now()
    look()
  }

  /// Surveys the outbox, and sends the requests that are due. It may be called at any time.
  func look() {
    guard !isLooking else {
      mustLookAgain = true
      return
    }
    isLooking = true
    isOutdated = false
    let sending = Set(sendings.values.map(\.id))
    let leases = options != nil
    let (woken, hosts) = (wokenAt, wokenHosts)
    serialQueue.submit {
      let survey = Result { () throws(NuthatchError) in
        try self.store.survey(
          sending: sending, leases: leases,
          isAwake: { entry in
            guard let last = entry.last else { return false }
            // Ages are compared, because the clock may have been set: the smaller age is the later time.
            let now = self.store.clock.now()
            let age = last.ended.age(at: now)
            if let woken, woken.age(at: now) <= age { return true }
            guard let origin = entry.request.origin, let seen = hosts[origin] else { return false }
            return seen.age(at: now) <= age
          })
      }
      self.runtime.loop.post { self.take(survey) }
    }
  }

  private func take(_ surveyed: Result<OutboxStore.Survey?, NuthatchError>) {
    isLooking = false
    var wanted: [String] = []
    var survey: OutboxStore.Survey?
    switch surveyed {
    case .success(let found): survey = found
    case .failure(let error):
      Log.note(.warning, "the outbox can't be read: \(error)")
      if options != nil { lookAgain(in: 5 * Self.recheckInterval) }
    }
    if isOutdated { mustLookAgain = true }
    if case .success(nil) = surveyed { probes.stop() }
    if let survey, options != nil, !isDraining, !isOutdated {
      hasLease = survey.isLeaseTaken
      launch(survey, &wanted)
    }
    tell(survey, wanted)
    guard mustLookAgain else { return }
    mustLookAgain = false
    look()
  }

  private func launch(_ survey: OutboxStore.Survey, _ wanted: inout [String]) {
    var next: Int64?
    func comeBack(in delay: Int64) { next = min(next ?? .max, delay) }
    for head in survey.heads
    where sendings[head.entry.request.queue] == nil && !barred.contains(head.entry.id) {
      if head.delay != 0, !head.entry.isLive, let expiry = head.expiry { comeBack(in: expiry) }
      guard let delay = head.delay else {
        // The request waits for other credentials. Ask the program, which may have another secret than the refused one.
        wanted += head.entry.request.providers
        continue
      }
      guard delay == 0 else {
        comeBack(in: delay)
        continue
      }
      guard hasLease else {
        comeBack(in: Self.recheckInterval)
        continue
      }
      let missing = head.entry.request.providers.filter { secrets.value(of: $0) == nil }
      guard missing.isEmpty else {
        wanted += missing
        // An environment variable may be set later, so check it again. For other secrets, `provide` starts a survey.
        if missing.contains(where: { $0.hasPrefix("env:") }) { comeBack(in: 30 * Self.recheckInterval) }
        if let expiry = head.expiry { comeBack(in: expiry) }
        continue
      }
      // A request of another queue may have received a Retry-After from this host. An attempt that starts now would only wait
      // for the host, but be listed as `sending`.
      let pause = store.pause(head.entry.request)
      guard pause == 0 else {
        comeBack(in: pause)
        if let expiry = head.expiry { comeBack(in: expiry) }
        continue
      }
      guard !head.entry.isLive || !live.withLock({ $0.contains(head.entry.id) }) else {
        comeBack(in: Self.recheckInterval)
        continue
      }
      begin(head.entry)
    }
    if let delay = probe(survey) { comeBack(in: delay) }
    releaseLeaseIfIdle()
    lookAgain(in: next)
  }

  private func releaseLeaseIfIdle() {
    guard sendings.isEmpty, hasLease else { return }
    hasLease = false
    serialQueue.submit { self.store.journal.withLocks { $0.releaseLease() } }
  }

  /// Probes the unreachable servers that requests wait for. Returns the nanoseconds until the first of their Retry-After pauses
  /// ends; nil if there is none.
  private func probe(_ survey: OutboxStore.Survey) -> Int64? {
    var pause: Int64?
    var known: Set<Origin> = []
    var waiting: [OutboxProbes.Server] = []
    let now = store.clock.now()
    for head in survey.heads {
      guard head.entry.last?.isUnreachable == true, let url = try? WebURL(head.entry.request.address) else {
        continue  // an address that can't be read was never sent
      }
      known.insert(url.origin)
      guard let options, let delay = head.delay, delay > 0, !head.entry.isLive,
        sendings[head.entry.request.queue] == nil, !barred.contains(head.entry.id),
        head.entry.request.providers.allSatisfy({ secrets.value(of: $0) != nil })
      else { continue }
      let left = store.pause(head.entry.request)
      guard left == 0 else {
        pause = min(pause ?? .max, left)
        continue
      }
      var request = TransferRequest(url: url)
      request.connectsOnly = true
      request.addressGuard = head.entry.request.guardGrade.addressGuard
      var route = options
      if let proxy = head.entry.request.proxy { route.proxy = proxy }
      request.proxy = route.proxyChoice
      waiting.append(OutboxProbes.Server(request: request, absence: OutboxRules.absence(head.entry, now)))
    }
    probes.watch(waiting, known: known)
    return pause
  }

  /// Surveys the outbox again after `delay` nanoseconds, at most an hour. nil: only after another event.
  private func lookAgain(in delay: Int64?) {
    if let timer { runtime.loop.cancelTimer(timer) }
    timer = delay.map { delay in
      runtime.loop.at(runtime.loop.now &+ min(delay, 3_600_000_000_000)) { [weak self] in
        self?.timer = nil
        self?.look()
      }
    }
  }

  // MARK: One request

  private func isUnderWay(_ sending: Sending) -> Bool { sendings[sending.queue] === sending }

  private func begin(_ entry: OutboxContents.Entry) {
    let sending = Sending(entry)
    sendings[sending.queue] = sending
    inFlight.withLock { $0 += 1 }
    serialQueue.submit {
      // If the lock of the first attempt can be taken, the process that made it has died. If the lock can't be checked now, it
      // is checked again later.
      guard !entry.isLive || self.tryLockFirstAttempt(entry.id) else {
        self.runtime.loop.post { self.leave(sending) }
        return
      }
      let begun = Result { () throws(NuthatchError) in try self.store.begin(entry.id) }
      if entry.isLive { self.store.journal.withLocks { $0.giveBack(entry.id) } }
      self.runtime.loop.post { self.send(sending, begun) }
    }
  }

  private func tryLockFirstAttempt(_ id: UInt64) -> Bool {
    (try? store.journal.withLocks { (locks) throws(StoreFault) in try locks.tryTake(id) }) == true
  }

  /// Ends the sending of a request whose first attempt another process is making, and looks again after a second.
  private func leave(_ sending: Sending) {
    guard isUnderWay(sending) else { return }
    forget(sending)
    releaseLeaseIfIdle()
    _ = runtime.loop.at(runtime.loop.now &+ Self.recheckInterval) { [weak self] in self?.look() }
  }

  private func send(_ sending: Sending, _ begun: Result<FrozenRequest?, NuthatchError>) {
    guard isUnderWay(sending), let options, let shared else { return }
    switch begun {
    case .failure(let error):
      Log.note(.warning, "the outbox can't be written: \(error)")
      // Don't send the request before the start is recorded. After a restart it must be known that it may have been sent.
      end(sending, in: 5 * Self.recheckInterval)
    case .success(nil): end(sending)
    case .success(let request?):
      guard let whole = request.request(secrets, bodyAt: store.journal.path(ofBody:)) else {
        return end(sending)
      }
      let ticket = Ticket(url: request.passedURL, tag: request.tag)
      sending.ticket = ticket
      ticket.whenFinal { event in self.runtime.loop.post { self.conclude(sending, event) } }
      serialQueue.submit {
        do throws(NuthatchError) {
          var options = options
          if let proxy = request.proxy { options.proxy = proxy }
          let plan = try RequestPlan(whole, options)
          RequestTask.start(plan, ticket, shared, shared.reader.readAdmitted(plan))
        } catch {
          ticket.finish(.failed(error))
        }
      }
    }
  }

  private func conclude(_ sending: Sending, _ event: Event) {
    guard isUnderWay(sending), options != nil else { return }
    // This process is closing the cache or ending. The request is sent again later, as after a kill.
    guard !event.isOwnEnd else { return end(sending, in: Self.recheckInterval) }
    let (entry, now) = (sending.entry, store.clock.now())
    let result = OutboxRules.Result(event, now: now.wall / 1_000_000_000)
    let verdict = rules.judge(result, attempt: entry.attemptsSinceReplay + 1)
    if verdict == .pause { for provider in entry.request.providers { secrets.refuse(provider) } }
    record(sending) { OutboxConclusion(entry, result, verdict, event, now) }
  }

  /// Records the end of an attempt. Until the record is on the disk, no other request of the queue is sent.
  private func record(_ sending: Sending, _ conclusion: @escaping @Sendable () -> OutboxConclusion) {
    guard isUnderWay(sending) else { return }
    serialQueue.submit {
      do throws(NuthatchError) {
        switch conclusion() {
        case .again(let attempt): try self.store.end(sending.id, attempt)
        case .settled(let settlement): try self.store.settle(sending.id, settlement)
        }
        self.runtime.loop.post { self.end(sending) }
      } catch {
        Log.note(.warning, "the outbox can't be written: \(error)")
        self.runtime.loop.post {
          _ = self.runtime.loop.at(self.runtime.loop.now &+ 5 * Self.recheckInterval) { [weak self] in
            self?.record(sending, conclusion)
          }
        }
      }
    }
  }

  private func end(_ sending: Sending, in delay: Int64) {
    _ = runtime.loop.at(runtime.loop.now &+ delay) { [weak self] in self?.end(sending) }
  }

  private func end(_ sending: Sending) {
    guard isUnderWay(sending) else { return }
    forget(sending)
    look()
  }

  private func forget(_ sending: Sending) {
    sendings[sending.queue] = nil
    // If a survey is running, its result is outdated, also about the lease.
    isOutdated = true
    inFlight.withLock { $0 -= 1 }
    inFlightChanges.ring()
  }

  /// Starts no more attempts.
  func drain() {
    isDraining = true
    probes.stop()
  }

  /// Ends the attempt of a request, and starts no other attempt, so that the request can be dropped.
  func bar(_ id: UInt64) {
    barred.insert(id)
    guard let sending = sendings.values.first(where: { $0.id == id }) else { return }
    forget(sending)
    sending.ticket?.cancel()
  }

  /// Call it after the drop, also if the drop has failed.
  func unbar(_ id: UInt64) {
    barred.remove(id)
    look()
  }
}

/// The record of an attempt's end.
enum OutboxConclusion: Sendable {
  case again(AttemptRecord)
  case settled(OutboxSettlement)

  init(
    _ entry: OutboxContents.Entry, _ result: OutboxRules.Result, _ verdict: OutboxRules.Verdict,
    _ event: Event,
    _ now: DurableTime
  ) {
    let code = event.error?.code
    let status = event.response?.status ?? event.error?.status ?? 0
    let reason = event.error?.message ?? "HTTP \(status)"
    switch verdict {
    case .done, .putAside:
      var settlement = OutboxSettlement(at: now, isDone: verdict == .done, code: code, reason: reason)
      settlement.take(event.response)
      self = .settled(settlement)
    case .again, .pause:
      let wait: Int64? = if case .again(let wait) = verdict { wait } else { nil }
      let isUnsent = result.headlessFailure?.isUnsent ?? false
      self = .again(
        AttemptRecord(
          ended: now, code: code, status: status, reason: reason,
          counted: entry.counted + (isUnsent ? 0 : 1),
          // If this attempt can't have reached the server, an earlier one still may have.
          exposed: entry.exposed ?? (isUnsent ? nil : now), wait: wait,
          isUnreachable: result.headlessFailure?.isUnreachable ?? false))
    }
  }
}

extension OutboxSettlement {
  mutating func take(_ response: Response?) {
    guard let response else { return }
    status = response.status
    finalURL = response.finalURL
    headers = response.headers
    response.withBody { bytes in
      body = Array(bytes.prefix(Self.longestBody))
      isCut = bytes.count > Self.longestBody
    }
  }
}

extension OutboxRules.Result {
  /// - Parameter now: seconds since 1970.
  init(_ event: Event, now: Int64) {
    if let response = event.response {
      var head = ResponseHead(status: response.status)
      for field in response.headers { head.fields.append(field.name, field.value) }
      self = .answer(
        status: response.status,
        retryAfter: head.retryAfter(now: now).map { min($0, 1_000_000) * 1_000_000_000 })
    } else {
      let error = event.error ?? NuthatchError(.internal, "no answer and no error")
      self = .failure(
        error.code, status: error.status,
        retryAfter: error.retryAfter.map { min($0, 1_000_000) * 1_000_000_000 })
    }
  }
}

extension OutboxContents.Entry {
  fileprivate var attemptsSinceReplay: Int {
    history.count { $0.place.sequence > (replayed?.place.sequence ?? 0) }
  }
}

extension FrozenRequest {
  var origin: Origin? { (try? WebURL(address))?.origin }
}
