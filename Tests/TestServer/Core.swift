import CTestSockets
import Glibc

/// The server's working parts, kept alive by its threads; `TestServer` is the handle that tests hold.
final class Core: Sendable {
  let port: UInt16
  let families: [Family]
  let monitor = Monitor(State())
  /// Bound but never listening: the port stays ours while the server is down.
  private let reservations: [CInt]
  /// An eventfd that makes the accepting thread look at the state again.
  private let wake: CInt

  init(families: [Family]) throws {
    var held: [CInt] = []
    // They stay bound meanwhile, so that the kernel chooses other ones.
    var refused: [CInt] = []
    defer { refused.forEach { close($0) } }
    for attempt in 0... {
      held = [try boundSocket(.v4, port: 0)]
      let port = portNumber(of: held[0])
      guard UsedPorts.claim(port) else {
        refused += held
        continue
      }
      guard families.contains(where: { $0 == .v6 }) else { break }
      do {
        held.append(try boundSocket(.v6, port: port))
        break
      } catch {
        held.forEach { close($0) }
        if attempt == 20 { throw error }
      }
    }
    self.families = families
    reservations = held
    port = portNumber(of: held[0])
    wake = test_eventfd()
    guard wake >= 0 else { throw SystemError("eventfd") }
    try listenAgain()
    let thread = startThread { [self] in acceptConnections() }
    monitor.access { $0.acceptThread = thread }
  }

  deinit {
    reservations.forEach { close($0) }
    close(wake)
  }

  /// Listens on the server's port, as at the start or after `goDown`.
  func listenAgain() throws {
    guard monitor.access({ $0.listeners.isEmpty && !$0.isStopping }) else { return }
    var sockets: [CInt] = []
    for family in families {
      let descriptor = try boundSocket(family, port: port)
      guard listen(descriptor, 1024) == 0 else { throw SystemError("listen") }
      sockets.append(descriptor)
    }
    monitor.access { state in
      state.listeners = sockets
      state.isDown = false
    }
    test_eventfd_signal(wake)
  }

  /// Refuses connections until `listenAgain`, and resets those that are open.
  func goDown() {
    monitor.access { $0.isDown = true }
    test_eventfd_signal(wake)
    _ = monitor.wait(seconds: 60) { $0.listeners.isEmpty }
    // Several times: on a busy machine a thread may begin seconds later, and its client must get a reset all the same.
    for _ in 0..<10 {
      monitor.access { $0.resetConnections() }
      if monitor.wait(seconds: 2, until: { $0.isDisconnected }) { return }
      // Who is stuck in sending to a client that doesn't read needs the other side shut too.
      monitor.access { state in state.shutConnections { !$0.isControl && unsent($0.descriptor) > 0 } }
    }
    monitor.access { state in state.shutConnections { !$0.isControl } }
    _ = monitor.wait(seconds: 60) { $0.isDisconnected }
  }

  /// Ends everything and joins the threads. Harmless when repeated.
  func stop() {
    let thread = monitor.access { state in
      state.isStopping = true
      state.wakeWaiters()
      state.shutConnections()
      defer { state.acceptThread = nil }
      return state.acceptThread
    }
    test_eventfd_signal(wake)
    if let thread { pthread_join(thread, nil) }
    _ = monitor.wait(seconds: 60) { $0.connections.isEmpty }
    joinFinished()
    monitor.access { $0.reset() }
  }

  /// Makes a connection of its own: when that one is accepted, all earlier ones are.
  func settleConnections() {
    guard let descriptor = try? boundSocket(.v4, port: 0) else { return }
    let own = portNumber(of: descriptor)
    monitor.access { _ = $0.ownPorts.insert(own) }
    if withLoopback(.v4, port: port, { connect(descriptor, $0, $1) }) == 0 {
      _ = monitor.wait(seconds: 30) { !$0.ownPorts.contains(own) }
    }
    monitor.access { _ = $0.ownPorts.remove(own) }
    close(descriptor)
  }

  private func joinFinished() {
    let threads = monitor.access { state in
      defer { state.finished = [] }
      return state.finished
    }
    for thread in threads where pthread_equal(thread, pthread_self()) == 0 { pthread_join(thread, nil) }
  }

  private func acceptConnections() {
    while true {
      let (listeners, isOver) = monitor.access { state in
        if state.isDown || state.isStopping {
          state.listeners.forEach { close($0) }
          state.listeners = []
        }
        return (state.listeners, state.isStopping)
      }
      if isOver { return }
      var entries = ([wake] + listeners).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      poll(&entries, nfds_t(entries.count), -1)
      test_eventfd_clear(wake)
      for entry in entries.dropFirst() where entry.revents != 0 {
        let descriptor = test_accept(entry.fd)
        if descriptor >= 0 {
          welcome(descriptor)
        } else if errno == EMFILE || errno == ENFILE {
          poll(nil, 0, 10)
        }
      }
      joinFinished()
    }
  }

  private func welcome(_ descriptor: CInt) {
    setOption(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, 1)
    let peer = portNumber(of: descriptor, peer: true)
    let id = monitor.access { state -> Int? in
      let isOwn = state.ownPorts.remove(peer) != nil
      if !isOwn { state.accepted += 1 }
      if !isOwn && state.refusals > 0 || state.isStopping {
        state.refusals -= state.isStopping ? 0 : 1
        return nil
      }
      state.lastConnection += 1
      var record = ConnectionRecord(descriptor: descriptor, peerPort: peer)
      record.isCounted = !isOwn
      state.connections[state.lastConnection] = record
      return state.lastConnection
    }
    guard let id else {
      closeWillReset(descriptor)
      close(descriptor)
      return
    }
    // The thread's end needs the handle, so it may not get that far before the handle is written down.
    monitor.access { state in
      let thread = startThread { [self] in Connection(id: id, descriptor: descriptor, core: self).serve() }
      if thread == nil {
        state.connections[id] = nil
        close(descriptor)
      }
      state.connections[id]?.thread = thread
    }
  }
}
