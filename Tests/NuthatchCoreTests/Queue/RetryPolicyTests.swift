import NuthatchTransport
import Testing

@testable import NuthatchCore

@Suite("Retries") struct RetryPolicyTests {
  private func decide(
    _ policy: RetryPolicy = RetryPolicy(), attempt: Int = 1,
    _ outcome: RetryPolicy.Outcome = .status(503), method: String = "GET", remaining: Int64? = nil
  ) -> RetryPolicy.Decision {
    policy.decide(attempt: attempt, outcome: outcome, method: method, remaining: remaining, random: 0)
  }

  @Test("statuses and faults that may pass are retried, others aren't")
  func outcomes() {
    for status in 100...599 {
      let expected = [408, 425, 429, 500, 502, 503, 504].contains(status)
      #expect((decide(RetryPolicy(), attempt: 1, .status(status)) != .giveUp) == expected, "\(status)")
    }
    let kinds: [(TransportFault.Kind, Bool)] = [
      (.timeout, true), (.dns, true), (.refused, true), (.reset, true), (.truncated, true), (.tls, false),
      (.http, false), (.stopped, false), (.badURL, false), (.outOfMemory, false), (.internal, false),
      (.io, false),
    ]
    for (kind, expected) in kinds {
      #expect((decide(RetryPolicy(), attempt: 1, .fault(kind)) != .giveUp) == expected, "\(kind)")
    }
  }

  @Test("only idempotent methods are retried")
  func methods() {
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
      #expect(decide(method: method) != .giveUp)
    }
    for method in ["POST", "PATCH", "CONNECT", "get", "", "PROPFIND"] {
      #expect(decide(method: method) == .giveUp)
    }
  }

  @Test("retries end with their number")
  func attempts() {
    #expect((1...5).map { decide(attempt: $0) != .giveUp } == [true, true, true, false, false])
    #expect(decide(RetryPolicy(retries: 0)) == .giveUp)
  }

  @Test("a retry waits a random time below a bound that doubles up to a cap")
  func backOff() {
    var random = Seeded(state: 1)
    let policy = RetryPolicy(retries: 100, base: 100, longest: 1000)
    for (attempt, bound) in [(1, 100), (2, 200), (3, 400), (4, 800), (5, 1000), (6, 1000), (99, 1000)] {
      var waits: [Int64] = []
      for _ in 0..<400 {
        let decision = policy.decide(
          attempt: attempt, outcome: .fault(.reset), method: "GET", remaining: nil, random: random.next())
        if case .retry(let wait) = decision { waits.append(wait) }
      }
      #expect(waits.count == 400 && waits.allSatisfy { (0...Int64(bound)).contains($0) })
      // The whole range is used: that is what makes the jitter full.
      #expect(waits.contains { $0 < bound / 10 } && waits.contains { $0 > bound * 9 / 10 })
      let mean = waits.reduce(0, +) / 400
      #expect((bound * 4 / 10...bound * 6 / 10).contains(Int(mean)))
    }
  }

  @Test("a retry waits for the server's Retry-After, up to 300 s")
  func retryAfter() {
    #expect(
      decide(RetryPolicy(), attempt: 1, .status(503, retryAfter: 7 * second)) == .retry(after: 7 * second))
    #expect(
      decide(RetryPolicy(), attempt: 1, .status(429, retryAfter: 300 * second)) == .retry(after: 300 * second)
    )
    #expect(decide(RetryPolicy(), attempt: 1, .status(429, retryAfter: 301 * second)) == .giveUp)
    #expect(decide(RetryPolicy(), attempt: 1, .status(503, retryAfter: -5)) == .retry(after: 0))
    #expect(decide(RetryPolicy(), attempt: 1, .status(404, retryAfter: 1)) == .giveUp)
    let decision = RetryPolicy().decide(
      attempt: 1, outcome: .status(503, retryAfter: 1), method: "GET", remaining: nil, random: .max)
    #expect(decision == .retry(after: 250 * millisecond))
  }

  @Test("a patient request's last retry waits until a server may have restarted")
  func restart() {
    func waits(_ kind: TransportFault.Kind, isPatient: Bool) -> [RetryPolicy.Decision] {
      (1...4).map {
        RetryPolicy().decide(
          attempt: $0, outcome: .fault(kind), method: "GET", remaining: 60 * second, isPatient: isPatient,
          random: 0)
      }
    }
    let soon = RetryPolicy.Decision.retry(after: 0)
    for kind in [.refused, .reset] as [TransportFault.Kind] {
      #expect(waits(kind, isPatient: true) == [soon, soon, .retry(after: 5 * second), .giveUp], "\(kind)")
      #expect(waits(kind, isPatient: false) == [soon, soon, soon, .giveUp], "\(kind)")
    }
    #expect(waits(.dns, isPatient: true) == [soon, soon, soon, .giveUp])
    #expect(waits(.timeout, isPatient: true) == [soon, soon, soon, .giveUp])
  }

  @Test("a retry that doesn't fit into the deadline is given up")
  func deadline() {
    let asked = RetryPolicy.Outcome.status(503, retryAfter: 7 * second)
    #expect(decide(RetryPolicy(), attempt: 1, asked, remaining: 7 * second + 1) == .retry(after: 7 * second))
    #expect(decide(RetryPolicy(), attempt: 1, asked, remaining: 7 * second) == .giveUp)
    #expect(decide(remaining: 0) == .giveUp)
    #expect(decide(remaining: -1) == .giveUp)
  }

  @Test("absurd numbers in a retry policy do no harm")
  func oddNumbers() {
    let odd = RetryPolicy(retries: .max, base: .max, longest: .max, longestRetryAfter: .max)
    #expect(decide(odd, attempt: .max - 1) != .giveUp)
    #expect(decide(odd, attempt: .min, .status(503, retryAfter: .max)) == .retry(after: .max))
    #expect(decide(RetryPolicy(base: -5, longest: -5)) == .retry(after: 0))
  }

  @Test("the queue's outcome of a transfer follows from its fault, its connection and its head")
  func outcomesForTheQueue() {
    var connected = TransferTimings()
    connected.connect = 5
    func outcome(_ kind: TransportFault.Kind?, _ timings: TransferTimings, _ hasHead: Bool)
      -> ExchangeOutcome
    {
      ExchangeOutcome(kind.map { TransportFault($0, "") }, timings, hasHead: hasHead)
    }
    #expect(outcome(nil, connected, true) == .done)
    #expect(outcome(.reset, connected, false) == .dropped)
    for kind in [TransportFault.Kind.dns, .refused, .reset, .tls] {
      let timings = kind == .reset ? TransferTimings() : connected
      #expect(outcome(kind, timings, false) == .unreachable(timedOut: false))
      #expect(outcome(kind, connected, true) == .done)
    }
    #expect(outcome(.timeout, TransferTimings(), false) == .unreachable(timedOut: true))
    #expect(outcome(.timeout, connected, false) == .timedOut)
    #expect(outcome(.timeout, connected, true) == .timedOut)
    // A connection that breaks takes all its streams along, which says as little of the host.
    var kept = TransferTimings()
    kept.connection.isReused = true
    #expect(outcome(.reset, kept, false) == .dropped)
    #expect(outcome(.timeout, kept, false) == .timedOut)
    #expect(outcome(.refused, kept, false) == .unreachable(timedOut: false))
    #expect(outcome(.http, connected, false) == .done)
    #expect(outcome(.io, TransferTimings(), false) == .abandoned)
  }
}
