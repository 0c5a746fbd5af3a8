import NuthatchTransport
import Testing

@testable import NuthatchCore

@Suite("Patient entries of hosts in trouble") struct QueuePatienceTests {
  private let down = TransportFault(.tls, "the certificate has expired")
  private let minute = 60 * second

  private func fail(_ bench: QueueBench, _ count: Int, retryAfter: Int64? = nil) {
    for _ in 0..<count {
      guard let entry = bench.running.first else { return }
      bench.finish(
        entry, .unreachable(timedOut: false), down, retryAt: retryAfter.map { bench.now + $0 })
    }
  }

  private func refusals(_ bench: QueueBench) -> [String] {
    bench.works.compactMap { work in
      guard case .givenUp(let cause, _, let left)? = work.refusal else { return nil }
      switch cause {
      case .fault(let fault): return "\(work.name) \(fault.kind)"
      case .status(let status): return "\(work.name) \(status) \(left / second)"
      }
    }
  }

  @Test("patient entries wait while their host's circuit is open, and are sent when it is back")
  func held() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<10 { bench.submit("\(index)", patience: 5 * minute) }
    let impatient = bench.submit("impatient")
    fail(bench, 5)
    #expect(impatient.state == .gone && bench.refused == ["impatient"])
    bench.submit("late", patience: 5 * minute)
    bench.finishFirst(.abandoned)
    #expect(bench.takeBegun() == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"])
    bench.finishAll()
    bench.pass(second)
    #expect(bench.refused == ["impatient"])
  }

  @Test("an open circuit is tried with one patient entry after the other, in turn")
  func probes() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<6 { bench.submit("\(index)", patience: 5 * minute) }
    fail(bench, 6, retryAfter: 10 * millisecond)
    #expect(bench.takeBegun().count == 6 && bench.running.isEmpty)
    for index in 6..<9 { bench.submit("\(index)", patience: 5 * minute) }
    bench.pass(second)
    #expect(bench.takeBegun() == ["0"])
    fail(bench, 1, retryAfter: 10 * millisecond)
    bench.pass(2 * second)
    #expect(bench.takeBegun() == ["1"])
    bench.queue.answered(bench.running[0], firstByte: nil, now: bench.now)
    #expect(bench.takeBegun() == ["2", "3", "4", "5", "6"])
    bench.finishAll()
    #expect(bench.begun == ["7", "8", "0"] && bench.refused.isEmpty)
  }

  @Test("a host is tried once more shortly before its patient entries are given up")
  func lastTry() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<10 { bench.submit("\(index)", patience: 10 * second) }
    fail(bench, 10, retryAfter: 10 * millisecond)
    for backOff in [1, 2, 4] as [Int64] {
      bench.pass(backOff * second)
      #expect(bench.running.count == 1)
      fail(bench, 1, retryAfter: 10 * millisecond)
    }
    // It would be open until the fifteenth second.
    bench.pass(2 * second)
    #expect(bench.running.count == 1 && refusals(bench).isEmpty)
    for entry in bench.running { bench.queue.answered(entry, firstByte: nil, now: bench.now) }
    while !bench.running.isEmpty { bench.finishAll() }
    bench.pass(second)
    #expect(refusals(bench).isEmpty && bench.refused.isEmpty)
  }

  @Test("an unreachable host is shown until its last waiting entry is cancelled")
  func shown() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<6 { bench.submit("\(index)", patience: 5 * minute) }
    var entries = bench.running
    fail(bench, 6, retryAfter: minute)
    let last = entries.removeFirst()
    for entry in entries { bench.queue.remove(entry, now: bench.now) }
    #expect(bench.queue.away.current(now: bench.now).map(\.code) == [.tls])
    bench.queue.remove(last, now: bench.now)
    #expect(bench.queue.away.current(now: bench.now).isEmpty)
  }

  @Test("entries whose patience ends get the host's fault, and more patient ones wait on")
  func givenUp() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<30 { bench.submit("\(index)", patience: 10 * second) }
    bench.submit("patient", patience: 60 * second)
    fail(bench, 10)
    bench.pass(10 * second - 1)
    let probes = bench.running
    #expect(refusals(bench).isEmpty && probes.count == 1)
    for probe in probes { bench.finish(probe, .unreachable(timedOut: false), down) }
    bench.pass(1)
    #expect(refusals(bench).allSatisfy { $0.hasSuffix(" tls") } && refusals(bench).count == 19)
    #expect(!bench.refused.contains("patient"))
    bench.submit("late", patience: 10 * second)
    bench.pass(1)
    #expect(bench.refused.contains("late"))
    bench.pass(60 * second)
    #expect(bench.refused.contains("patient") || bench.begun.contains("patient"))
  }

  @Test("entries are given up in time, even if another entry of their host comes first")
  func givenUpBesideAnother() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<30 { bench.submit("\(index)", patience: 10 * second) }
    fail(bench, 10)
    bench.pass(10 * second - 1)
    fail(bench, 1)
    #expect(refusals(bench).isEmpty)
    bench.now += 1
    bench.submit("patient", patience: 60 * second)
    #expect(refusals(bench).count == 19 && !bench.refused.contains("patient"))
  }

  @Test("a program that asks another host in a refusal is served at once")
  func another() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<12 { bench.submit("\(index)", patience: 5 * minute) }
    bench.submit("impatient")
    bench.works.last?.onRefused = { bench.submit("again", to: "b.example") }
    fail(bench, 5)
    #expect(bench.refused == ["impatient"] && bench.begun.last == "again")
  }

  @Test("the patience of entries counts from their host's last good answer")
  func sinceLastAnswer() {
    let bench = QueueBench(.fixed(10))
    let first = bench.submit("first", patience: 10 * second)
    bench.queue.answered(first, firstByte: nil, now: bench.now)
    bench.finishAll()
    bench.pass(minute)
    for index in 0..<8 { bench.submit("\(index)", patience: 10 * second) }
    bench.pass(5 * second)
    fail(bench, 5)
    bench.finishAll()
    #expect(bench.refused.isEmpty)
  }

  @Test("entries are refused at once if their host asks for a longer pause than they wait")
  func longPause() {
    let bench = QueueBench(.fixed(10, perHost: 2))
    for index in 0..<4 { bench.submit("\(index)", patience: 10 * second) }
    bench.submit("patient", patience: 5 * minute)
    let answered = bench.running[0]
    bench.queue.answered(answered, firstByte: nil, overload: Overload(status: 503), now: bench.now)
    bench.queue.pause(
      QueueBench.origin("a.example"), until: bench.now + minute, status: 503, now: bench.now)
    #expect(refusals(bench) == ["2 503 60", "3 503 60"])
    bench.finish(answered)
    bench.finishAll()
    bench.pass(minute)
    #expect(bench.takeBegun() == ["0", "1", "patient"])
  }

  @Test("good answers to earlier requests don't end the trouble of a host that asked for a pause")
  func answersDuringPause() {
    let bench = QueueBench(.fixed(10, perHost: 3))
    for index in 0..<4 { bench.submit("\(index)", patience: 10 * second) }
    bench.queue.answered(bench.running[0], firstByte: nil, overload: Overload(status: 503), now: bench.now)
    bench.queue.pause(
      QueueBench.origin("a.example"), until: bench.now + minute, status: 503, now: bench.now)
    bench.finishFirst()
    bench.queue.answered(bench.running[0], firstByte: nil, now: bench.now)
    bench.finishFirst()
    bench.submit("late", patience: 10 * second)
    bench.submit("patient", patience: 5 * minute)
    #expect(refusals(bench) == ["3 503 60", "late 503 60"])
    bench.finishAll()
    bench.pass(minute)
    #expect(bench.takeBegun() == ["0", "1", "2", "patient"])
  }

  @Test("entries are refused when their host has answered 429 for as long as they wait")
  func overloaded() {
    let bench = QueueBench(.fixed(10, perHost: 1))
    for index in 0..<100 { bench.submit("\(index)", patience: 20 * second) }
    for _ in 0..<40 {
      for entry in bench.running {
        bench.queue.answered(entry, firstByte: nil, overload: Overload(status: 429), now: bench.now)
        bench.finish(entry)
      }
      bench.pass(second)
    }
    #expect(bench.begun.count < 15)
    #expect(refusals(bench).count == 100 - bench.begun.count)
    #expect(refusals(bench).last == "99 429 0")
  }

  @Test(
    "the rest of a list is refused at once if its host was overloaded for too long", arguments: [429, 503])
  func restOfList(status: Int) {
    let bench = QueueBench(.fixed(10, perHost: 2))
    var left = 1000
    /// Submits the list a few at a time, as a batch does. The host answers `status` only.
    func run(until enough: Int) {
      for _ in 0..<400 where refusals(bench).count < enough {
        while left > 0, bench.queue.activity < 8 {
          left -= 1
          bench.submit("\(left)", patience: 10 * second)
          bench.pass(0)
        }
        for entry in bench.running {
          bench.queue.answered(entry, firstByte: nil, overload: Overload(status: status), now: bench.now)
          bench.finish(entry)
        }
        bench.pass(second)
      }
    }
    run(until: 1)
    #expect(bench.now - 1000 * second < 15 * second)
    // The next pages may be good: some of them are tried.
    #expect(refusals(bench).count < 10)
    run(until: 950)
    let tried = status == 503 ? 20 : 5
    #expect(bench.now - 1000 * second < 15 * second + Int64(tried + 1) * 10 * second)
    #expect(bench.begun.count < 20 + tried)

    // It is still tried: its next answer may be a good one.
    bench.pass(10 * second)
    bench.begun = []
    bench.submit("back", patience: 10 * second)
    #expect(bench.begun == ["back"])
  }

  @Test("patient entries are sent if only odd pages of their host are in trouble", arguments: [true, false])
  func oddPages(isBusy: Bool) {
    let bench = QueueBench(.fixed(10, perHost: 1))
    /// The pages whose names begin so are busy for ever, or close the connection.
    func answer(odd: Character) {
      for entry in bench.running {
        let isOdd = bench.names([entry])[0].first == odd
        guard isBusy || !isOdd else {
          let fault = TransportFault(.reset, "closed")
          bench.finish(entry, .dropped, fault, retryAt: bench.now + second)
          continue
        }
        let overload =
          isOdd ? Overload(status: 503, previous: entry.troubleSince > .min ? bench.now - 1 : nil) : nil
        bench.queue.answered(entry, firstByte: nil, overload: overload, now: bench.now)
        bench.finish(entry, retryAt: isOdd ? bench.now + second : nil)
      }
    }
    for index in 0..<3 { bench.submit("odd \(index)", patience: 20 * second) }
    bench.submit("well", patience: 20 * second)
    for _ in 0..<60 {
      answer(odd: "o")
      bench.pass(second)
    }
    #expect(refusals(bench).map { String($0.prefix(5)) } == ["odd 0", "odd 1", "odd 2"])
    bench.submit("odd late", patience: 20 * second)
    for index in 0..<20 { bench.submit("late \(index)", patience: 20 * second) }
    for _ in 0..<60 {
      answer(odd: "o")
      bench.pass(second)
    }
    #expect(bench.begun.count { $0.hasPrefix("late") } == 20)
    #expect(refusals(bench).count == 4, "\(refusals(bench))")

    // If all pages are in trouble, the host is.
    for index in 0..<100 { bench.submit("down \(index)", patience: 20 * second) }
    for _ in 0..<60 {
      answer(odd: "d")
      bench.pass(second)
    }
    #expect(bench.begun.filter { $0.hasPrefix("down") }.count < 20)
    #expect(refusals(bench).count == 104)
  }

  @Test("entries are refused when their host has been silent for as long as they wait")
  func silent() {
    let bench = QueueBench(.fixed(10, perHost: 2))
    let silence = TransportFault(.timeout, "no byte for 30 s")
    for index in 0..<100 { bench.submit("\(index)", patience: minute) }
    for _ in 0..<3 {
      bench.pass(30 * second)
      for entry in bench.running { bench.finish(entry, .timedOut, silence) }
    }
    #expect(bench.begun.count <= 6 && refusals(bench).count == 100 - bench.begun.count)
    #expect(refusals(bench).last == "99 timeout")
  }

  @Test("a host whose bodies stop coming is given up although its heads come", arguments: [false, true])
  func stuckBodies(oneIsWhole: Bool) {
    let bench = QueueBench(.fixed(10, perHost: 2))
    let silence = TransportFault(.timeout, "no byte for 30 s")
    for index in 0..<100 { bench.submit("\(index)", patience: minute) }
    for round in 0..<6 {
      for entry in bench.running { bench.queue.answered(entry, firstByte: nil, now: bench.now) }
      bench.pass(30 * second)
      if oneIsWhole, round % 2 == 1 { bench.finishFirst(.done) }
      for entry in bench.running.prefix(2) { bench.finish(entry, .timedOut, silence) }
    }
    if oneIsWhole {
      #expect(refusals(bench).isEmpty && bench.begun.count >= 14)
    } else {
      #expect(bench.begun.count <= 6 && refusals(bench).count == 100 - bench.begun.count)
      #expect(refusals(bench).last == "99 timeout")
    }
  }

  @Test("a host that answers no more is given up even if its requests are put off")
  func putOff() {
    let bench = QueueBench(.fixed(10, perHost: 2, lendAfter: second))
    let first = bench.submit("first", patience: 20 * second)
    bench.queue.answered(first, firstByte: 50 * millisecond, now: bench.now)
    bench.finish(first)
    var left = 500
    for _ in 0..<60 where refusals(bench).count < 450 {
      while left > 0, bench.queue.activity < 8 {
        left -= 1
        bench.submit("\(left)", patience: 20 * second, mayBePutOff: true)
        bench.pass(0)
      }
      bench.pass(second)
    }
    #expect(refusals(bench).count >= 450 && refusals(bench).last == "0 timeout")
    #expect(bench.now - 1000 * second < 40 * second)
  }

  @Test("a host that drops its connections is left alone for a second, and other hosts go on")
  func dropped() {
    let bench = QueueBench(.fixed(10))
    for index in 0..<8 { bench.submit("\(index)", patience: minute) }
    for index in 0..<8 { bench.submit("b\(index)", to: "b.example") }
    while let entry = bench.running.first(where: { $0.patience > 0 }) {
      bench.finish(entry, .dropped, TransportFault(.reset, "closed"), retryAt: bench.now)
    }
    let begun = bench.begun.count
    bench.pass(second - 1)
    #expect(bench.begun.count == begun)
    bench.pass(1)
    #expect(bench.begun.count == begun + 1)
    for _ in 0..<20 {
      let other = bench.submit("c", to: "c.example")
      bench.finish(other, .dropped, TransportFault(.reset, "closed"))
    }
    #expect(bench.refused.isEmpty)
  }

  @Test("patient entries are tried again before their host is given up, even in a full queue")
  func congested() {
    let bench = QueueBench(.fixed(6))
    for index in 0..<6 { bench.submit("a\(index)", patience: 10 * second) }
    for index in 0..<300 { bench.submit("b\(index)", to: "b\(index / 6).example", patience: 10 * second) }
    let fault = TransportFault(.reset, "closed")
    for entry in bench.running {
      bench.finish(entry, .unreachable(timedOut: false), fault, retryAt: bench.now)
    }
    for _ in 0..<12 {
      bench.pass(second)
      for entry in bench.running {
        bench.queue.answered(entry, firstByte: nil, now: bench.now)
        bench.finish(entry)
      }
    }
    #expect(bench.begun.count { $0.hasPrefix("a") } > 6, "\(bench.refused)")
    #expect(bench.refused.isEmpty)
  }
}
