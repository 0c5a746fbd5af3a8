/// Keeps requests away from a host that can't be reached.
///
/// It opens after `threshold` connection faults in a row. While it is open, requests fail at once. After a
/// back-off, which doubles with every opening without a success in between, it is half open: one request, the
/// probe, may try. An answer of any status closes it, also one to a request from before; a fault of the probe
/// opens it again.
struct Circuit {
  struct Settings: Equatable, Sendable {
    /// Faults in a row that open it; 0 for never. Default 5.
    var threshold = 5
    /// How long it is open at first, in nanoseconds. Default 1 s.
    var firstBackOff: Int64 = 1_000_000_000
    /// How long it is open at most. Default 60 s.
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

  /// For how much longer it is open; 0 when it isn't.
  func left(at now: Int64) -> Int64 { max(0, (openUntil ?? now) &- now) }

  mutating func noteAnswer() { self = Circuit() }

  /// A connection fault; true when it opened the circuit. What comes in from requests that began before the
  /// circuit opened says nothing new.
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

  /// Opens, if it isn't open, without counting faults.
  mutating func open(at now: Int64, _ settings: Settings) {
    if settings.threshold > 0, left(at: now) == 0 { startBackOff(at: now, settings) }
  }

  /// Lets the next probe through at `latest`, where it would come later.
  mutating func probe(by latest: Int64) {
    if let openUntil { self.openUntil = min(openUntil, latest) }
  }

  /// Lets a probe through now, since the network isn't the one that failed.
  mutating func halfOpen(at now: Int64) {
    if openUntil != nil { openUntil = now }
  }

  private mutating func startBackOff(at now: Int64, _ settings: Settings) {
    openings += 1
    openUntil =
      now &+ backOff(time: openings, first: settings.firstBackOff, longest: settings.longestBackOff)
  }
}
