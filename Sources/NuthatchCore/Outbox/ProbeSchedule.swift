import NuthatchTransport

/// Which servers are probed when. Pure: time is handed in.
///
/// A probe says that a connection can be made, and not that the server answers. So what waits is sent at once after the first
/// probe that succeeds; when that attempt fails, too, further successes count for nothing until a probe has failed.
struct ProbeSchedule {
  private struct Server {
    /// On the monotonic clock.
    var awaySince: Int64
    var next: Int64
    var isWaiting = true
    var isUnderWay = false
    /// Whether a probe succeeded, and none has failed since.
    var isDoubted = false
  }

  /// As many probes are under way at once.
  static let most = 16

  private let rules: OutboxRules
  private var servers: [Origin: Server] = [:]
  private var underWay: Int { servers.values.count(where: \.isUnderWay) }

  init(_ rules: OutboxRules) { self.rules = rules }

  /// - Parameters:
  ///   - waiting: the servers that requests wait for, and for how long they have been away.
  ///   - known: these, and those that a request is on its way to at this moment.
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

  /// The servers to be probed now, those first that have waited for the longest time.
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

  /// When there is something to do; nil for never. Where as many probes as may be are under way, their ends are waited for.
  var nextTime: Int64? {
    guard underWay < Self.most else { return nil }
    let next = servers.values.lazy.filter { $0.isWaiting && !$0.isUnderWay }.map(\.next).min()
    return next == .max ? nil : next
  }

  /// Whether what waits for this server is to be sent now.
  mutating func noteEnd(of origin: Origin, isReachable: Bool) -> Bool {
    guard let server = servers[origin], server.isUnderWay else { return false }
    servers[origin]?.isUnderWay = false
    servers[origin]?.isDoubted = isReachable
    return isReachable && !server.isDoubted && server.isWaiting
  }

  /// The probe was ended before it said anything.
  mutating func noteCancel(of origin: Origin) { servers[origin]?.isUnderWay = false }
}
