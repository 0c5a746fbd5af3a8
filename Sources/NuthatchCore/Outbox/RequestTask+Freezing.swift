import NuthatchTransport

// The way of a request that may be frozen: by way of the outbox where others of its queue wait, or where it is to be written
// first; into the outbox when its server can't be reached.

extension RequestTask {
  /// Whether it is to go to the outbox when its server can't be reached.
  var isFreezable: Bool { plan.freezing != nil }

  /// What the outbox says before anything is sent.
  private enum Beginning {
    case mayGo
    /// Its secret is missing, or others of its queue wait.
    case mustWait
    case isWritten(UInt64)
  }

  /// Looks what the outbox has of its queue, before anything is sent.
  func beginFreezable(_ freezing: FreezingPlan) {
    // Whoever joins the line leaves it at the end of the ticket.
    guard ticket.isOpen else { return }
    let desk = shared.outbox
    let plan = plan
    desk.join(freezing)
    desk.lane.submit {
      let begun = Result { () throws(NuthatchError) -> Beginning in
        if freezing.lacksSecret { return .mustWait }
        let live = desk.sender.live.withLock { $0 }
        if try desk.store.isBehind(freezing.queue, own: live.contains) { return .mustWait }
        guard freezing.freezing.isDurable, self.ticket.isOpen else { return .mayGo }
        let now = desk.store.clock.now()
        return .isWritten(
          try desk.freeze(freezing.frozen(plan, self.ticket, at: now, exposed: now, isLive: true)))
      }
      if !self.runtime.loop.post({ self.goOn(begun) }) { self.ticket.finish(.failed(self.runtime.refusal)) }
    }
  }

  /// Goes on after its program has answered a question. What was written before is sent with the same, if it comes to that.
  func goOnFreezable(_ freezing: FreezingPlan) {
    let (desk, plan, id) = (shared.outbox, plan, freezing.id)
    guard id != 0 else { return decide(nil) }
    desk.lane.submit {
      let added = Result { () throws(NuthatchError) in try desk.store.add(id, freezing.addition(plan)) }
      let isPosted = self.runtime.loop.post {
        switch added {
        case .success: self.decide(nil)
        case .failure(let error): self.fail(error)
        }
      }
      if !isPosted { self.ticket.finish(.failed(self.runtime.refusal)) }
    }
  }

  private func goOn(_ begun: Result<Beginning, NuthatchError>) {
    guard let freezing = plan.freezing else { return }
    // Its deadline may have come meanwhile.
    let isLate = freezing.isFreezing || !ticket.isOpen
    switch begun {
    case .failure(let error): fail(error)
    case .success(.isWritten(let id)) where freezing.isFreezing: drop(id)
    case .success(.isWritten(let id)):
      freezing.id = id
      if isLate { leaveRecord() } else { decide(nil) }
    case .success where isLate: return
    case .success(.mayGo): decide(nil)
    case .success(.mustWait): keep(freezing, after: nil)
    }
  }

  /// Whether this failure is one that freezes; then it does.
  func freezes(for error: NuthatchError) -> Bool {
    guard let freezing = plan.freezing, !freezing.isFreezing, error.status == nil,
      OutboxRules.Result.failure(error.code, status: nil, retryAfter: nil).isUnreachable
    else { return false }
    keep(freezing, after: error)
    return true
  }

  /// Keeps it, behind those of its queue that were submitted before and are still under way.
  private func keep(_ freezing: FreezingPlan, after error: NuthatchError?) {
    freezing.isFreezing = true
    let desk = shared.outbox
    guard !desk.inTurn(freezing, { self.write(freezing, after: error) }) else { return }
    // Not for ever: what isn't written isn't safe.
    _ = runtime.loop.at(runtime.loop.now &+ Self.longestTurn) { desk.hurry(freezing) }
  }

  private static var longestTurn: Int64 { 5_000_000_000 }

  private func write(_ freezing: FreezingPlan, after error: NuthatchError?) {
    // Its ticket may have ended while it waited: then `abandon` does what is left to do.
    guard ticket.isOpen else {
      freezing.isFreezing = false
      return
    }
    let desk = shared.outbox
    let (plan, id, elapsed) = (plan, freezing.id, elapsed)
    desk.lane.submit {
      let now = desk.store.clock.now()
      let hasReachedNobody =
        error.map { OutboxRules.Result.failure($0.code, status: nil, retryAfter: nil).hasReachedNobody }
        ?? true
      let exposed = hasReachedNobody ? nil : now.before(elapsed)
      let kept = Result { () throws(NuthatchError) -> UInt64 in
        guard id != 0, let error else {
          return try desk.freeze(freezing.frozen(plan, self.ticket, at: now, exposed: exposed, isLive: false))
        }
        let attempt = OutboxAttempt(
          ended: now, code: error.code, status: 0, reason: error.message, counted: hasReachedNobody ? 0 : 1,
          exposed: exposed, wait: 0, isUnreachable: true)
        try desk.store.end(id, attempt)
        return id
      }
      let isPosted = self.runtime.loop.post {
        switch kept {
        case .success(let id): self.tellFrozen(id)
        // Written before, it is there, whatever couldn't be added.
        case .failure where id != 0: self.tellFrozen(id)
        case .failure(let error): self.fail(error)
        }
      }
      if !isPosted { self.ticket.finish(.failed(self.runtime.refusal)) }
    }
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

  /// It is kept under another number.
  private func drop(_ id: UInt64) {
    let desk = shared.outbox
    desk.lane.submit {
      // What can't be removed now is in the list.
      _ = try? desk.store.remove(id)
      desk.endFirstAttempt(id)
    }
  }

  /// Its ticket has ended: nobody waits behind it any more, and what was still to be written isn't.
  func leaveLine() {
    guard let freezing = plan.freezing, freezing.turn != 0 else { return }
    freezing.isFreezing = false
    shared.outbox.leave(freezing)
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
