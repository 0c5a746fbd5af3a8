import CSystem
import Glibc
import Synchronization

/// Runs transfers on one libcurl multi handle. Any thread may start and cancel them.
///
/// Easy handles and connections are kept for the next transfer. The confined state is touched on the loop's thread
/// only, which is what makes the class Sendable.
package final class Transport: @unchecked Sendable {
  package let loop: EventLoop
  private let lastID = Atomic<UInt64>(0)

  private let surroundings: TransportSurroundings

  // Confined to the loop's thread.
  private let multi: UnsafeMutableRawPointer
  private let lookups: NameLookups
  /// Those whose name is being looked up.
  private var lookingUp: [UInt64: PendingTransfer] = [:]
  /// Those that wait for others to end, and their order; ids of cancelled ones stay in it for a while.
  private var waiting: [UInt64: PendingTransfer] = [:]
  private var order: [UInt64] = []
  private var nextInOrder = 0
  private var active: [UInt64: Transfer] = [:]
  private var idleHandles: [UnsafeMutableRawPointer] = []
  private var curlTimer: EventLoop.TimerID?
  private var nudgeTimer: EventLoop.TimerID?

  /// As many easy handles are kept for reuse: each holds some 20 KB.
  private static let idleLimit = 64

  /// As many HTTP/2 streams share a connection; more open another one.
  private static let streamLimit = 32

  /// As many transfers run at once, because each may need a descriptor, of which the program wants some, too. More
  /// wait their turn, first come, first served: whoever starts transfers had better stay below.
  package let ceiling: Int = {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 64 }
    return min(512, max(1, (Int(clamping: limit.rlim_cur) - 16) / 2))
  }()

  /// Starts the loop's thread. Proxies and certificates are looked up in the environment here and now.
  package convenience init() throws(TransportFault) { try self.init(surroundings: .current()) }

  init(surroundings: TransportSurroundings) throws(TransportFault) {
    self.surroundings = surroundings
    try Transport.initialiseOnce()
    guard let multi = curl_multi_init() else { throw TransportFault(.outOfMemory, "no memory for libcurl") }
    self.multi = multi
    loop = try EventLoop()
    lookups = NameLookups(loop: loop)
    loop.post { self.connectToLoop() }
  }

  /// Begins `request`; its answer goes to `sink`. The result names the transfer for `cancel`.
  package func start(_ request: TransferRequest, sink: any TransferSink) -> UInt64 {
    let id = lastID.add(1, ordering: .relaxed).newValue
    loop.post { self.begin(id, request, sink) }
    return id
  }

  /// Ends a transfer without another call to its sink. Unknown and finished ones are ignored.
  package func cancel(_ id: UInt64) {
    loop.post { self.end(id) }
  }

  /// Lets a transfer go on that its sink held up (`TransferVerdict.hold`). On the loop's thread, and not from within a sink.
  package func resume(_ id: UInt64) { if active[id]?.goOn() == true { act(-1, 0) } }

  /// What is known of a transfer so far; nil when it isn't under way. To be called on the loop's thread.
  package func timings(of id: UInt64) -> TransferTimings? { active[id]?.timings() }

  /// Cancels what is under way, ends the thread, and waits for its end.
  package func stop() {
    loop.stop {
      self.lookups.stop()
      self.lookingUp = [:]
      self.waiting = [:]
      for id in Array(self.active.keys) { self.end(id) }
      for handle in self.idleHandles { curl_easy_cleanup(handle) }
      self.idleHandles = []
      curl_multi_cleanup(self.multi)
    }
  }

  /// Ends the thread and lets everything else lie, for the end of the process.
  package func abandon() { loop.stop {} }

  private static func initialiseOnce() throws(TransportFault) {
    struct Global {
      // Swift runs this once; libcurl's own counter would need a matching clean-up.
      static let result = curl_global_init(Int(CURL_GLOBAL_ALL))
    }
    guard Global.result == CURLE_OK else {
      throw TransportFault(.internal, "libcurl can't be initialised (\(Global.result.rawValue))")
    }
  }
}

// MARK: - On the loop's thread

