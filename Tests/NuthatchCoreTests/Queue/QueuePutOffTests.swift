import Testing

@testable import NuthatchCore

@Suite("Requests that hang") struct QueuePutOffTests {
  private func bench() -> QueueBench { QueueBench(.fixed(100, perHost: 2, lendAfter: second)) }

  private func learnLatency(_ bench: QueueBench, _ time: Int64) {
    let entry = bench.submit("first")
    bench.queue.answered(entry, firstByte: time, now: bench.now)
    bench.finish(entry)
  }

  @Test("a hanging request is put off if its host answers others quickly and requests wait")
  func atGoodHost() {
    let bench = bench()
    learnLatency(bench, 50 * millisecond)
    for index in 0..<2 { bench.submit("hanging \(index)", mayBePutOff: true) }
    for index in 0..<3 { bench.submit("waiting \(index)", mayBePutOff: true) }
    bench.pass(2 * second - 1)
    #expect(bench.putOff.isEmpty)
    bench.pass(1)
    #expect(bench.putOff == ["hanging 0"] && bench.begun.last == "waiting 0")
    bench.pass(second)
    #expect(bench.putOff == ["hanging 0", "hanging 1"] && bench.begun.last == "waiting 1")
  }

  @Test("a hanging request stays if none waits, if its host is slow, or if it must not be put off")
  func stays() {
    let alone = bench()
    learnLatency(alone, 50 * millisecond)
    alone.submit("alone", mayBePutOff: true)
    let slow = bench()
    learnLatency(slow, 5 * second)
    for index in 0..<5 { slow.submit("\(index)", mayBePutOff: true) }
    let other = bench()
    learnLatency(other, 50 * millisecond)
    for index in 0..<5 { other.submit("\(index)") }
    for bench in [alone, slow, other] {
      bench.pass(20 * second)
      #expect(bench.putOff.isEmpty && bench.running.count <= 2)
    }
  }

  @Test("a hanging request is put off at a host that never answered, after 8 s, 16 s and so on")
  func unknownHost() {
    let bench = bench()
    for index in 0..<9 { bench.submit("\(index)", mayBePutOff: true) }
    bench.pass(8 * second - 1)
    #expect(bench.putOff.isEmpty)
    bench.pass(1)
    #expect(bench.putOff == ["0"] && bench.begun.last == "2")
    bench.pass(second)
    #expect(bench.putOff == ["0", "1"] && bench.begun.last == "3")
    // All of the host may be that slow.
    bench.pass(15 * second - 1)
    #expect(bench.putOff == ["0", "1"])
    bench.pass(1)
    #expect(bench.putOff == ["0", "1", "2"] && bench.begun.last == "4")
    // Now it is known how slow it is.
    bench.queue.answered(bench.running[0], firstByte: 12 * second, now: bench.now)
    bench.finish(bench.running[0])
    bench.pass(60 * second)
    #expect(bench.putOff == ["0", "1", "2"])
  }

  @Test("a hanging request is put off if it keeps its host from starting a waiting request")
  func heldHost() {
    let bench = QueueBench(.fixed(4, perHost: 6, lendAfter: second))
    learnLatency(bench, 50 * millisecond)
    bench.submit("hanging", mayBePutOff: true)
    for index in 0..<4 { bench.submit("\(index)", to: "h\(index).example") }
    bench.pass(second)
    // The place is lent, and all are taken.
    #expect(bench.running.count == 5)
    bench.submit("waiting")
    bench.pass(2 * second)
    #expect(bench.putOff == ["hanging"])
    bench.finish(bench.running[0])
    #expect(bench.begun.last == "waiting")
  }

  @Test("a request with a head isn't put off, however slow its body is")
  func slowBody() {
    let bench = bench()
    learnLatency(bench, 50 * millisecond)
    let entries = (0..<2).map { bench.submit("\($0)", mayBePutOff: true) }
    bench.submit("waiting", mayBePutOff: true)
    for entry in entries { bench.queue.answered(entry, firstByte: nil, now: bench.now) }
    bench.pass(20 * second)
    #expect(bench.putOff.isEmpty)
  }

  @Test("hanging requests are put off when no place can be lent any more and others wait")
  func fullPool() {
    var settings = QueueSettings.fixed(4, perHost: 6, lendAfter: second)
    settings.mostAtOnce = 4
    let bench = QueueBench(settings)
    for index in 0..<60 { bench.submit("\(index)", to: "h\(index).example", mayBePutOff: true) }
    bench.pass(60 * second)
    #expect(bench.begun.count == 60)
  }
}
