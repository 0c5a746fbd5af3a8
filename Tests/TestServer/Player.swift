import CTestSockets
import Glibc

/// Plays one script on a connection.
struct Player {
  private let script: Script
  private let request: ReceivedRequest
  private let connection: Connection
  private let exchange: Int
  private let head: HeadWriter
  private var headRest: ArraySlice<UInt8>
  /// Kept back until more comes, a pause, or the end: the last bytes leave after the bookkeeping, so that a
  /// client that has its answer never finds its request still counted as under way.
  private var pending: [UInt8] = []

  private static let sendSize = 64 << 10

  init(script: Script, request: ReceivedRequest, connection: Connection, exchange: Int) {
    self.script = Conditions.apply(to: script, for: request)
    self.request = request
    self.connection = connection
    self.exchange = exchange
    head = HeadWriter(script: self.script, request: request)
    headRest = self.script.sendsHead ? head.bytes[...] : []
  }

  private enum Interruption: Error {
    case reset
    case close
    case clientLeft
  }

  mutating func play() -> Connection.Ending {
    do throws(Interruption) {
      for step in script.steps { try perform(step) }
      try append(restOfHead())
      settle(.answered)
      try flush()
      return head.keepsConnection ? .keep : .close
    } catch {
      settle(error == .clientLeft ? .clientLeft : .cut)
      if error == .clientLeft { return .close }
      do throws(Interruption) { try flush() } catch { settle(.clientLeft) }
      return error == .reset ? .reset : .close
    }
  }

  private func settle(_ outcome: ReceivedRequest.Outcome) {
    connection.core.monitor.access { $0.setOutcome(outcome, of: exchange) }
  }

  private mutating func perform(_ step: Script.Step) throws(Interruption) {
    if step.isBody {
      try append(restOfHead())
      if request.method == "HEAD" && script.sendsHead { return }
    }
    switch step {
    case .head: try append(restOfHead())
    case .headPart(let count): try append(restOfHead(upTo: count))
    case .dripHead(let piece, let time): try drip(restOfHead(), piece, time)
    case .bytes(let bytes), .badChunk(let bytes), .raw(let bytes): try append(bytes[...])
    case .fill(let count, let byte):
      let block = [UInt8](repeating: byte, count: Self.sendSize)
      for start in stride(from: 0, to: count, by: block.count) { try append(block.prefix(count - start)) }
    case .drip(let bytes, let piece, let time): try drip(bytes[...], piece, time)
    case .chunk(let bytes):
      try append(Array("\(String(bytes.count, radix: 16))\r\n".utf8)[...])
      try append(bytes[...])
      try append([13, 10])
    case .lastChunk(let trailers): try append(Array("0\r\n\(HeadWriter.fields(trailers))\r\n".utf8)[...])
    case .interim(let status, let headers):
      let fields = HeadWriter.fields(headers)
      try append(Array("HTTP/1.1 \(status) \(reasons[status] ?? "")\r\n\(fields)\r\n".utf8)[...])
    case .wait(let gate):
      try flush()
      try wait(at: gate)
    case .pause(let time):
      try flush()
      try pause(time)
    case .reset: throw .reset
    case .close: throw .close
    }
  }

  private mutating func restOfHead(upTo count: Int = .max) -> ArraySlice<UInt8> {
    defer { headRest = headRest.dropFirst(max(0, count)) }
    return headRest.prefix(max(0, count))
  }

  private mutating func append(_ bytes: ArraySlice<UInt8>) throws(Interruption) {
    var rest = bytes
    while !rest.isEmpty {
      if pending.count >= Self.sendSize { try flush() }
      pending += rest.prefix(Self.sendSize)
      rest = rest.dropFirst(Self.sendSize)
    }
  }

  private mutating func flush() throws(Interruption) {
    guard sendAll(pending[...], to: connection.descriptor) else { throw .clientLeft }
    pending.removeAll(keepingCapacity: true)
  }

  private mutating func drip(_ bytes: ArraySlice<UInt8>, _ piece: Int, _ time: Int) throws(Interruption) {
    var rest = bytes
    while !rest.isEmpty {
      try append(rest.prefix(max(1, piece)))
      rest = rest.dropFirst(max(1, piece))
      try flush()
      try pause(time)
    }
  }

  private func pause(_ milliseconds: Int) throws(Interruption) {
    let deadline = now() + Double(milliseconds) / 1000
    while true {
      let left = deadline - now()
      guard left > 0 else { return }
      var entry = pollfd(fd: connection.descriptor, events: test_poll_hangup, revents: 0)
      if poll(&entry, 1, CInt(min(left * 1000 + 1, 1e6))) > 0 { throw .clientLeft }
    }
  }

  /// A client that closes, or half-closes, meanwhile has left.
  private func wait(at gate: String) throws(Interruption) {
    let monitor = connection.core.monitor
    let id = connection.id
    let arrival = monitor.access { state -> (generation: Int, wake: CInt)? in
      let wake = state.connections[id]?.wake ?? test_eventfd()
      guard wake >= 0, state.connections[id] != nil else { return nil }
      state.connections[id]?.wake = wake
      state.gates[gate, default: GateState()].reached += 1
      state.gates[gate]?.waiting.insert(id)
      return (state.generation, wake)
    }
    guard let arrival else { throw .clientLeft }
    defer { monitor.access { _ = $0.gates[gate]?.waiting.remove(id) } }
    while true {
      let mayPass = monitor.access { state in
        if state.isStopping || state.generation != arrival.generation { return true }
        return state.gates[gate]?.admit() ?? true
      }
      if mayPass { return }
      var entries = [
        pollfd(fd: arrival.wake, events: Int16(POLLIN), revents: 0),
        pollfd(fd: connection.descriptor, events: test_poll_hangup, revents: 0),
      ]
      poll(&entries, 2, -1)
      if entries[1].revents != 0 { throw .clientLeft }
      test_eventfd_clear(arrival.wake)
    }
  }
}

extension GateState {
  /// Whether one more may pass now; uses up a permit of a closed gate.
  fileprivate mutating func admit() -> Bool {
    if isOpen { return true }
    guard permits > 0 else { return false }
    permits -= 1
    return true
  }
}
