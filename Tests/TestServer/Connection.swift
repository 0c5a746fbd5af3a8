import Glibc

/// One connection's thread: reads requests, finds their scripts, plays them.
struct Connection {
  let id: Int
  let descriptor: CInt
  let core: Core

  func serve() {
    var reader = RequestReader(descriptor)
    var ending = Ending.close
    do throws(RequestReader.Failure) {
      repeat { ending = try exchange(&reader) } while ending == .keep
    } catch {
      if case .refused(let status) = error { refuse(status) }
      ending = .closeUnread
    }
    end(ending)
  }

  private func refuse(_ status: Int) {
    core.monitor.access { $0.malformed += 1 }
    let head = "HTTP/1.1 \(status) \(reasons[status] ?? "")\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    _ = sendAll(Array(head.utf8)[...], to: descriptor)
  }

  /// How an exchange leaves the connection.
  enum Ending {
    case keep
    case close
    /// Close although the client may still be sending: wait for it, or it would get a reset before the answer.
    case closeUnread
    case reset
  }

  private func exchange(_ reader: inout RequestReader) throws(RequestReader.Failure) -> Ending {
    var request = try reader.head()
    if request.path.hasPrefix(Control.prefix) { return try control(request, &reader) }

    let (exchange, route) = core.monitor.access { state in register(request, in: &state) }
    defer { core.monitor.access { $0.active[exchange] = nil } }
    let early: Script? = if case .scripts(let scripts, _) = route { scripts[0] } else { nil }
    let readsBody = early?.readsBody ?? true
    if readsBody {
      let failure = readBody(of: &request, &reader, answersExpect: early?.answersExpect ?? true)
      if let failure {
        _ = core.monitor.access { record(request, exchange, in: &$0, outcome: .clientLeft) }
        throw failure
      }
    }
    request = core.monitor.access { record(request, exchange, in: &$0, outcome: .pending) }
    let script = early ?? Answers.script(for: request, route: route)
    var player = Player(script: script, request: request, connection: self, exchange: exchange)
    let ending = player.play()
    return readsBody || ending == .reset ? ending : .closeUnread
  }

  private func readBody(
    of request: inout ReceivedRequest, _ reader: inout RequestReader, answersExpect: Bool = true
  ) -> RequestReader.Failure? {
    if answersExpect, request.headers["Expect"]?.lowercased() == "100-continue", !reader.hasMore {
      _ = sendAll(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)[...], to: descriptor)
    }
    let (body, failure) = reader.body(of: request)
    request.body = body
    return failure
  }

  /// Takes the next script of the request's route and counts the request as under way.
  private func register(_ request: ReceivedRequest, in state: inout State) -> (exchange: Int, route: Route?) {
    state.lastExchange += 1
    state.begin(state.lastExchange, connection: id, host: request.headers["Host"] ?? "")
    state.connections[id]?.isControl = false
    if state.connections[id]?.number == nil {
      state.numbered += 1
      state.connections[id]?.number = state.numbered
    }
    return (state.lastExchange, Answers.takeRoute(for: request, in: &state))
  }

  /// Writes the request into the log.
  private func record(
    _ request: ReceivedRequest, _ exchange: Int, in state: inout State, outcome: ReceivedRequest.Outcome
  ) -> ReceivedRequest {
    var entry = request
    entry.number = state.log.count + 1
    entry.connection = state.connections[id]?.number ?? 0
    entry.outcome = outcome
    state.record(entry, of: exchange)
    return entry
  }

  private func control(
    _ head: ReceivedRequest, _ reader: inout RequestReader
  ) throws(RequestReader.Failure) -> Ending {
    var request = head
    core.monitor.access { state in
      guard let record = state.connections[id], record.number == nil else { return }
      state.connections[id]?.isControl = true
      guard record.isCounted else { return }
      state.connections[id]?.isCounted = false
      state.accepted -= 1
    }
    if let failure = readBody(of: &request, &reader) { throw failure }
    let script = Control(core: core).answer(request)
    var player = Player(script: script, request: request, connection: self, exchange: 0)
    return player.play()
  }

  private func end(_ ending: Ending) {
    let isCut = core.monitor.access { $0.connections[id]?.mustReset ?? false }
    if isCut || ending == .reset {
      if !isCut { drainOutput(descriptor) }
      closeWillReset(descriptor)
    } else {
      shutdown(descriptor, CInt(SHUT_WR))
      swallow(patiently: ending == .closeUnread)
    }
    core.monitor.access { state in
      close(descriptor)
      guard let record = state.connections.removeValue(forKey: id) else { return }
      if let wake = record.wake { close(wake) }
      if let thread = record.thread { state.finished.append(thread) }
    }
  }

  /// Reads what the client still sends: closing with unread input would turn into a reset.
  private func swallow(patiently: Bool) {
    let deadline = now() + 5
    var rubbish: [UInt8] = []
    while true {
      if patiently {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let left = deadline - now()
        guard left > 0, poll(&entry, 1, CInt(left * 1000)) > 0 else { return }
      }
      guard receive(descriptor, into: &rubbish, flags: CInt(MSG_DONTWAIT)) > 0 else { return }
      rubbish.removeAll(keepingCapacity: true)
    }
  }
}
