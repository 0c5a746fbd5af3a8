import CSystem
import Glibc
import NuthatchBase
import Synchronization

/// Runs transfers with libcurl, on one thread. Any thread may start and cancel them.
///
/// Easy handles and connections are kept for later transfers. Only the loop's thread uses the variables below "Confined",
/// hence Sendable.
package final class CurlTransport: Transport, @unchecked Sendable {
  /// Runs a job on a thread that may wait for a disk. Returns false, without running the job, if no thread is available.
  package typealias RunOnReader = @Sendable (_ job: @escaping @Sendable () -> Void) -> Bool

  package let loop: EventLoop
  private let readers: RunOnReader
  private let lastID = Atomic<UInt64>(0)

  private let environment: TransportEnvironment

  // Confined to the loop's thread.
  private var sharedPool: ConnectionPool?
  private var http1Pool: ConnectionPool?
  /// Servers that refuse HTTP/1.1. Requests to them use HTTP/2, even with a body.
  private var withoutHTTP1: Set<Origin> = []
  private let sockets = OpenSockets()
  private let lookups: NameLookups
  /// Transfers whose host name is being looked up.
  private var lookingUp: [UInt64: PendingTransfer] = [:]
  /// Transfers that wait because `ceiling` transfers run.
  private var waiting: [UInt64: PendingTransfer] = [:]
  /// The ids of `waiting` in the order of arrival, from `nextInOrder` on. A cancelled one stays until `compactOrder`.
  private var order: [UInt64] = []
  private var nextInOrder = 0
  private var active: [UInt64: Transfer] = [:]
  private var idleHandles: [TransferHandle] = []
  private var nudgeTimer: LoopTimer?

  /// The most idle easy handles that are kept for reuse. Each takes some 20 KB.
  private static let idleLimit = 64

  private static let mostWithoutHTTP1 = 1000

  /// The number of idle connections that are kept.
  private static let idleConnectionLimit = 1024

  /// The number of idle connections for uploads that are kept.
  private static let idleHTTP1Limit = 32

  /// The highest number of running transfers. Each may need a file descriptor, and the program needs others. Further transfers
  /// wait in the order of `start`; the caller should stay below the limit.
  package let ceiling: Int = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return min(2048, max(1, (Int(clamping: limit.rlim_cur) - 16) / 2))
  }()

  /// Starts the loop's thread. Reads proxies and the paths of certificates from the environment now.
  ///
  /// - Parameter readers: runs jobs that read request bodies from files.
  package convenience init(readers: @escaping RunOnReader) throws(TransportFault) {
    try self.init(environment: .current(), readers: readers)
  }

  init(environment: TransportEnvironment, readers: @escaping RunOnReader) throws(TransportFault) {
    self.environment = environment
    self.readers = readers
    try CurlTransport.initialiseOnce()
    loop = try EventLoop()
    lookups = NameLookups(loop: loop)
  }

  package func start(_ request: TransferRequest, sink: any TransferSink) -> UInt64 {
    let id = lastID.add(1, ordering: .relaxed).newValue
    loop.post { self.begin(id, request, sink) }
    return id
  }

  package func cancel(_ id: UInt64) {
    loop.post { self.cancelNow(id) }
  }

  package func resume(_ id: UInt64) {
    guard let transfer = active[id], let code = transfer.goOn() else { return }
    // `goOn` has delivered the bytes that libcurl had kept. If the sink stops the transfer at these bytes, libcurl doesn't end
    // it. End it here.
    guard code == CURLE_OK else { return finish(transfer, transfer.outcome(of: code)) }
    transfer.pool.runTimers()
  }

  package func setSilence(_ silence: Int64?, of id: UInt64) {
    // Posted, so that it runs after `begin`, which may still be in the inbox.
    loop.post {
      if let pending = self.lookingUp[id] ?? self.waiting[id] {
        pending.request.silence = silence
        if self.lookingUp[id] != nil { self.setTimeLimit(of: pending) }
      } else if let transfer = self.active[id] {
        transfer.silence = silence
        if let timer = transfer.stallTimer { self.loop.cancelTimer(timer) }
        transfer.stallTimer = nil
        self.checkStall(of: transfer)
      }
    }
  }

  package func lastByteTime(of id: UInt64) -> Int64? {
    active[id]?.lastByteTime(at: loop.now) ?? (lookingUp[id] ?? waiting[id])?.since
  }

  package func timings(of id: UInt64) -> TransferTimings? { active[id]?.timings() }

  /// Cancels all transfers and ends the thread. The first call returns when it has ended, further calls at once.
  package func stop() {
    loop.stop {
      self.lookups.stop()
      self.lookingUp = [:]
      self.waiting = [:]
      for id in Array(self.active.keys) { self.cancelNow(id) }
      self.idleHandles = []
      self.sharedPool?.close()
      self.http1Pool?.close()
    }
  }

  /// Ends the thread, but neither its transfers nor libcurl's handles, for the end of the process.
  package func abandon() { loop.stop {} }

  /// Whether `curl_global_init` has succeeded. A second call would need a second cleanup call.
  private static let isInitialised = Locked(false)

  /// Initialises libcurl once. After a failure, the next call tries again.
  private static func initialiseOnce() throws(TransportFault) {
    nhs_hold_forks()
    defer { nhs_release_forks() }
    let result = isInitialised.withLock { isDone in
      if isDone { return CURLE_OK }
      nhs_forget_unsafe_environment()
      let result = curl_global_init(Int(CURL_GLOBAL_ALL))
      isDone = result == CURLE_OK
      return result
    }
    guard result != CURLE_OUT_OF_MEMORY else {
      throw TransportFault(.outOfMemory, "there is no memory for libcurl")
    }
    guard result == CURLE_OK else {
      throw TransportFault(.internal, "libcurl can't be initialised (CURLcode \(result.rawValue))")
    }
  }
}

