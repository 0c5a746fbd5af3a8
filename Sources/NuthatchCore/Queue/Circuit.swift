/// Says when no request may be sent to a host, because the host can't be reached.
///
/// It opens after `threshold` connection faults in a row. While it is open, nothing is sent: requests fail at once, or wait if
/// they have patience. After a back-off it is half open: one request, the probe, is sent. The back-off doubles with every opening
/// without a success in between. An answer of any status closes the circuit, even if its request began earlier. A fault of the
/// probe opens it again.
struct Circuit {
  struct Settings: Equatable, Sendable {
    /// The number of faults in a row that open it. 0: never. Default: 5.
    var threshold = 5
    /// The first back-off, in nanoseconds. Default: 1 s.
    var firstBackOff: Int64 = 1_000_000_000
    /// The longest back-off, in nanoseconds. Default: 60 s.
    var longestBackOff: Int64 = 60_000_000_000
  }

  enum State: Equatable {
    case closed
    case open(until: Int64)
    case halfOpen
  }

  private var faults = 0
  private var openings = 0
  private var openUntil: Int64?

  func state(at now: Int64) -> State {
    guard let openUntil else { return .closed }
    return now < openUntil ? .open(until: openUntil) : .halfOpen
  }

  /// Returns the nanoseconds until the circuit is half open; 0 if it isn't open.
  func left(at now: Int64) -> Int64 { max(0, (openUntil ?? now) &- now) }

  mutating func noteAnswer() { self = Circuit() }

  /// Notes a connection fault. Returns true if it opened the circuit. While the circuit isn't closed, only a fault of the probe
  /// counts.
  mutating func noteFault(isProbe: Bool, at now: Int64, _ settings: Settings) -> Bool {
    guard settings.threshold > 0 else { return false }
    if openUntil == nil {
      faults += 1
      guard faults >= settings.threshold else { return false }
    } else if !isProbe {
      return false
    }
    startBackOff(at: now, settings)
    return true
  }

  /// Opens the circuit without counting faults, unless it is open.
  mutating func open(at now: Int64, _ settings: Settings) {
    if settings.threshold > 0, left(at: now) == 0 { startBackOff(at: now, settings) }
  }

  /// Allows the next probe at `latest`, if it would come later.
  mutating func probe(by latest: Int64) {
    if let openUntil { self.openUntil = min(openUntil, latest) }
  }

  /// Allows a probe now, because the network has changed or the host has become reachable.
  mutating func halfOpen(at now: Int64) {
    if openUntil != nil { openUntil = now }
  }

  private mutating func startBackOff(at now: Int64, _ settings: Settings) {
    openings += 1
    openUntil =
      now &+ backOff(number: openings, first: settings.firstBackOff, longest: settings.longestBackOff)
  }
}
