import NuthatchTransport
import Synchronization

/// Puts one freezable request into the outbox. Before its first attempt, if other requests of its queue wait, if a secret is
/// missing, or if it is durable. Otherwise after the attempt, if its server can't be reached.
///
/// Confined to the loop's thread, hence Sendable.
final class Freezer: @unchecked Sendable {
  /// The longest wait for earlier requests of the queue, in nanoseconds. It is limited because a request that isn't stored yet
  /// would be lost by a kill. Tests set more: their machine may stop for seconds.
  static let longestTurn = Atomic<Int64>(5_000_000_000)

  let queue: String
  /// The request's number in the order of its queue, managed by `FreezeOrder`; 0 if it has none.
  var turn: UInt64 = 0
  /// The request's number in the outbox, if it was stored before its first attempt; else 0.
  private var id: UInt64 = 0
  /// Whether `storeInTurn` has taken the request, so that it isn't sent from here.
  private var isStoring = false
  /// Whether the ticket has the answer, or an error after which the request must not be sent.
  private var isAnswered = false
  private let ticket: Ticket
  private let outbox: DirectoryOutbox
  private let submitted: Int64

  init?(_ plan: RequestPlan, _ ticket: Ticket, _ outbox: DirectoryOutbox, submitted: Int64) {
    guard let freezingPlan = plan.freezingPlan else { return nil }
    queue = freezingPlan.queue
    self.ticket = ticket
    self.outbox = outbox
    self.submitted = submitted
  }

  private var loop: EventLoop { outbox.runtime.loop }

  // MARK: Before it is sent

  /// What happens before the first attempt.
  private enum FirstStep {
    case send
    /// A secret is missing, or other requests of its queue wait.
    case wait
    /// The request was stored under this number, and is to be sent.
    case stored(UInt64)
  }

  /// Calls `send` if the request is to be sent; if it must wait, it is stored and `send` isn't called. Call it again after the program
  /// has added headers to the request.
  func begin(_ plan: RequestPlan, send: @escaping @Sendable () -> Void) {
    // If the ticket has ended, don't add the request to the order: nothing would remove it. A request that is being stored
    // isn't sent, even if the program has added headers.
    guard ticket.isOpen, !isStoring, let freezingPlan = plan.freezingPlan else { return }
    // This is a later call, after a question. The stored record isn't changed: for a later attempt, providers give the secrets,
    // and other headers that the program has added aren't sent.
    if turn != 0 { return send() }
    outbox.join(self)
    work { () throws(NuthatchError) -> FirstStep in
      if freezingPlan.lacksSecret { return .wait }
      let live = self.outbox.sender.live.withLock { $0 }
      if try self.outbox.store.isBehind(freezingPlan.queue, own: live.contains) { return .wait }
      guard freezingPlan.options.isDurable, self.ticket.isOpen else { return .send }
      let now = self.outbox.store.clock.now()
      return .stored(
        try self.outbox.freeze(freezingPlan.frozen(plan, self.ticket, at: now, exposed: now, isLive: true)))
    } then: {
      self.continueAfter($0, plan, send)
    }
  }

  private func continueAfter(
    _ begun: Result<FirstStep, NuthatchError>, _ plan: RequestPlan, _ send: @Sendable () -> Void
  ) {
    // The request's deadline may have passed meanwhile.
    let isLate = isStoring || !ticket.isOpen
    switch begun {
    case .failure(let error): fail(error)
    // `storeInTurn` stores the request under another number, so this record is a duplicate.
    case .success(.stored(let id)) where isStoring: leaveRecord(id, isUnwanted: true)
    case .success(.stored(let id)):
      self.id = id
      if isLate { leaveRecord() } else { send() }
    case .success where isLate: return
    case .success(.send): send()
    case .success(.wait): storeInTurn(plan, after: nil)
    }
  }

  // MARK: When its server can't be reached

  /// Stores the request if its server couldn't be reached. Returns false for another failure; then nothing is stored.
  func freezeIfUnreachable(_ plan: RequestPlan, after error: NuthatchError) -> Bool {
    guard !isStoring, error.status == nil, error.code.isUnreachable else { return false }
    storeInTurn(plan, after: error)
    return true
  }

  /// Stores the request after the earlier requests of its queue that are still under way.
  private func storeInTurn(_ plan: RequestPlan, after error: NuthatchError?) {
    isStoring = true
    // The request isn't in the order yet if its deadline passed while a question was open, before `begin`.
    if turn == 0 { outbox.join(self) }
    guard !outbox.callInTurn(self, { self.store(plan, after: error) }) else { return }
    _ = loop.at(loop.now &+ Self.longestTurn.load(ordering: .relaxed)) { self.outbox.stopWaiting(self) }
  }