extension Transport {
  private func begin(_ id: UInt64, _ request: TransferRequest, _ sink: any TransferSink) {
    let route = TransferRoute(request, surroundings)
    let pending = PendingTransfer(id: id, request: request, sink: sink, route: route, since: loop.now)
    guard let name = route.name else { return admit(pending) }
    lookingUp[id] = pending
    pending.lookup = lookups.find(name) { [unowned self] answer in self.lookedUp(pending, answer) }
    guard lookingUp[id] != nil else { return }
    sink.waitsForName()
    guard lookingUp[id] != nil, let silence = request.silence else { return }
    pending.watch = loop.at(pending.since + min(silence, .max - pending.since)) { [unowned self] in
      let seconds = Double(silence) / 1e9
      self.giveUp(pending, TransportFault(.timeout, "no byte for \(seconds) s, looking up the name"))
    }
  }

  private func lookedUp(_ pending: PendingTransfer, _ answer: NameLookups.Answer) {
    pending.lookup = nil
    switch answer {
    case .failure(let fault): giveUp(pending, fault)
    case .success(let addresses):
      stopLookingUp(pending)
      pending.route.addresses = addresses
      pending.route.lookupTime = (loop.now - pending.since) / 1000
      if pending.sink.mayConnect() { admit(pending) }
    }
  }

  private func giveUp(_ pending: PendingTransfer, _ fault: TransportFault) {
    stopLookingUp(pending)
    var timings = TransferTimings()
    timings.total = (loop.now - pending.since) / 1000
    pending.sink.finished(fault, timings)
  }

  private func stopLookingUp(_ pending: PendingTransfer) {
    lookingUp[pending.id] = nil
    if let timer = pending.watch { loop.cancelTimer(timer) }
    pending.watch = nil
    if let name = pending.route.name, let lookup = pending.lookup { lookups.leave(name, lookup) }
    pending.lookup = nil
  }

  private func admit(_ pending: PendingTransfer) {
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
    forgetOrder()
  }

  /// Drops ids that have had their turn or were cancelled, once they are the greater part.
  private func forgetOrder() {
    guard order.count > 1000, order.count > 2 * waiting.count else { return }
    order = order[nextInOrder...].filter { waiting[$0] != nil }
    nextInOrder = 0
  }

  private func launch(_ pending: PendingTransfer) {
    guard let easy = idleHandles.popLast() ?? curl_easy_init() else {
      let fault = TransportFault(.outOfMemory, "no memory for a libcurl handle")
      return pending.sink.finished(fault, TransferTimings())
    }
    let transfer = Transfer(easy: easy, pending, startedAt: loop.now)
    active[pending.id] = transfer
    guard transfer.configure(surroundings), curl_multi_add_handle(multi, easy) == CURLM_OK else {
      active[pending.id] = nil
      curl_easy_cleanup(easy)
      return pending.sink.finished(
        TransportFault(.internal, "libcurl refused the request"), TransferTimings())
    }
    watch(transfer)
    if transfer.mayBeStream { watchStreams() }
  }

  private func end(_ id: UInt64) {
    if let pending = lookingUp[id] { return stopLookingUp(pending) }
    if waiting.removeValue(forKey: id) != nil { return forgetOrder() }
    guard let transfer = active[id] else { return }
    release(transfer)
    launchNext()
  }

