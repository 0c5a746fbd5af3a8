import Testing

@testable import NuthatchCore

@Suite("Circuits") struct CircuitTests {
  private static let settings = Circuit.Settings(
    threshold: 3, firstBackOff: 1 * second, longestBackOff: 5 * second)

  /// Whether a fault opened it.
  private func fault(
    _ circuit: inout Circuit, isProbe: Bool = false, at now: Int64 = 0,
    _ settings: Circuit.Settings = CircuitTests.settings
  ) -> Bool {
    circuit.noteFault(isProbe: isProbe, at: now, settings)
  }

  private func opened(at now: Int64) -> Circuit {
    var circuit = Circuit()
    for _ in 0..<3 { _ = circuit.noteFault(isProbe: false, at: now, CircuitTests.settings) }
    return circuit
  }

  @Test("a circuit opens after its number of faults in a row")
  func opens() {
    var circuit = Circuit()
    for _ in 0..<5 {
      #expect(!fault(&circuit, at: 0))
      #expect(!fault(&circuit, at: 0))
      #expect(circuit.state(at: 0) == .closed)
      circuit.noteAnswer()
    }
    var states: [Bool] = []
    for _ in 0..<3 { states.append(circuit.noteFault(isProbe: false, at: 7, CircuitTests.settings)) }
    #expect(states == [false, false, true])
    #expect(circuit.state(at: 7) == .open(until: 7 + second))
    #expect(circuit.state(at: 6 + second) == .open(until: 7 + second))
    #expect(circuit.state(at: 7 + second) == .halfOpen)
  }

  @Test("a circuit ignores faults that began before it opened, but not answers")
  func late() {
    var circuit = opened(at: 0)
    #expect(!fault(&circuit, at: 5))
    #expect(circuit.state(at: 5) == .open(until: second))
    #expect(!fault(&circuit, at: 2 * second))
    #expect(circuit.state(at: 2 * second) == .halfOpen)
    circuit.noteAnswer()
    #expect(circuit.state(at: 5) == .closed)
  }

  @Test("a circuit's back-off doubles up to a cap, and begins anew after an answer")
  func backOff() {
    var circuit = opened(at: 0)
    var now: Int64 = 0
    var backOffs: [Int64] = []
    for _ in 0..<80 {
      guard case .open(let until) = circuit.state(at: now) else { break }
      backOffs.append((until - now) / second)
      now = until
      _ = circuit.noteFault(isProbe: true, at: now, CircuitTests.settings)
    }
    #expect(backOffs.count == 80 && backOffs.prefix(5) == [1, 2, 4, 5, 5] && backOffs.last == 5)
    circuit.noteAnswer()
    #expect(circuit.state(at: now) == .closed)
    for _ in 0..<3 { _ = circuit.noteFault(isProbe: false, at: 0, CircuitTests.settings) }
    #expect(circuit.state(at: 0) == .open(until: second))
  }

  @Test("a circuit with threshold 0 never opens")
  func never() {
    var circuit = Circuit()
    for _ in 0..<100 { #expect(!fault(&circuit, Circuit.Settings(threshold: 0))) }
    #expect(circuit.state(at: 0) == .closed)
  }
}

@Suite("Unreachable hosts in the queue") struct QueueCircuitTests {
  private func benchWithDeadHost(waiting: Int = 0) -> QueueBench {
    let bench = QueueBench(.fixed(100))
    for index in 0..<6 { bench.submit("\(index)") }
    for index in 0..<waiting { bench.submit("waiting \(index)") }
    for _ in 0..<4 { bench.finishFirst(.unreachable(timedOut: false)) }
    #expect(bench.refused.isEmpty)
    _ = bench.takeBegun()
    bench.finishFirst(.unreachable(timedOut: false))
    return bench
  }

  @Test("an open circuit lets one request through when a connection could be made")
  func reachable() {
    let bench = benchWithDeadHost()
    bench.finishFirst(.abandoned)
    bench.queue.noteReachable(QueueBench.origin("a.example"), now: bench.now)
    bench.queue.noteReachable(QueueBench.origin("unknown.example"), now: bench.now)
    bench.submit("first")
    bench.submit("second")
    #expect(bench.takeBegun() == ["first"] && bench.refused.isEmpty)
    bench.finishFirst()
    #expect(bench.takeBegun() == ["second"])
  }

