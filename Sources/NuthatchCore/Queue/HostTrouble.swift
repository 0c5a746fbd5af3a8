import NuthatchTransport

/// Why a host doesn't answer as it should, and since when. Ends with its next good answer.
struct HostTrouble {
  enum Cause {
    /// It can't be reached, or falls silent.
    case fault(TransportFault)
    /// It has too much to do: 429 or 503.
    case status(Int)
  }

  /// When the first request of those in vain began, or when the last good answer came, whichever is later.
  let since: Int64
  /// The last one.
  var cause: Cause
  /// How many requests have had it.
  var requests = 0

  /// Whether it is all of the host that has it: 503, silence and a closed connection may be about some of its pages, and those
  /// that haven't been asked for yet may be well.
  var isOfHost: Bool {
    if requests >= 5 { return true }
    return switch cause {
    case .status(let status): status == 429
    case .fault(let fault): fault.kind != .timeout && fault.kind != .reset
    }
  }

  /// When a host that is to be given up at `end` is tried for the last time: it may be back by then, however long the waits
  /// between two tries have become.
  static func lastTry(before end: Int64, patience: Int64) -> Int64 { end &- min(2_000_000_000, patience / 8) }

  /// Whether a request that waits this long for a host has waited long enough, or will have when `time` comes.
  func outlasts(_ patience: Int64, at time: Int64) -> Bool { time &- since >= patience }
}

/// Why an entry comes back from the queue without having begun.
enum HostRefusal {
  /// The host failed too often in a row. Worth trying again after so many nanoseconds.
  case circuitOpen(retryAfter: Int64)
  /// The host has had this trouble for longer than the entry waits for it, `patience` nanoseconds. It asks to be left alone for
  /// so many nanoseconds more; 0 when it doesn't.
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

/// An answer that says that its host has too much to do: 429 or 503.
struct Overload {
  var status: Int
  /// When the same request had such an answer before; nil for the first.
  var previous: Int64?
}
