import CSystem
import NuthatchTransport

/// A host that can't be reached, or answers 429 or 503, and that requests with `giveUpAfter` wait for.
public struct AwayHost: Sendable {
  /// The host's name, with its port unless that is the scheme's default.
  public let name: String
  /// The error of the last request to it; `http` for a 429 or 503.
  public let code: ErrorCode
  /// How long it has given no good answer, in whole seconds.
  public let seconds: Int64
}

/// The unreachable and overloaded hosts of a queue, for callers that want to know what a run waits for.
final class AwayHosts: Sendable {
  private struct Absence {
    var since: Int64
    var code: ErrorCode
  }

  private let absences = Locked<[Origin: Absence]>([:])

  func note(_ origin: Origin, since: Int64, _ code: ErrorCode) {
    absences.withLock { $0[origin] = Absence(since: since, code: code) }
  }

  /// Removes a host that has answered, or that no request waits for any more.
  func forget(_ origin: Origin) { absences.withLock { $0[origin] = nil } }

  func current(now: Int64) -> [AwayHost] {
    absences.withLock { $0 }.map { origin, absence in
      AwayHost(name: origin.shown, code: absence.code, seconds: max(0, now - absence.since) / 1_000_000_000)
    }
  }
}

extension Origin {
  /// The name in messages, with its port unless that is the scheme's default.
  var shown: String { port == (scheme == .https ? 443 : 80) ? host : "\(host):\(port)" }
}

extension Cache {
  /// Hosts that can't be reached, or answer 429 or 503, at the moment while requests of a batch wait for them
  /// (`Request.giveUpAfter`). Covers all requests of the process.
  public var awayHosts: [AwayHost] {
    isForked ? [] : runtime.queue.away.current(now: nhs_monotonic_ns())
  }

  /// Whether requests wait only for a place in the process's queue.
  package var waitsForPlaces: Bool { !isForked && runtime.queue.hasBacklog.load(ordering: .relaxed) }
}
