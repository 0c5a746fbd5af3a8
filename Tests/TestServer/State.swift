import CTestSockets
import Glibc

/// What a path answers with.
enum Route: Sendable {
  /// Each script once, the last one for ever.
  case scripts([Script], used: Int)
  case handler(@Sendable (ReceivedRequest) -> Script)
  case folder(Folder)

  /// Itself, of a sequence only the script whose turn it is.
  mutating func next() -> Route {
    guard case .scripts(let scripts, let used) = self else { return self }
    self = .scripts(scripts, used: min(used + 1, scripts.count - 1))
    return .scripts([scripts[used]], used: 0)
  }
}

/// A pause that scripts can wait at.
struct GateState {
  var isOpen = false
  /// How many may pass although it is closed.
  var permits = 0
  /// All that ever came to it.
  var reached = 0
  var waiting: Set<Int> = []
}

struct ConnectionRecord {
  var descriptor: CInt
  var peerPort: UInt16
  var thread: pthread_t?
  /// An eventfd, from the first time that it waits.
  var wake: CInt?
  /// Its place in the log, from its first logged request.
  var number: Int?
  /// Whether it is in `accepted`.
  var isCounted = true
  /// Whether its thread is to end it with a reset.
  var mustReset = false
  /// Whether it carried nothing but control requests, and some.
  var isControl = false
}

/// How many requests there were, and what became of them.
struct Tally {
  var requests = 0
  /// Played to the end of the script, cuts included.
  var answered = 0
  var clientLeft = 0

  mutating func change(_ outcome: ReceivedRequest.Outcome, by difference: Int) {
    switch outcome {
    case .pending: break
    case .answered, .cut: answered += difference
    case .clientLeft: clientLeft += difference
    }
  }
}

struct ActiveExchange {
  var connection: Int
  var host: String
}

/// Everything that connections and tests share.
struct State {
  var isStopping = false
  var isDown = false
  var listeners: [CInt] = []
  var acceptThread: pthread_t?

  var routes: [String: Route] = [:]
  var prefixes: [(prefix: String, route: Route)] = []
  var gates: [String: GateState] = [:]
  /// Counts resets: whoever waits at a gate of an earlier one passes.
  var generation = 0
  /// How many of the next connections are reset as soon as they are accepted.
  var refusals = 0

  var connections: [Int: ConnectionRecord] = [:]
  /// Threads that have ended and can be joined at once.
  var finished: [pthread_t] = []
  var lastConnection = 0
  /// Connections accepted, without those of the control interface and the server's own.
  var accepted = 0
  var ownPorts: Set<UInt16> = []
  var numbered = 0
  var malformed = 0

  var log: [ReceivedRequest] = []
  /// Places in `log`, by exchange.
  var places: [Int: Int] = [:]
  /// By path, by target where it has a query, and of all under the empty string.
  var tallies: [String: Tally] = [:]
  var lastExchange = 0
  var active: [Int: ActiveExchange] = [:]
  var highWater = 0
  var hostHighWater: [String: Int] = [:]

  /// The tally of a path, with or without query; nil: of all.
  func tally(_ path: String?) -> Tally { tallies[path ?? ""] ?? Tally() }

  /// Wakes every connection that waits at a gate (nil: at any), to look again.
  func wakeWaiters(at gate: String? = nil) {
    for (name, state) in gates where gate == nil || gate == name {
      for id in state.waiting {
        guard let wake = connections[id]?.wake else { continue }
        test_eventfd_signal(wake)
      }
    }
  }

  /// Begins to count a request as under way. Clients that hung up without the server having noticed don't count.
  mutating func begin(_ exchange: Int, connection: Int, host: String) {
    active[exchange] = ActiveExchange(connection: connection, host: host)
    let sameHost = active.values.count { $0.host == host }
    guard active.count > highWater || sameHost > hostHighWater[host, default: 0] else { return }
    let present = active.filter { entry in
      guard entry.key != exchange, let record = connections[entry.value.connection] else { return true }
      return events(of: record.descriptor, wanted: test_poll_hangup) == 0
    }
    highWater = max(highWater, present.count)
    hostHighWater[host] = max(hostHighWater[host, default: 0], present.values.count { $0.host == host })
  }

  mutating func setOutcome(_ outcome: ReceivedRequest.Outcome, of exchange: Int) {
    active[exchange] = nil
    guard let place = places[exchange] else { return }
    let before = log[place].outcome
    log[place].outcome = outcome
    count(log[place]) { tally in
      tally.change(before, by: -1)
      tally.change(outcome, by: 1)
    }
  }

  /// Writes a request into the log.
  mutating func record(_ request: ReceivedRequest, of exchange: Int) {
    places[exchange] = log.count
    log.append(request)
    count(request) { tally in
      tally.requests += 1
      tally.change(request.outcome, by: 1)
    }
  }

  private mutating func count(_ request: ReceivedRequest, _ change: (inout Tally) -> Void) {
    let path = request.path
    change(&tallies["", default: Tally()])
    change(&tallies[path, default: Tally()])
    if request.target != path { change(&tallies[request.target, default: Tally()]) }
  }

  mutating func reset() {
    clearLog()
    routes = [:]
    prefixes = []
    refusals = 0
    generation += 1
    wakeWaiters()
    gates = [:]
  }

  mutating func clearLog() {
    log = []
    places = [:]
    tallies = [:]
    malformed = 0
    accepted = 0
    numbered = 0
    for id in connections.keys {
      connections[id]?.number = nil
      connections[id]?.isCounted = false
    }
    highWater = 0
    hostHighWater = [:]
  }

  /// Whether no connection but those of the control interface is open.
  var isDisconnected: Bool { connections.values.allSatisfy(\.isControl) }

  /// Shuts connections down; their threads notice and end.
  func shutConnections(where isMeant: (ConnectionRecord) -> Bool = { _ in true }) {
    for record in connections.values where isMeant(record) { shutdown(record.descriptor, CInt(SHUT_RDWR)) }
  }

  /// Has connections reset by their threads, the control interface's excepted. Shutting only the reading side wakes
  /// a thread without telling the client of an orderly end.
  mutating func resetConnections() {
    for (id, record) in connections where !record.isControl {
      connections[id]?.mustReset = true
      shutdown(record.descriptor, CInt(SHUT_RD))
    }
  }
}
