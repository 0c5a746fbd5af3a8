/// What the server saw. A request is seen when it was read to its end, or given up by its client.
extension TestServer {
  /// All requests in the order in which they were seen.
  public var requests: [ReceivedRequest] { core.monitor.access { $0.log } }

  /// The requests for a path, with or without query.
  public func requests(_ path: String) -> [ReceivedRequest] {
    requests.filter { $0.path == path || $0.target == path }
  }

  /// How many requests there were for a path (nil: for any).
  public func count(_ path: String? = nil) -> Int { core.monitor.access { $0.tally(path).requests } }

  /// Waits until there were so many requests for a path (nil: any); false when the time is over.
  public func waitForRequests(_ count: Int, path: String? = nil, seconds: Double = 30) -> Bool {
    core.monitor.wait(seconds: seconds) { $0.tally(path).requests >= count }
  }

  /// Waits until so many requests for a path (nil: any) were answered to the end of their script.
  public func waitForAnswers(_ count: Int, path: String? = nil, seconds: Double = 30) -> Bool {
    core.monitor.wait(seconds: seconds) { $0.tally(path).answered >= count }
  }

  /// Waits until so many clients have left during a request or its answer. A client that leaves is noticed while
  /// the script waits, pauses or sends.
  public func waitForDisconnect(_ count: Int = 1, path: String? = nil, seconds: Double = 30) -> Bool {
    core.monitor.wait(seconds: seconds) { $0.tally(path).clientLeft >= count }
  }

  /// Waits until no request is under way.
  public func waitUntilIdle(seconds: Double = 30) -> Bool {
    core.monitor.wait(seconds: seconds) { $0.active.isEmpty }
  }

  /// How many connections carried at least one request.
  public var connectionCount: Int { core.monitor.access { $0.numbered } }

  /// How many connections were accepted, with those that carried nothing. Exact: those that the kernel holds
  /// ready are waited for.
  public var acceptedCount: Int {
    core.settleConnections()
    return core.monitor.access { $0.accepted }
  }

  /// How many connections are open now.
  public var openConnections: Int { core.monitor.access { $0.connections.count } }

  /// Waits until every connection is closed.
  public func waitUntilDisconnected(seconds: Double = 30) -> Bool {
    core.monitor.wait(seconds: seconds) { $0.isDisconnected }
  }

  /// How many requests came that weren't HTTP.
  public var malformedCount: Int { core.monitor.access { $0.malformed } }

  /// How many requests are under way.
  public var underWay: Int { core.monitor.access { $0.active.count } }

  /// The most requests that ever were under way at once; with a `Host` value such as `127.0.0.1:8080`, of that host.
  /// A request is under way from its head until just before its answer's last bytes leave, so that a client that
  /// keeps a limit is never seen above it.
  public func highWater(host: String? = nil) -> Int {
    core.monitor.access { state in host.map { state.hostHighWater[$0] ?? 0 } ?? state.highWater }
  }
}
