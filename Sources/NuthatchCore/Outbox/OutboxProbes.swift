import NuthatchBase
import NuthatchTransport

/// Notices that a server is back which keeps requests of the outbox waiting, without sending one of them: by a connection every
/// few seconds (`OutboxRules.probeInterval`), which is closed at once.
///
/// The connection is the one that the request would open, with the same guard and the same proxy, but without TLS. Through an
/// HTTP proxy a plain `http` request's connection ends at the proxy: then only the proxy's own return is noticed.
/// Each process that sends from the outbox probes by itself. Nothing of it is an attempt, and where nothing waits for a
/// server, there is no timer.
///
/// Confined to the loop's thread, hence Sendable.
final class OutboxProbes: @unchecked Sendable {
  struct Server {
    var request: TransferRequest
    /// For how long it has been away, in nanoseconds.
    var absence: Int64
  }

  private let runtime: Runtime
  /// Called with a server to which a connection could be made.
  private let isBack: (Origin) -> Void
  private var schedule: ProbeSchedule
  private var requests: [Origin: TransferRequest] = [:]
  private var underWay: [Origin: UInt64] = [:]
  private var timer: LoopTimer?

  /// A probe is given up after this time: a server that comes back meanwhile is met by the next one.
  private static let patience: Int64 = 3_000_000_000

  init(_ runtime: Runtime, _ rules: OutboxRules, isBack: @escaping (Origin) -> Void) {
    self.runtime = runtime
    self.isBack = isBack
    schedule = ProbeSchedule(rules)
  }

  /// - Parameters:
  ///   - servers: those that requests wait for.
  ///   - known: these, and those that a request is on its way to at this moment.
  func watch(_ servers: [Server], known: Set<Origin>) {
    var waiting: [Origin: Int64] = [:]
    requests = [:]
    // The first in line counts.
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
    goOn()
  }

  func stop() { watch([], known: []) }

  private func goOn() {
    if let timer { runtime.loop.cancelTimer(timer) }
    timer = nil
    for origin in schedule.takeDue(at: runtime.loop.now) {
      guard var request = requests[origin] else { continue }
      request.silence = Self.patience
      let probe = Probe { [weak self] isReachable in
        guard let self, self.underWay[origin] != nil else { return }
        self.ended(origin, isReachable: isReachable)
        self.goOn()
      }
      underWay[origin] = runtime.transport.start(request, sink: probe)
    }
    timer = schedule.nextTime.map { time in
      runtime.loop.at(time) { [weak self] in
        self?.timer = nil
        self?.goOn()
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

/// The end of a probe; nothing else comes.
// It never changes, hence Sendable.
private final class Probe: TransferSink, @unchecked Sendable {
  private let ended: (Bool) -> Void

  init(_ ended: @escaping (Bool) -> Void) { self.ended = ended }

  func interim(_ head: ResponseHead) {}
  func head(_ head: ResponseHead) -> TransferVerdict { .stop }
  func body(_ bytes: UnsafeRawBufferPointer) -> TransferVerdict { .stop }
  func finished(_ fault: TransportFault?, _ timings: TransferTimings) { ended(fault == nil) }
}
