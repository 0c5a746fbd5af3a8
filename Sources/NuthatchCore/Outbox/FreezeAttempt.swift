import NuthatchTransport

/// The way of a request into the outbox: before it is sent where others of its queue wait, or where it is to be written first;
/// after that when its server can't be reached.
///
/// Made for requests that may be frozen. Confined to the loop's thread, hence Sendable.
final class FreezeAttempt: @unchecked Sendable {
  /// For how long those before it in its queue are waited for: what isn't written isn't safe.
  private static let longestTurn: Int64 = 5_000_000_000

  let queue: String
  /// Its place among those of its queue that are under way, of which `FreezeOrder` takes care; 0 when it has none.
  var turn: UInt64 = 0
  /// Its number in the outbox, when it was written there before its first attempt; 0 for none.
  private var id: UInt64 = 0
  /// Whether it is on its way to the outbox.
  private var isFreezing = false
  /// Whether its ticket has the answer.
  private var isAnswered = false
  private let ticket: Ticket
  private let outbox: DirectoryOutbox
  private let submitted: Int64

  init?(_ plan: RequestPlan, _ ticket: Ticket, _ outbox: DirectoryOutbox, submitted: Int64) {
    guard let freezing = plan.freezing else { return nil }
    queue = freezing.queue
    self.ticket = ticket
    self.outbox = outbox
    self.submitted = submitted
  }

  private var loop: EventLoop { outbox.runtime.loop }

  // MARK: Before it is sent

  /// What the outbox says before anything is sent.
  private enum Beginning {
    case mayGo
    /// Its secret is missing, or others of its queue wait.
    case mustWait
    case isWritten(UInt64)
  }

  /// Calls `send` when the request is to be sent; it isn't where it is kept first. To be called again with what its program has
  /// added to it.
  func begin(_ plan: RequestPlan, send: @escaping @Sendable () -> Void) {
    // What joins the line leaves it at the end of the ticket.
    // One that is on its way to the outbox isn't sent, whatever its program has added since.
    guard ticket.isOpen, !isFreezing, let freezing = plan.freezing else { return }
    // What was written before stays as it is: its providers give what its program has added.
    if turn != 0 { return send() }
    outbox.join(self)
    work { () throws(NuthatchError) -> Beginning in
      if freezing.lacksSecret { return .mustWait }
      let live = self.outbox.sender.live.withLock { $0 }
      if try self.outbox.store.isBehind(freezing.queue, own: live.contains) { return .mustWait }
      guard freezing.freezing.isDurable, self.ticket.isOpen else { return .mayGo }
      let now = self.outbox.store.clock.now()
      return .isWritten(
        try self.outbox.freeze(freezing.frozen(plan, self.ticket, at: now, exposed: now, isLive: true)))
    } then: {
      self.goOn($0, plan, send)
    }
  }

  private func goOn(
    _ begun: Result<Beginning, NuthatchError>, _ plan: RequestPlan, _ send: @Sendable () -> Void
  ) {
    // Its deadline may have come meanwhile.
    let isLate = isFreezing || !ticket.isOpen
    switch begun {
    case .failure(let error): fail(error)
    // It is kept under another number.
    case .success(.isWritten(let id)) where isFreezing: leaveRecord(id, isUnwanted: true)
    case .success(.isWritten(let id)):
      self.id = id
      if isLate { leaveRecord() } else { send() }
    case .success where isLate: return
    case .success(.mayGo): send()
    case .success(.mustWait): keep(plan, after: nil)
    }
  }

  // MARK: When its server can't be reached

  /// Whether this failure is one that freezes; then it does.
  func freezes(_ plan: RequestPlan, after error: NuthatchError) -> Bool {
    guard !isFreezing, error.status == nil, error.code.isUnreachable else { return false }
    keep(plan, after: error)
    return true
  }

  /// Keeps it, behind those of its queue that were submitted before and are still under way.
  private func keep(_ plan: RequestPlan, after error: NuthatchError?) {
    isFreezing = true
    // Its deadline may have come before it was to be sent, while a question was open.
    if turn == 0 { outbox.join(self) }
    guard !outbox.inTurn(self, { self.write(plan, after: error) }) else { return }
    _ = loop.at(loop.now &+ Self.longestTurn) { self.outbox.hurry(self) }
  }

  /// The deadline has come. True when the request is being kept: it isn't behind others any more then.
  func hurry() -> Bool {
    if isFreezing { outbox.hurry(self) }
    return isFreezing
  }