  @Test("an open circuit refuses waiting and later requests at once, with a time")
  func failsFast() {
    let bench = benchWithDeadHost(waiting: 20)
    // Four of the twenty took the places of the first four that failed.
    #expect(bench.refused == (4..<20).map { "waiting \($0)" })
    #expect(bench.works.compactMap(\.retryAfter) == Array(repeating: second, count: 16))
    bench.pass(400 * millisecond)
    let entry = bench.submit("late")
    #expect(bench.works.last?.retryAfter == 600 * millisecond)
    #expect(entry.state == .gone && bench.takeBegun().isEmpty)
    bench.submit("other", to: "b.example")
    #expect(bench.takeBegun() == ["other"])
  }

  @Test("an open circuit is tried by one probe after its back-off")
  func probe() {
    let bench = benchWithDeadHost()
    bench.finishFirst(.abandoned)
    bench.pass(second)
    for name in ["probe", "x", "y"] { bench.submit(name) }
    #expect(bench.takeBegun() == ["probe"])
    bench.finishFirst(.unreachable(timedOut: true))
    #expect(bench.refused == ["x", "y"])
    #expect(bench.works.last?.retryAfter == 2 * second)
    bench.pass(2 * second)
    for name in ["probe 2", "v", "w"] { bench.submit(name) }
    #expect(bench.takeBegun() == ["probe 2"])
    bench.queue.answered(bench.running[0], firstByte: nil, now: bench.now)
    #expect(bench.takeBegun() == ["v", "w"])
  }

  @Test("a probe that is called off is followed by another one")
  func abandonedProbe() {
    let bench = benchWithDeadHost()
    bench.finishFirst(.abandoned)
    bench.pass(second)
    let probe = bench.submit("probe")
    bench.submit("next")
    bench.submit("last")
    bench.finish(probe, .abandoned)
    #expect(bench.takeBegun() == ["probe", "next"])
    bench.finishFirst(.done)
    #expect(bench.takeBegun() == ["last"])
  }

  @Test("the retry of a request whose fault opened the circuit is refused")
  func retried() {
    let bench = QueueBench(.fixed(100))
    for index in 0..<5 { bench.submit("\(index)") }
    for entry in bench.running {
      bench.finish(entry, .unreachable(timedOut: false), retryAt: bench.now + 10 * millisecond)
    }
    #expect(bench.refused.isEmpty && bench.queue.activity == 5)
    bench.pass(10 * millisecond)
    #expect(bench.refused.count == 5 && bench.queue.activity == 0)
  }

  @Test("only connection faults open the circuit; answers, silence and cancelled transfers don't")
  func whatCounts() {
    let bench = QueueBench(.fixed(100))
    for outcome in [ExchangeOutcome.done, .timedOut, .abandoned] {
      for _ in 0..<20 { bench.finish(bench.submit("x"), outcome) }
    }
    for _ in 0..<20 {
      for _ in 0..<4 { bench.finish(bench.submit("x"), .unreachable(timedOut: true)) }
      bench.finish(bench.submit("x"), .done)
    }
    #expect(bench.refused.isEmpty && bench.begun.count == 160)
  }

  @Test("an open circuit refuses waiting requests 256 at a time, so that the loop goes on")
  func portions() {
    let bench = benchWithDeadHost(waiting: 1000)
    #expect(bench.refused.count == 256)
    let removed = bench.works[6 + 700]
    bench.submit("other", to: "b.example")
    #expect(bench.takeBegun() == ["other"])
    bench.pass(0)
    bench.pass(0)
    bench.pass(0)
    #expect(bench.refused.count == 996 && removed.retryAfter != nil)
    bench.finishAll()
    #expect(bench.queue.activity == 0)
  }

  @Test("an open circuit lets one request through at once when the network is back")
  func networkIsBack() {
    let bench = benchWithDeadHost()
    bench.finishFirst(.abandoned)
    bench.queue.linkChanged(to: .wireless, now: bench.now)
    bench.submit("probe")
    bench.submit("next")
    #expect(bench.takeBegun() == ["probe"])
  }
}
