import NuthatchBase
import NuthatchTransport

/// Detects when a server that requests of the outbox wait for can be reached again, without sending a request. Every few
/// seconds (`OutboxRules.probeInterval`) it opens a connection and closes it at once.
///
/// The connection is the one that the request would open, with the same address guard and the same proxy, but without TLS. For
/// plain `http` through an HTTP proxy the connection ends at the proxy: then only the return of the proxy is detected. Each
/// process that sends from the outbox has its own probes. A probe doesn't count as an attempt. While no request waits for a
/// server, there is no timer.
///
/// Confined to the loop's thread, hence Sendable.
final class OutboxProbes: @unchecked Sendable {
  struct Server {
    var request: TransferRequest
    /// How long the server has been unreachable, in nanoseconds.
    var absence: Int64
  }

  private let runtime: Runtime
  /// Called with a server to which a connection could be made.
  private let isBack: (Origin) -> Void
  private var schedule: ProbeSchedule
  private var requests: [Origin: TransferRequest] = [:]
  private var underWay: [Origin: UInt64] = [:]
  private var timer: LoopTimer?

  /// The longest time of a probe, in nanoseconds. If a server comes back after that, the next probe detects it.
  private static let timeout: Int64 = 3_000_000_000

  init(_ runtime: Runtime, _ rules: OutboxRules, isBack: @escaping (Origin) -> Void) {
    self.runtime = runtime
    self.isBack = isBack
    schedule = ProbeSchedule(rules)
  }

  /// - Parameters:
  ///   - servers: the servers that requests wait for.
  ///   - known: these servers, and all others whose first request last failed as unreachable. Their state is kept.
  func watch(_ servers: [Server], known: Set<Origin>) {
    var waiting: [Origin: Int64] = [:]
    requests = [:]
    // If several requests wait for one server, the first one is used.
    for server in servers where waiting[server.request.url.origin] == nil {
      waiting[server.request.url.origin] = server.absence
      requests[server.request.url.origin] = server.request
    }
    schedule.adopt(waiting: waiting, known: known, at: runtime.loop.now)
    for (origin, transfer) in underWay where requests[origin] == nil {
      runtime.transport.cancel(transfer)
      underWay[origin] = nil
      schedule.noteCancel(of: origin)
    }
    probeDue()
  }

  func stop() { watch([], known: []) }

  private func probeDue() {
    if let timer { runtime.loop.cancelTimer(timer) }
    timer = nil
    for origin in schedule.takeDue(at: runtime.loop.now) {
      guard var request = requests[origin] else { continue }
      request.silence = Self.timeout
      let probe = Probe { [weak self] isReachable in
        guard let self, self.underWay[origin] != nil else { return }
        self.ended(origin, isReachable: isReachable)
        self.probeDue()
      }
      underWay[origin] = runtime.transport.start(request, sink: probe)
    }
    timer = schedule.nextTime.map { time in
      runtime.loop.at(time) { [weak self] in
        self?.timer = nil
        self?.probeDue()
      }
    }
  }

  private func ended(_ origin: Origin, isReachable: Bool) {
    underWay[origin] = nil
    guard schedule.noteEnd(of: origin, isReachable: isReachable) else { return }
    runtime.queue.noteReachable(origin, now: runtime.loop.now)
    isBack(origin)
  }
}

/// Reports the end of a probe.
// It never changes, hence Sendable.
private final class Probe: TransferSink, @unchecked Sendable {
  private let ended: (Bool) -> Void

  init(_ ended: @escaping (Bool) -> Void) { self.ended = ended }

  func interim(_ head: ResponseHead) {}
  func head(_ head: ResponseHead) -> TransferVerdict { .stop }
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict { .stop }
  func finished(_ fault: TransportFault?, _ timings: TransferTimings) { ended(fault == nil) }
}