  private func write(_ plan: RequestPlan, after error: NuthatchError?) {
    // Its ticket may have ended while it waited: then `abandon` does what is left to do.
    guard ticket.isOpen, let freezing = plan.freezing else {
      isFreezing = false
      return
    }
    let (id, elapsed) = (id, loop.now &- submitted)
    work { () throws(NuthatchError) -> UInt64 in
      let now = self.outbox.store.clock.now()
      let isUnsent = error?.code.isUnsent ?? true
      let exposed = isUnsent ? nil : now.before(elapsed)
      guard id != 0, let error else {
        return try self.outbox.freeze(
          freezing.frozen(plan, self.ticket, at: now, exposed: exposed, isLive: false))
      }
      let attempt = OutboxAttempt(
        ended: now, code: error.code, status: 0, reason: error.message, counted: isUnsent ? 0 : 1,
        exposed: exposed, wait: 0, isUnreachable: true)
      try self.outbox.store.end(id, attempt)
      return id
    } then: {
      switch $0 {
      case .success(let id): self.tellFrozen(id, plan)
      // Written before, it is there, whatever couldn't be added.
      case .failure where id != 0: self.tellFrozen(id, plan)
      case .failure(let error): self.fail(error)
      }
    }
  }

  private func tellFrozen(_ id: UInt64, _ plan: RequestPlan) {
    let wasWritten = self.id == id
    self.id = 0
    // A request that was cancelled, or was told something else, isn't to be sent.
    let isUnwanted =
      !ticket.isFinished(by: .frozen(id, plan.url)) && (!wasWritten || ticket.state == .cancelled)
    leaveRecord(id, isUnwanted: isUnwanted, endsFirstAttempt: wasWritten)
    outbox.look()
  }

  // MARK: Its end

  /// Its ticket gets the answer.
  func noteAnswer() { isAnswered = true }

  /// Its ticket has ended: the others don't wait behind it any more, and what was still to be written isn't.
  func abandon() {
    if turn != 0 {
      isFreezing = false
      outbox.leave(self)
    }
    leaveRecord()
  }

  /// Its first attempt was the last one: its ticket has the answer, and the record isn't needed any more. Or it was
  /// cancelled. A close leaves it to be sent.
  private func leaveRecord() {
    guard id != 0, !isFreezing else { return }
    // One that stays is sent once more, with the same key.
    leaveRecord(id, isUnwanted: isAnswered || ticket.state == .cancelled)
    id = 0
  }

  private func leaveRecord(_ id: UInt64, isUnwanted: Bool, endsFirstAttempt: Bool = true) {
    outbox.lane.submit { [outbox] in
      // What can't be removed now is in the list.
      if isUnwanted { _ = try? outbox.store.remove(id) }
      if endsFirstAttempt { outbox.endFirstAttempt(id) }
    }
  }

  private func fail(_ error: NuthatchError) {
    isAnswered = isAnswered || !error.isOwnEnd
    ticket.finish(.failed(error))
  }

  /// Does something with the outbox's files, and goes on here.
  private func work<Value: Sendable>(
    _ job: @escaping @Sendable () throws(NuthatchError) -> Value,
    then: @escaping @Sendable (Result<Value, NuthatchError>) -> Void
  ) {
    outbox.lane.submit {
      let result = Result { () throws(NuthatchError) in try job() }
      if !self.loop.post({ then(result) }) { self.ticket.finish(.failed(self.outbox.runtime.whyNoJob)) }
    }
  }
}

extension DirectoryOutbox {
  /// Keeps a request. While it is live, its first attempt is this process's.
  func freeze(_ request: FrozenRequest) throws(NuthatchError) -> UInt64 {
    guard request.isLive else { return try store.freeze(request) }
    let sender = sender
    return try store.freeze(request) { id in
      sender.live.withLock { _ = $0.insert(id) }
    }
  }

  /// Lets others send it. Called on the lane or the loop.
  func endFirstAttempt(_ id: UInt64) {
    sender.live.withLock { _ = $0.remove(id) }
    lane.submit {
      self.store.journal.withLocks { $0.giveBack(id) }
      self.look()
    }
  }
}

extension Event {
  static func frozen(_ id: UInt64, _ url: WebURL) -> Event {
    var error = NuthatchError(.frozen, "can't be sent yet; kept in the outbox as \(id): \(url)")
    error.outboxID = id
    return frozen(error)
  }
}
