import CSystem
import NuthatchTransport

/// A host that wants to be left alone (`Retry-After`): nothing is sent to it until then.
public struct PausedHost: Sendable {
  /// With its port, unless that is the usual one.
  public let name: String
  /// For how long it wants that, in whole seconds.
  public let seconds: Int64
  /// For how much longer.
  public let left: Int64
}

/// Those of a queue, for whoever waits and wonders why.
final class PausedHosts: Sendable {
  private struct Pause {
    var since: Int64
    var until: Int64
  }

  private let pauses = Locked<[Origin: Pause]>([:])

  /// A shorter pause takes nothing back.
  func note(_ origin: Origin, until end: Int64, now: Int64) {
    let isNew = pauses.withLock { pauses in
      pauses = pauses.filter { $0.value.until > now }
      guard end > max(now, pauses[origin]?.until ?? 0) else { return false }
      pauses[origin] = Pause(since: now, until: end)
      return true
    }
    if isNew {
      Log.note(.info, "\(origin.shown) wants to be left alone for \(Self.seconds(end - now)) s")
    }
  }

  /// For how much longer a request's host is paused, in nanoseconds. The origin is asked for only where somebody is paused.
  func left(of origin: @autoclosure () -> Origin?, now: Int64) -> Int64 {
    pauses.withLock { pauses in
      guard !pauses.isEmpty, let origin = origin(), let pause = pauses[origin] else { return 0 }
      return max(0, pause.until - now)
    }
  }

  /// The hosts that are still paused.
  func current(now: Int64) -> [PausedHost] {
    let pauses = pauses.withLock { pauses in pauses.filter { $0.value.until > now } }
    return pauses.map { origin, pause in
      PausedHost(
        name: origin.shown, seconds: Self.seconds(pause.until - pause.since),
        left: Self.seconds(pause.until - now))
    }
  }

  private static func seconds(_ nanoseconds: Int64) -> Int64 { (nanoseconds + 999_999_999) / 1_000_000_000 }
}

extension Cache {
  /// Hosts that want to be left alone at the moment, of all requests of the process: they said so with `Retry-After`, in an
  /// answer of status 429 or 503. At most five minutes are heeded.
  public var pausedHosts: [PausedHost] {
    isForked ? [] : runtime.queue.paused.current(now: nhs_monotonic_ns())
  }
}