// MARK: - On the loop's thread

extension CurlTransport {
  private func begin(_ id: UInt64, _ request: TransferRequest, _ sink: any TransferSink) {
    let route = TransferRoute(request, environment)
    let pending = PendingTransfer(id: id, request: request, sink: sink, route: route, since: loop.now)
    guard let name = route.name, !(route.proxyLooksUp && lookups.isUnknown(name)) else {
      return checkRoute(pending)
    }
    lookingUp[id] = pending
    pending.lookup = lookups.find(name) { [unowned self] answer in self.lookedUp(pending, answer) }
    guard lookingUp[id] != nil else { return }
    sink.waitsForName()
    guard lookingUp[id] != nil else { return }
    setTimeLimit(of: pending)
  }

  private func setTimeLimit(of pending: PendingTransfer) {
    if let timer = pending.timer { loop.cancelTimer(timer) }
    pending.timer = nil
    if pending.route.proxyLooksUp {
      let limit = min(TransferRoute.proxiedLookupLimit, pending.request.silence ?? .max)
      pending.timer = loop.at(pending.since + limit) { [unowned self] in
        self.lookedUp(pending, .failure(TransportFault(.dns, "")))
      }
    }
    guard pending.timer == nil, let silence = pending.request.silence else { return }
    pending.timer = loop.at(pending.since + min(silence, .max - pending.since)) { [unowned self] in
      let seconds = Double(silence) / 1e9
      self.fail(pending, TransportFault(.timeout, "the name wasn't resolved within \(seconds) s"))
    }
  }

  private func lookedUp(_ pending: PendingTransfer, _ answer: NameLookups.Answer) {
    // A failure of another kind, such as a lack of memory, says nothing about the name.
    if case .failure(let fault) = answer, !pending.route.proxyLooksUp || fault.kind != .dns {
      return fail(pending, fault)
    }
    if let name = pending.route.name, case .failure = answer { lookups.noteUnknown(name) }
    stopLookingUp(pending)
    pending.route.addresses = (try? answer.get()) ?? []
    pending.route.lookupTime = (loop.now - pending.since) / 1000
    if pending.sink.nameIsResolved() { checkRoute(pending) }
  }

  private func checkRoute(_ pending: PendingTransfer) {
    if let fault = pending.route.checkBehindProxy(pending.request) { return fail(pending, fault) }
    launchOrWait(pending)
  }

  private func fail(_ pending: PendingTransfer, _ fault: TransportFault) {
    stopLookingUp(pending)
    var timings = TransferTimings()
    timings.total = (loop.now - pending.since) / 1000
    pending.sink.finished(fault, timings)
  }

  private func stopLookingUp(_ pending: PendingTransfer) {
    lookingUp[pending.id] = nil
    if let timer = pending.timer { loop.cancelTimer(timer) }
    pending.timer = nil
    if let name = pending.route.name, let lookup = pending.lookup { lookups.leave(name, lookup) }
    pending.lookup = nil
  }

  private func launchOrWait(_ pending: PendingTransfer) {
    guard active.count < ceiling else {
      waiting[pending.id] = pending
      order.append(pending.id)
      return
    }
    launch(pending)
  }

  private func launchNext() {
    while active.count < ceiling, nextInOrder < order.count {
      let id = order[nextInOrder]
      nextInOrder += 1
      if let pending = waiting.removeValue(forKey: id) { launch(pending) }
    }
    compactOrder()
  }

  /// Removes from `order` the ids that don't wait any more, if they are more than half of over 1,000.
  private func compactOrder() {
    guard order.count > 1000, order.count > 2 * waiting.count else { return }
    order = order[nextInOrder...].filter { waiting[$0] != nil }
    nextInOrder = 0
  }

