import CSystem
import NuthatchTransport

/// A host that has asked for a pause (`Retry-After`). Nothing is sent to it until the pause ends.
public struct PausedHost: Sendable {
  /// The host's name, with its port unless that is the scheme's default.
  public let name: String
  /// The length of the pause, in whole seconds.
  public let seconds: Int64
  /// The rest of the pause, in whole seconds.
  public let left: Int64
}

/// The paused hosts of a queue, for callers that want to know what a request waits for.
final class PausedHosts: Sendable {
  private struct Pause {
    var since: Int64
    var until: Int64
  }

  private let pauses = Locked<[Origin: Pause]>([:])

  /// Notes a pause. A shorter pause doesn't shorten a longer one.
  func note(_ origin: Origin, until end: Int64, now: Int64) {
    let isNew = pauses.withLock { pauses in
      pauses = pauses.filter { $0.value.until > now }
      guard end > max(now, pauses[origin]?.until ?? 0) else { return false }
      pauses[origin] = Pause(since: now, until: end)
      return true
    }
    if isNew {
      Log.note(.info, "\(origin.shown) asks for a pause (Retry-After) of \(Self.seconds(end - now)) s")
    }
  }

  /// Returns for how much longer a request's host is paused, in nanoseconds. `origin` is evaluated only if a host is paused.
  func left(of origin: @autoclosure () -> Origin?, now: Int64) -> Int64 {
    pauses.withLock { pauses in
      guard !pauses.isEmpty, let origin = origin(), let pause = pauses[origin] else { return 0 }
      return max(0, pause.until - now)
    }
  }

  /// Returns the hosts that are still paused.
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
  /// Hosts that have asked for a pause with `Retry-After` in a 429 or 503, for all requests of the process. A pause is at most
  /// five minutes long.
  public var pausedHosts: [PausedHost] {
    isForked ? [] : runtime.queue.paused.current(now: nhs_monotonic_ns())
  }
}
