import CSystem
import NuthatchTransport

/// A host that can't be reached, and that requests of a batch wait for.
public struct AwayHost: Sendable {
  /// With its port, unless that is the usual one.
  public let name: String
  /// What ended the last request to it.
  public let code: ErrorCode
  /// For how long it has been away, in whole seconds.
  public let seconds: Int64
}

/// Those of a queue, for callers that wonder what a run waits for.
final class AwayHosts: Sendable {
  private struct Absence {
    var since: Int64
    var code: ErrorCode
  }

  private let absences = Locked<[Origin: Absence]>([:])

  func note(_ origin: Origin, since: Int64, _ kind: TransportFault.Kind) {
    absences.withLock { $0[origin] = Absence(since: since, code: ErrorCode(kind)) }
  }

  /// It has answered, or is not waited for any more.
  func forget(_ origin: Origin) { absences.withLock { $0[origin] = nil } }

  func current(now: Int64) -> [AwayHost] {
    absences.withLock { $0 }.map { origin, absence in
      AwayHost(name: origin.shown, code: absence.code, seconds: max(0, now - absence.since) / 1_000_000_000)
    }
  }
}

extension Origin {
  /// How messages name it: with its port, unless that is the usual one.
  var shown: String { port == (scheme == .https ? 443 : 80) ? host : "\(host):\(port)" }
}

extension Cache {
  /// Hosts that can't be reached at the moment, and that requests of a batch wait for (`Request.giveUpAfter`); of all requests of
  /// the process.
  public var awayHosts: [AwayHost] {
    isForked ? [] : runtime.queue.away.current(now: nhs_monotonic_ns())
  }

  /// Whether requests wait for nothing but a place in the process's queue.
  package var waitsForPlaces: Bool { !isForked && runtime.queue.isFull.load(ordering: .relaxed) }
}
