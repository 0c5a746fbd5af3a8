import NuthatchTransport

/// How an exchange ended, as far as the queue needs to know.
enum ExchangeOutcome: Equatable, Sendable {
  /// The server answered, with any status, or sent something that isn't HTTP. The body may have failed.
  case done
  /// No connection could be made: the name isn't known, the host refused, TLS failed, or the time-out passed.
  case unreachable(timedOut: Bool)
  /// An established connection was closed before the head came.
  case dropped
  /// The server sent nothing, or too little, for too long on an established connection.
  case timedOut
  /// This process ended the exchange, which shows nothing about the host.
  case abandoned
  /// As `abandoned`, and nothing was sent. It doesn't count against `QueueSettings.rate`.
  case unused

  /// Whether it ended because of the request's time-out.
  var isSilence: Bool { self == .timedOut || self == .unreachable(timedOut: true) }

  /// Derives the outcome from the end of a transfer. A fault after the head counts against the answer, not the host, unless it
  /// is a time-out.
  init(_ fault: TransportFault?, _ timings: TransferTimings, hasHead: Bool) {
    // A reused connection counts as connected. If it breaks, all its streams fail, but that is one fault, not many of the host.
    let wasConnected = timings.connect > 0 || timings.connection.isReused
    switch fault?.kind {
    case nil: self = .done
    case .timeout: self = wasConnected || hasHead ? .timedOut : .unreachable(timedOut: true)
    case .stopped: self = hasHead ? .done : .abandoned
    // After the head, a reset is `done`: the server answers, and one bad page must not block the others.
    case .reset: self = hasHead ? .done : wasConnected ? .dropped : .unreachable(timedOut: false)
    case .dns, .refused, .tls: self = hasHead ? .done : .unreachable(timedOut: false)
    case .http, .truncated, .tooLarge: self = .done
    case .denied, .badURL, .invalid, .outOfMemory, .internal, .io, .unsafeFile: self = .abandoned
    }
  }
}
