import NuthatchBase
import NuthatchHTTP

/// The hosts of a queue: those with entries, and idle ones that something is remembered of; and when those may start something
/// that may not yet.
final class QueueHosts {
  /// Idle hosts remembered (their circuit, pause, latency, protocol); beyond it the one idle for longest is forgotten.
  static let idleKept = 4096

  private var known: [Origin: QueueHost] = [:]
  private var idle = PositionedHeap<HostsByIdleness>()
  private var waking = PositionedHeap<HostsByWake>()
  private var lastNumber: UInt32 = 0
  private var lastIdle: UInt64 = 0

  var all: Dictionary<Origin, QueueHost>.Values { known.values }

  subscript(origin: Origin) -> QueueHost? { known[origin] }

  /// The host of that origin, known or new; it is idle no more.
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

  /// Notes a host without entries as idle.
  func retire(_ host: QueueHost) {
    guard host.entries == 0 else { return }
    lastIdle += 1
    idle.set(host, key: lastIdle)
    guard idle.count > QueueHosts.idleKept, let oldest = idle.first else { return }
    idle.remove(oldest)
    waking.remove(oldest)
    known[oldest.origin] = nil
  }

  /// Offers the pools the lanes of a host of which something has changed, or withdraws them; and has it woken when it may start
  /// something, or when an entry has waited for it long enough.
  func refresh(_ host: QueueHost, _ settings: QueueSettings, at now: Int64) {
    let gate = host.gate(at: now, settings)
    host.offerLanes(gate == .open)
    // A wake that is due is handled before another is set: entries that have waited long enough are refused then.
    guard !waking.isDue(host, by: now) else { return }
    var time = Int64.max
    if case .until(let opening) = gate { time = opening }
    if let end = host.givenUpAt, end > now { time = min(time, end) }
    if time < .max, host.hasQueued { waking.set(host, at: time) } else { waking.remove(host) }
  }

  /// When the next one wakes.
  var nextDue: Int64? { waking.nextDue }

  /// Takes one whose time has come out of those that are to be woken.
  func takeDue(by now: Int64) -> QueueHost? { waking.takeDue(by: now) }
}
