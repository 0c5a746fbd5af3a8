import NuthatchTransport

// The way of a request that may be frozen: by way of the outbox where others of its queue wait, or where it is to be written
// first; into the outbox when its server can't be reached.

extension Errand {
  /// Whether it is to go to the outbox when its server can't be reached.
  var isFreezable: Bool { plan.freezing != nil }

  /// Looks what the outbox has of its queue, before anything is sent.
  func beginFreezable(_ freezing: FreezingPlan) {
    let desk = shared.outbox
    let plan = plan
    desk.lane.submit {
      let begun = Result { () throws(NuthatchError) -> (id: UInt64, isLive: Bool)? in
        let mustWait = freezing.lacksSecret ? true : try desk.store.isBehind(freezing.queue)
        guard mustWait || freezing.freezing.isDurable, self.ticket.isOpen else { return nil }
        let now = desk.store.clock.now()
        let frozen = freezing.frozen(
          plan, self.ticket, at: now, exposed: mustWait ? nil : now, isLive: !mustWait)
        return (try desk.freeze(frozen), !mustWait)
      }
      if !self.runtime.loop.post({ self.goOn(begun) }) { self.ticket.finish(.failed(.closed)) }
    }
  }

  private func goOn(_ begun: Result<(id: UInt64, isLive: Bool)?, NuthatchError>) {
    switch begun {
    case .failure(let error): fail(error)
    case .success(nil): decide(nil)
    case .success((let id, false)?): tellFrozen(id)
    case .success((let id, true)?):
      plan.freezing?.id = id
      guard ticket.isOpen else { return leaveRecord() }
      decide(nil)
    }
  }

  /// Whether this failure is one that freezes; then it does.
  func freezes(for error: NuthatchError) -> Bool {
    guard let freezing = plan.freezing, !freezing.isFreezing, error.status == nil,
      OutboxRules.Result.failure(error.code, status: nil, retryAfter: nil).isUnreachable
    else { return false }
    freezing.isFreezing = true
    let desk = shared.outbox
    let (plan, id, elapsed) = (plan, freezing.id, elapsed)
    desk.lane.submit {
      let now = desk.store.clock.now()
      let hasReachedNobody =
        OutboxRules.Result.failure(error.code, status: nil, retryAfter: nil).hasReachedNobody
      let exposed = hasReachedNobody ? nil : now.before(elapsed)
      let kept = Result { () throws(NuthatchError) -> UInt64 in
        guard id == 0 else {
          let attempt = OutboxAttempt(
            ended: now, code: error.code, status: 0, reason: error.message, counted: hasReachedNobody ? 0 : 1,
            exposed: exposed, wait: 0, isUnreachable: true)
          try desk.store.end(id, attempt)
          return id
        }
        return try desk.freeze(freezing.frozen(plan, self.ticket, at: now, exposed: exposed, isLive: false))
      }
      let isPosted = self.runtime.loop.post {
        switch kept {
        case .success(let id): self.tellFrozen(id)
        // Written before, it is there, whatever couldn't be added.
        case .failure where id != 0: self.tellFrozen(id)
        case .failure(let error): self.fail(error)
        }
      }
      if !isPosted { self.ticket.finish(.failed(.closed)) }
    }
    return true
  }

  private func tellFrozen(_ id: UInt64) {
    let desk = shared.outbox
    let wasWritten = plan.freezing?.id == id
    plan.freezing?.id = 0
    cancelDeadline()
    if !ticket.isFinished(by: .frozen(id, plan.url)), !wasWritten || ticket.state == .cancelled {
      // Who has cancelled it, or was told something else, doesn't want it sent.
      desk.lane.submit {
        // What can't be removed now is in the list.
        _ = try? desk.store.remove(id)
      }
    }
    if wasWritten { desk.endFirstAttempt(id) }
    desk.look()
  }

  /// Its first attempt was the last one: its ticket has the answer, and the record isn't needed any more. Or it was
  /// cancelled. A close leaves it to be sent.
  func leaveRecord() {
    guard let freezing = plan.freezing, freezing.id != 0, !freezing.isFreezing else { return }
    let (desk, id) = (shared.outbox, freezing.id)
    freezing.id = 0
    let isOver = freezing.isAnswered || ticket.state == .cancelled
    desk.lane.submit {
      if isOver {
        // One that stays is sent once more, with the same key.
        _ = try? desk.store.remove(id)
      }
      desk.endFirstAttempt(id)
    }
  }
}

extension OutboxDesk {
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
      self.store.journal.giveBack(id)
      self.look()
    }
  }
}

extension Event {
  static func frozen(_ id: UInt64, _ url: WebURL) -> Event {
    var error = NuthatchError(.frozen, "the server can't be reached; kept in the outbox as \(id): \(url)")
    error.outboxID = id
    return frozen(error)
  }
}
