import NuthatchTransport

/// How an exchange ended, as far as the queue needs to know.
enum ExchangeOutcome: Equatable, Sendable {
  /// The server answered, whatever it said and however the body ended.
  case done
  /// No connection, or it broke before the head: dns, refused, reset, tls, time-out while connecting.
  case unreachable(timedOut: Bool)
  /// A connection that stood was closed before the head came.
  case dropped
  /// The peer fell silent after the connection stood.
  case timedOut
  /// We ended it: that says nothing about the host.
  case abandoned
  /// As `abandoned`, before anything was sent: to the rate it was no start.
  case unused

  /// Whether nothing came for as long as the request waits for it.
  var isSilence: Bool { self == .timedOut || self == .unreachable(timedOut: true) }

  /// What the end of a transfer says about its host. A fault after the head is the answer's, not the host's.
  init(_ fault: TransportFault?, _ timings: TransferTimings, hasHead: Bool) {
    // Also one that another request had opened: when it breaks, all its streams do, and that is one fault and no proof.
    let wasConnected = timings.connect > 0 || timings.connection.isReused
    switch fault?.kind {
    case nil: self = .done
    case .timeout: self = wasConnected || hasHead ? .timedOut : .unreachable(timedOut: true)
    case .stopped: self = hasHead ? .done : .abandoned
    // A server answers there, if badly: an odd page must not close the way to all the others.
    case .reset: self = hasHead ? .done : wasConnected ? .dropped : .unreachable(timedOut: false)
    case .dns, .refused, .tls: self = hasHead ? .done : .unreachable(timedOut: false)
    case .http, .truncated, .tooLarge: self = .done
    case .denied, .badURL, .invalid, .outOfMemory, .internal, .io, .unsafeFile: self = .abandoned
    }
  }
}
