import NuthatchTransport

/// Decides which servers are probed, and when. Reads no clock: the time is an argument.
///
/// A successful probe shows that a connection can be made, not that the server answers. After the first success, waiting
/// requests are sent at once. If they fail, further successes are ignored until a probe has failed.
struct ProbeSchedule {
  private struct Server {
    /// Monotonic, in nanoseconds, like `next`.
    var awaySince: Int64
    var next: Int64
    var isWaiting = true
    var isUnderWay = false
    /// Whether a probe has succeeded, and none has failed since.
    var isDoubted = false
  }

  /// The most probes that are under way at once.
  static let most = 16

  private let rules: OutboxRules
  private var servers: [Origin: Server] = [:]
  private var underWay: Int { servers.values.count(where: \.isUnderWay) }

  init(_ rules: OutboxRules) { self.rules = rules }

  /// - Parameters:
  ///   - waiting: the servers that requests wait for, and how long they have been unreachable.
  ///   - known: these servers, and all others whose first request last failed as unreachable. Their state is kept.
  mutating func adopt(waiting: [Origin: Int64], known: Set<Origin>, at now: Int64) {
    servers = servers.filter { known.contains($0.key) || waiting[$0.key] != nil }
    for origin in servers.keys { servers[origin]?.isWaiting = waiting[origin] != nil }
    for (origin, absence) in waiting {
      if servers[origin] != nil {
        servers[origin]?.awaySince = now &- absence
      } else if let interval = rules.probeInterval(absence: absence) {
        servers[origin] = Server(awaySince: now &- absence, next: now &+ interval)
      }
    }
  }

  /// Returns the servers to probe now; those that have waited longest come first.
  mutating func takeDue(at now: Int64) -> [Origin] {
    let due = servers.filter { $0.value.isWaiting && !$0.value.isUnderWay && $0.value.next <= now }
    let chosen = due.sorted { $0.value.next < $1.value.next }.prefix(max(0, Self.most - underWay)).map(\.key)
    for origin in chosen {
      guard let interval = rules.probeInterval(absence: now &- (servers[origin]?.awaySince ?? now)) else {
        servers[origin]?.next = .max
        continue
      }
      servers[origin]?.next = now &+ interval
      servers[origin]?.isUnderWay = true
    }
    return chosen.filter { servers[$0]?.isUnderWay == true }
  }

  /// The time of the next probe; nil for none, or if `most` probes are under way, because one of them must end first.
  var nextTime: Int64? {
    guard underWay < Self.most else { return nil }
    let next = servers.values.lazy.filter { $0.isWaiting && !$0.isUnderWay }.map(\.next).min()
    return next == .max ? nil : next
  }

  /// Notes the end of a probe. Returns whether requests for this server are to be sent now.
  mutating func noteEnd(of origin: Origin, isReachable: Bool) -> Bool {
    guard let server = servers[origin], server.isUnderWay else { return false }
    servers[origin]?.isUnderWay = false
    servers[origin]?.isDoubted = isReachable
    return isReachable && !server.isDoubted && server.isWaiting
  }

  mutating func noteCancel(of origin: Origin) { servers[origin]?.isUnderWay = false }
}
