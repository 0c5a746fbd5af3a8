import NuthatchTransport
import Synchronization

/// The answers that are on their way, so that one which is taken out meanwhile is not stored after all.
///
/// What another process fetches while this one removes it is not seen here: it was asked for there.
final class Flights: Sendable {
  /// One attempt's answer on its way.
  final class Flight: Sendable {
    private let revoked = Atomic(false)
    private let name: AnswerName
    private let flights: Flights

    fileprivate init(_ name: AnswerName, _ flights: Flights) {
      self.name = name
      self.flights = flights
    }

    deinit { flights.forget(name) }

    /// Whether its name was taken out after it set out: whoever comes now must not get what it brings.
    var isRevoked: Bool { revoked.load(ordering: .acquiring) }

    fileprivate func revoke() { revoked.store(true, ordering: .releasing) }
  }

  private struct Entry {
    weak var flight: Flight?
    /// All that are alive, the revoked ones too.
    var count = 1
  }

  private let entries = Locked<[AnswerName: Entry]>([:])

  var isEmpty: Bool { entries.withLock { $0.isEmpty } }

  /// The flight of what is asked for now. Those who ask at the same time share one.
  func board(_ name: AnswerName) -> Flight {
    entries.withLock { entries in
      if let flight = entries[name]?.flight, !flight.isRevoked { return flight }
      let flight = Flight(name, self)
      entries[name] = Entry(flight: flight, count: (entries[name]?.count ?? 0) + 1)
      return flight
    }
  }

  /// What is on its way for a name belongs to the past.
  func revoke(_ name: AnswerName) {
    // Let go outside the lock: it may be the last reference, and its end takes the lock, too.
    let flight = entries.withLock { $0[name]?.flight }
    flight?.revoke()
  }

  private func forget(_ name: AnswerName) {
    entries.withLock { entries in
      guard let count = entries[name]?.count else { return }
      if count > 1 { entries[name]?.count = count - 1 } else { entries[name] = nil }
    }
  }
}