  private func release(_ transfer: Transfer) {
    active[transfer.id] = nil
    if let timer = transfer.watch { loop.cancelTimer(timer) }
    curl_multi_remove_handle(multi, transfer.easy)
    transfer.freeLists()
    if idleHandles.count < Transport.idleLimit {
      curl_easy_reset(transfer.easy)
      idleHandles.append(transfer.easy)
    } else {
      curl_easy_cleanup(transfer.easy)
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

  /// The timer moves only when it fires, so that a byte costs no more than a note of its time.
  private func watch(_ transfer: Transfer) {
    guard let silence = transfer.request.silence else { return }
    let (lapse, next) = transfer.judgePace(at: loop.now, silence: silence)
    if let lapse { return finish(transfer, transfer.fault(of: lapse)) }
    transfer.watch = loop.at(next) { [unowned self] in self.watch(transfer) }
  }

  /// Nudges streams that have been quiet for long, and sets the timer for the next that will be.
  private func watchStreams() {
    guard nudgeTimer == nil else { return }
    guard let next = active.values.lazy.filter(\.mayBeStream).map(\.nudge.due).min() else { return }
    nudgeTimer = loop.at(next) { [unowned self] in
      self.nudgeTimer = nil
      let now = self.loop.now
      let quiet = self.active.values.filter { $0.mayBeStream && $0.nudge.due <= now }
      for transfer in quiet where self.active[transfer.id] === transfer {
        transfer.nudge.noteNudge(at: now)
        transfer.lookAgain()
        self.act(-1, 0)
      }
      self.watchStreams()
    }
  }

  private func reapFinished() {
    var code = CURLE_OK
    while let easy = nhs_multi_next_done(multi, &code) {
      guard let context = nhs_easy_get_context(easy) else { continue }
      let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
      if transfer.wantsFreshConnection {
        retryOnFreshConnection(transfer)
      } else {
        finish(transfer, transfer.outcome(of: code))
      }
    }
  }

  private func retryOnFreshConnection(_ transfer: Transfer) {
    curl_multi_remove_handle(multi, transfer.easy)
    if transfer.prepareFreshConnection(), curl_multi_add_handle(multi, transfer.easy) == CURLM_OK { return }
    finish(transfer, TransportFault(.internal, "libcurl refused the request"))
  }
}

// MARK: - libcurl's sockets and timer on the loop

extension Transport {
  private func connectToLoop() {
    let context = Unmanaged.passUnretained(self).toOpaque()
    _ = nhs_multi_set_callbacks(multi, socketChanged, timerChanged, context)
    _ = nhs_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, Transport.streamLimit)
    // By itself libcurl keeps four for each transfer under way: when few are, it closes those to other hosts.
    _ = nhs_multi_set_long(multi, CURLMOPT_MAXCONNECTS, ceiling)
  }

  fileprivate func watchSocket(_ socket: Int32, _ what: Int32) {
    guard what != CURL_POLL_REMOVE else { return loop.unwatch(socket) }
    var events: UInt32 = 0
    if what & CURL_POLL_IN != 0 { events |= UInt32(EPOLLIN.rawValue) }
    if what & CURL_POLL_OUT != 0 { events |= UInt32(EPOLLOUT.rawValue) }
    loop.watch(socket, events) { [unowned self] ready in
      var mask: Int32 = 0
      if ready & UInt32(EPOLLIN.rawValue) != 0 { mask |= CURL_CSELECT_IN }
      if ready & UInt32(EPOLLOUT.rawValue) != 0 { mask |= CURL_CSELECT_OUT }
      if ready & UInt32(EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
      self.act(socket, mask)
    }
  }

  fileprivate func setTimer(milliseconds: Int) {
    if let timer = curlTimer { loop.cancelTimer(timer) }
    curlTimer = nil
    guard milliseconds >= 0 else { return }
    // Never at once: libcurl must not be entered again from its own callback.
    curlTimer = loop.at(loop.now + Int64(milliseconds) * 1_000_000) { [unowned self] in
      self.curlTimer = nil
      self.act(-1, 0)
    }
  }

  /// -1 is libcurl's word for "a time-out".
  private func act(_ socket: Int32, _ mask: Int32) {
    var running: Int32 = 0
    curl_multi_socket_action(multi, socket, mask, &running)
    reapFinished()
  }
}

private func socketChanged(
  _: UnsafeMutableRawPointer?, socket: Int32, what: Int32, context: UnsafeMutableRawPointer?,
  _: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<Transport>.fromOpaque(context).takeUnretainedValue().watchSocket(socket, what)
  return 0
}

private func timerChanged(
  _: UnsafeMutableRawPointer?, milliseconds: Int, context: UnsafeMutableRawPointer?
) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<Transport>.fromOpaque(context).takeUnretainedValue().setTimer(milliseconds: milliseconds)
  return 0
}
