import NuthatchBase
import NuthatchHTTP

/// The hosts of a queue: those with entries, and idle ones whose state is remembered. Also knows when to check a host again
/// that may start nothing now.
final class QueueHosts {
  /// The number of idle hosts whose state (circuit, pause, latency, protocol) is remembered. If there are more, the host that
  /// has been idle longest is forgotten.
  static let idleKept = 4096

  private var known: [Origin: QueueHost] = [:]
  private var idle = PositionedHeap<HostsByIdleness>()
  private var waking = PositionedHeap<HostsByWake>()
  private var lastNumber: UInt32 = 0
  private var lastIdle: UInt64 = 0

  var all: Dictionary<Origin, QueueHost>.Values { known.values }

  subscript(origin: Origin) -> QueueHost? { known[origin] }

  /// Returns the host of the origin, made if it is unknown. Removes it from the idle hosts.
  func host(_ origin: Origin, _ places: QueuePlaces) -> QueueHost {
    if let host = known[origin] {
      idle.remove(host)
      return host
    }
    lastNumber &+= 1
    let new = QueueHost(origin, number: lastNumber, places)
    known[origin] = new
    return new
  }

  /// Marks a host as idle, if it has no entries.
  func retire(_ host: QueueHost) {
    guard host.entryCount == 0 else { return }
    lastIdle += 1
    idle.set(host, key: lastIdle)
    guard idle.count > QueueHosts.idleKept, let oldest = idle.first else { return }
    idle.remove(oldest)
    waking.remove(oldest)
    known[oldest.origin] = nil
  }

  /// Updates the pools after a change of a host. Also sets its next wake-up: when it may start an entry, or when an entry's
  /// patience ends.
  func refresh(_ host: QueueHost, _ settings: QueueSettings, at now: Int64) {
    let gate = host.gate(at: now, settings)
    host.offerQueues(gate == .open)
    // `wakeSleepers` must handle a due wake-up before the next one is set, because it refuses the entries whose patience is
    // over.
    guard !waking.isDue(host, by: now) else { return }
    var time = Int64.max
    if case .until(let opening) = gate { time = opening }
    if let end = host.givenUpAt, end > now { time = min(time, end) }
    if time < .max, host.hasQueued { waking.set(host, at: time) } else { waking.remove(host) }
  }

  /// The time of the next wake-up.
  var nextDue: Int64? { waking.nextDue }

  /// Removes and returns a host whose wake-up is due.
  func takeDue(by now: Int64) -> QueueHost? { waking.takeDue(by: now) }
}