  /// Call it at the deadline: a request that waits to be stored no longer waits for others. Returns whether the request is being
  /// stored.
  func storeAtDeadline() -> Bool {
    if isStoring { outbox.stopWaiting(self) }
    return isStoring
  }

  private func store(_ plan: RequestPlan, after error: NuthatchError?) {
    // If the ticket ended during the wait, `abandon` does the rest.
    guard ticket.isOpen, let freezingPlan = plan.freezingPlan else {
      isStoring = false
      return
    }
    let (id, elapsed) = (id, loop.now &- submitted)
    work { () throws(NuthatchError) -> UInt64 in
      let now = self.outbox.store.clock.now()
      let isUnsent = error?.code.isUnsent ?? true
      let exposed = isUnsent ? nil : now.before(elapsed)
      guard id != 0, let error else {
        return try self.outbox.freeze(
          freezingPlan.frozen(plan, self.ticket, at: now, exposed: exposed, isLive: false))
      }
      let attempt = AttemptRecord(
        ended: now, code: error.code, status: 0, reason: error.message, counted: isUnsent ? 0 : 1,
        exposed: exposed, wait: 0, isUnreachable: true)
      try self.outbox.store.end(id, attempt)
      return id
    } then: {
      switch $0 {
      case .success(let id): self.tellFrozen(id, plan)
      // The request was stored before its attempt. Its record is there, even if the attempt couldn't be added.
      case .failure where id != 0: self.tellFrozen(id, plan)
      case .failure(let error): self.fail(error)
      }
    }
  }

  private func tellFrozen(_ id: UInt64, _ plan: RequestPlan) {
    let wasWritten = self.id == id
    self.id = 0
    // If the ticket has ended otherwise, its caller doesn't know this record, so remove it. But remove a record that was
    // written before the attempt only if the ticket was cancelled.
    let isUnwanted =
      !ticket.isFinished(by: .frozen(id, plan.url)) && (!wasWritten || ticket.state == .cancelled)
    leaveRecord(id, isUnwanted: isUnwanted, endsFirstAttempt: wasWritten)
    outbox.look()
  }

  // MARK: The end of the ticket

  /// Call it when the ticket gets the answer.
  func noteAnswer() { isAnswered = true }

  /// Call it at the end of the ticket. Later requests then no longer wait for this one, and it won't be stored any more.
  func abandon() {
    if turn != 0 {
      isStoring = false
      outbox.leave(self)
    }
    leaveRecord()
  }

  /// Removes the record if the ticket has the answer or was cancelled. After a close it stays, to be sent later.
  private func leaveRecord() {
    guard id != 0, !isStoring else { return }
    // A record that stays is sent again, with the same key.
    leaveRecord(id, isUnwanted: isAnswered || ticket.state == .cancelled)
    id = 0
  }

  private func leaveRecord(_ id: UInt64, isUnwanted: Bool, endsFirstAttempt: Bool = true) {
    outbox.serialQueue.submit { [outbox] in
      // If the record can't be removed now, it stays in the outbox.
      if isUnwanted { _ = try? outbox.store.remove(id) }
      if endsFirstAttempt { outbox.endFirstAttempt(id) }
    }
  }

  private func fail(_ error: NuthatchError) {
    isAnswered = isAnswered || !error.isOwnEnd
    ticket.finish(.failed(error))
  }

  /// Runs a job that uses the outbox's files on the serial queue, then `then` on the loop's thread.
  private func work<Value: Sendable>(
    _ job: @escaping @Sendable () throws(NuthatchError) -> Value,
    then: @escaping @Sendable (Result<Value, NuthatchError>) -> Void
  ) {
    outbox.serialQueue.submit {
      let result = Result { () throws(NuthatchError) in try job() }
      if !self.loop.post({ then(result) }) { self.ticket.finish(.failed(self.outbox.runtime.whyNoJob)) }
    }
  }
}

extension DirectoryOutbox {
  /// Stores a request. If it `isLive`, this process alone makes its first attempt, until `endFirstAttempt`.
  func freeze(_ request: FrozenRequest) throws(NuthatchError) -> UInt64 {
    guard request.isLive else { return try store.freeze(request) }
    let sender = sender
    return try store.freeze(request) { id in
      sender.live.withLock { _ = $0.insert(id) }
    }
  }

  /// Lets any process send a request whose first attempt has ended. Called on the serial queue or the loop's thread.
  func endFirstAttempt(_ id: UInt64) {
    sender.live.withLock { _ = $0.remove(id) }
    serialQueue.submit {
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