  private func launch(_ pending: PendingTransfer) {
    guard let pool = pool(for: pending.request), let handle = idleHandles.popLast() ?? TransferHandle() else {
      let fault = TransportFault(.outOfMemory, "there is no memory for a libcurl handle")
      return pending.sink.finished(fault, TransferTimings())
    }
    let transfer = Transfer(handle, pool, sockets, pending, startedAt: loop.now)
    active[pending.id] = transfer
    if let upload = pending.request.extras?.upload, pending.request.method != "HEAD" {
      transfer.feed = BodyFeed(upload, loop, readers) { [unowned self] in self.goOnSending(pending.id) }
    }
    do throws(TransportFault) {
      try transfer.handle.configure(transfer, environment)
      guard pool.add(transfer) else { throw TransferHandle.noMemory }
    } catch {
      active[pending.id] = nil
      return pending.sink.finished(error, TransferTimings())
    }
    checkStall(of: transfer)
    if transfer.mayBeStream { watchStreams() }
  }

  private func goOnSending(_ id: UInt64) {
    guard let transfer = active[id] else { return }
    transfer.goOnSending()
    transfer.pool.runTimers()
  }

  /// Returns nil if there is no memory for it.
  private func pool(for request: TransferRequest) -> ConnectionPool? {
    let wantsHTTP1 = request.prefersHTTP1 && !withoutHTTP1.contains(request.url.origin)
    if let known = wantsHTTP1 ? http1Pool : sharedPool { return known }
    let kept = min(wantsHTTP1 ? CurlTransport.idleHTTP1Limit : CurlTransport.idleConnectionLimit, ceiling)
    let new = ConnectionPool(loop: loop, isHTTP1: wantsHTTP1, kept: kept) { [unowned self] in
      self.libcurlEnded($0, $1)
    }
    if wantsHTTP1 { http1Pool = new } else { sharedPool = new }
    return new
  }

  private func cancelNow(_ id: UInt64) {
    if let pending = lookingUp[id] { return stopLookingUp(pending) }
    if waiting.removeValue(forKey: id) != nil { return compactOrder() }
    guard let transfer = active[id] else { return }
    release(transfer)
    launchNext()
  }

  private func release(_ transfer: Transfer) {
    active[transfer.id] = nil
    if let timer = transfer.stallTimer { loop.cancelTimer(timer) }
    transfer.pool.remove(transfer)
    transfer.release()
    if idleHandles.count < CurlTransport.idleLimit {
      transfer.handle.reset()
      idleHandles.append(transfer.handle)
    }
  }

  private func finish(_ transfer: Transfer, _ fault: TransportFault?) {
    let timings = transfer.timings()
    if let fault, [.refused, .denied, .timeout].contains(fault.kind), let name = transfer.route.name {
      lookups.forget(name)
    }
    release(transfer)
    transfer.sink.finished(fault, timings)
    launchNext()
  }

  /// Checks for a stall, and sets the timer for the next check. A received byte doesn't move the timer; it costs only a store
  /// of its time.
  private func checkStall(of transfer: Transfer) {
    guard let silence = transfer.silence else { return }
    let (stall, next) = transfer.checkStall(at: loop.now, silence: silence)
    if let stall { return finish(transfer, transfer.fault(of: stall)) }
    transfer.stallTimer = loop.at(next) { [unowned self] in self.checkStall(of: transfer) }
  }

  /// Sets the timer that nudges quiet streams (`StreamNudge`).
  private func watchStreams() {
    guard nudgeTimer == nil else { return }
    guard let next = active.values.lazy.filter(\.mayBeStream).map(\.nudge.due).min() else { return }
    nudgeTimer = loop.at(next) { [unowned self] in
      self.nudgeTimer = nil
      let now = self.loop.now
      let quiet = self.active.values.filter { $0.mayBeStream && $0.nudge.due <= now }
      for transfer in quiet where self.active[transfer.id] === transfer {
        transfer.nudge.noteNudge(at: now)
        transfer.pauseAndResume()
        transfer.pool.runTimers()
      }
      self.watchStreams()
    }
  }

  private func libcurlEnded(_ transfer: Transfer, _ code: CURLcode) {
    if transfer.pool.isHTTP1, transfer.isHTTP1Declined(code) { return offerHTTP2(transfer) }
    guard transfer.connection.wantsNew else { return finish(transfer, transfer.outcome(of: code)) }
    retryOnNewConnection(transfer)
  }

  /// The server refuses HTTP/1.1, and nothing was sent yet. Starts again in the pool that offers HTTP/2, too.
  private func offerHTTP2(_ transfer: Transfer) {
    if withoutHTTP1.count >= CurlTransport.mostWithoutHTTP1 { withoutHTTP1 = [] }
    withoutHTTP1.insert(transfer.request.url.origin)
    transfer.pool.remove(transfer)
    if let pool = pool(for: transfer.request), transfer.move(to: pool), pool.add(transfer) { return }
    finish(transfer, TransferHandle.noMemory)
  }

  private func retryOnNewConnection(_ transfer: Transfer) {
    transfer.pool.remove(transfer)
    if transfer.prepareNewConnection(), transfer.pool.add(transfer) { return }
    finish(transfer, TransferHandle.noMemory)
  }
}
