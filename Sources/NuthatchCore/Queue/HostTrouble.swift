import NuthatchTransport

/// Why a host gives no good answers, and since when. `QueueHost` drops it at the next good one.
struct HostTrouble {
  enum Cause {
    /// It can't be reached, or sends nothing for too long.
    case fault(TransportFault)
    /// It reports overload: 429 or 503.
    case status(Int)

    var isFault: Bool {
      if case .fault = self { true } else { false }
    }
  }

  /// The start of the first failed request, or the time of the last good answer, whichever is later.
  let since: Int64
  /// Whether it began with a body that stopped coming. Then heads don't end it, but a whole answer does.
  let isOfBodies: Bool
  /// The latest cause.
  var cause: Cause
  /// The number of requests that have failed because of it, each counted once.
  var requests = 0
  /// The number of them that failed for the first time after their patience was over.
  var lateRequests = 0

  /// Whether the trouble affects the whole host. 503, silence and a closed connection may affect some pages only, so they count
  /// after five requests.
  var isOfHost: Bool {
    if requests >= 5 { return true }
    return switch cause {
    case .status(let status): status == 429
    case .fault(let fault): fault.kind != .timeout && fault.kind != .reset
    }
  }

  /// Whether its requests may fail unsent although the patience of others is over. Before that, more of them must have failed:
  /// a 503 may affect some pages only, and they may stand side by side in a list.
  var isShown: Bool {
    if case .status(503) = cause { return lateRequests >= 20 }
    return lateRequests >= 5
  }

  /// Returns when to try a host for the last time before entries give up at `end`. A long back-off could skip that last chance.
  static func lastTry(before end: Int64, patience: Int64) -> Int64 { end &- min(2_000_000_000, patience / 8) }

  /// Returns whether the trouble has lasted for `patience` at `time`.
  func outlasts(_ patience: Int64, at time: Int64) -> Bool { time &- since >= patience }
}

/// Why an entry leaves the queue without having begun.
enum HostRefusal {
  /// The host failed too often in a row. A retry makes sense after this many nanoseconds.
  case circuitOpen(retryAfter: Int64)
  /// The host's trouble has lasted longer than the entry waits for it (`patience`, in nanoseconds). `retryAfter`: the nanoseconds
  /// until the host's pause ends; 0 if there is none.
  case givenUp(HostTrouble.Cause, patience: Int64, retryAfter: Int64)

  init(of entry: QueueEntry, at now: Int64) {
    let host = entry.host
    if entry.patience > 0, let trouble = host.trouble {
      self = .givenUp(trouble.cause, patience: entry.patience, retryAfter: max(now, host.pausedUntil) - now)
    } else {
      self = .circuitOpen(retryAfter: host.circuit.left(at: now))
    }
  }
}

/// An answer that reports overload: 429 or 503.
struct Overload {
  var status: Int
  /// When the same request got a 429 or 503 before. Nil: never.
  var previous: Int64?
}
