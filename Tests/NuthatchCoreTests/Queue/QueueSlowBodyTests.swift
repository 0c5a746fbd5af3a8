import Testing

@testable import NuthatchCore

@Suite("Slow bodies") struct QueueSlowBodyTests {
  /// Begins `count` requests at a host, and gives each its head.
  private func begin(_ count: Int, at host: String, _ bench: QueueBench, priority: Int = 0) -> [QueueEntry] {
    let entries = (0..<count).map { bench.submit("\(host) \($0)", to: host, priority: priority) }
    for entry in entries where entry.state == .running {
      bench.queue.answered(entry, firstByte: nil, now: bench.now)
    }
    return entries
  }

  /// Lets time pass; every 100 ms this number of bytes of each entry comes.
  private func drip(_ bytes: Int, of entries: [QueueEntry], for time: Int64, _ bench: QueueBench) {
    for _ in 0..<(time / (100 * millisecond)) {
      bench.pass(100 * millisecond)
      for entry in entries { bench.queue.moved(entry, bytes, now: bench.now) }
    }
  }

  private func expectEmpty(_ bench: QueueBench, _ location: SourceLocation = #_sourceLocation) {
    #expect(bench.queue.activity == 0, sourceLocation: location)
    for pool in [bench.queue.linkPlaces, bench.queue.loopbackPlaces] {
      #expect(pool.counts.lent == 0 && pool.counts.lentForSlowBodies == 0, sourceLocation: location)
      #expect(pool.counts.foreground == 0 && pool.counts.background == 0, sourceLocation: location)
    }
  }

  @Test("slow bodies lend their places to other hosts after a second")
  func starvation() {
    let bench = QueueBench(.fixed(12, lendAfter: second))
    let slow = begin(7, at: "slow1.example", bench) + begin(7, at: "slow2.example", bench)
    bench.submit("good", to: "good.example")
    drip(2, of: slow, for: 900 * millisecond, bench)
    #expect(bench.running.count == 12 && !bench.takeBegun().contains("good"))
    drip(2, of: slow, for: 200 * millisecond, bench)
    #expect(bench.takeBegun() == ["good"])
    // Their own hosts have what they may have.
    #expect(bench.running.count == 13)
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("a body keeps its place while a kilobyte comes in every second")
  func fastEnough() {
    let bench = QueueBench(.fixed(2, lendAfter: second))
    let entries = begin(2, at: "a.example", bench)
    bench.submit("other", to: "b.example")
    drip(130, of: entries, for: 20 * second, bench)
    #expect(bench.running.count == 2 && bench.queue.linkPlaces.counts.lent == 0)
    drip(90, of: entries, for: 2 * second, bench)
    #expect(bench.takeBegun().last == "other")
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("slow bodies lend at most as many places as the queue has")
  func bound() {
    for size in [1, 2, 5] {
      let bench = QueueBench(.fixed(size, lendAfter: second))
      bench.onBegin = { bench.queue.answered($0, firstByte: nil, now: bench.now) }
      for index in 0..<20 { bench.submit("\(index)", to: "h\(index).example") }
      #expect(bench.running.count == size)
      for _ in 0..<10 { drip(2, of: bench.running, for: second, bench) }
      #expect(bench.running.count == 2 * size && bench.queue.linkPlaces.counts.lent == size)
      // Places that are free again are lent again.
      bench.finishFirst()
      bench.finishFirst()
      drip(2, of: bench.running, for: 3 * second, bench)
      #expect(bench.running.count == 2 * size && bench.queue.linkPlaces.counts.lent == size)
      bench.finishAll()
      #expect(bench.begun.count == 20)
      expectEmpty(bench)
    }
  }

  @Test("slow bodies lend to other hosts only")
  func otherHosts() {
    let bench = QueueBench(.fixed(4, perHost: 32, lendAfter: second))
    let slow = begin(20, at: "slow.example", bench)
    drip(2, of: slow, for: 5 * second, bench)
    #expect(bench.running.count == 4)
    for index in 0..<6 { bench.submit("good \(index)", to: "good.example") }
    #expect(bench.running.count == 8)
    bench.finish(slow[0])
    // The place is one of its host's, which has its turn.
    drip(2, of: slow, for: second, bench)
    #expect(bench.running.count { $0.host === slow[0].host } <= 4)
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("a slow body doesn't keep the rest of its host from its turn")
  func hostGoesOn() {
    let bench = QueueBench(.fixed(4, lendAfter: second))
    let slow = begin(1, at: "mixed.example", bench)
    for index in 0..<8 { bench.submit("busy \(index)", to: "busy.example") }
    for entry in bench.running.dropFirst() { bench.queue.answered(entry, firstByte: nil, now: bench.now) }
    bench.submit("urgent", to: "mixed.example", priority: 5)
    for _ in 0..<30 {
      bench.pass(100 * millisecond)
      bench.queue.moved(slow[0], 2, now: bench.now)
      for entry in bench.running.dropFirst() { bench.queue.moved(entry, 2000, now: bench.now) }
    }
    bench.finish(bench.running[1])
    #expect(bench.begun.contains("urgent"))
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("a body that is fast again takes its place back, and no request starts until there is room")
  func fastAgain() {
    let bench = QueueBench(.fixed(2, lendAfter: second))
    let entries = begin(2, at: "a.example", bench)
    for index in 0..<3 { bench.submit("other \(index)", to: "b.example") }
    drip(2, of: entries, for: 1100 * millisecond, bench)
    #expect(bench.takeBegun().suffix(2) == ["other 0", "other 1"])
    let others = bench.running.suffix(2)
    bench.queue.moved(entries[0], 2000, now: bench.now)
    bench.queue.moved(entries[1], 2000, now: bench.now)
    #expect(bench.queue.linkPlaces.counts.lent == 0 && bench.queue.linkPlaces.counts.taken == 4)
    bench.finish(others[2])
    #expect(bench.takeBegun() == [])
    bench.finish(others[3])
    #expect(bench.takeBegun() == [])
    bench.finish(entries[0])
    #expect(bench.takeBegun() == ["other 2"])
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("bodies that come in bursts lend and take back, and the queue runs dry all the same")
  func flapping() {
    let bench = QueueBench(.fixed(3, lendAfter: second))
    bench.onBegin = { bench.queue.answered($0, firstByte: nil, now: bench.now) }
    for index in 0..<60 { bench.submit("\(index)", to: "h\(index % 10).example", priority: index % 3 - 1) }
    var random = Seeded(state: 7)
    for round in 0..<2000 where bench.queue.activity > 0 {
      bench.pass(300 * millisecond)
      for entry in bench.running where Bool.random(using: &random) {
        bench.queue.moved(entry, Bool.random(using: &random) ? 3000 : 3, now: bench.now)
      }
      #expect(bench.running.count <= 6)
      if round % 4 == 0, let entry = bench.running.randomElement(using: &random) { bench.finish(entry) }
    }
    #expect(bench.begun.count == 60)
    expectEmpty(bench)
  }

  @Test("a slow upload lends its place, too")
  func uploads() {
    let bench = QueueBench(.fixed(1, lendAfter: second))
    let upload = bench.submit("upload")
    bench.submit("other", to: "b.example")
    drip(2, of: [upload], for: 1100 * millisecond, bench)
    #expect(bench.takeBegun() == ["upload", "other"])
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("a slow body lends in the pool that its host moves to, and at its new priority")
  func moved() {
    let bench = QueueBench(.fixed(2, lendAfter: second))
    let entries = begin(1, at: "127.0.0.2", bench, priority: -5) + begin(1, at: "127.0.0.3", bench)
    drip(2, of: entries, for: 1100 * millisecond, bench)
    #expect(bench.queue.linkPlaces.counts.lentForSlowBodies == 2)
    bench.queue.change(.fixed(1, lendAfter: second), now: bench.now)
    bench.queue.setPriority(-5, of: entries[1], now: bench.now)
    #expect(bench.queue.linkPlaces.counts.lentForSlowBodies == 2)
    bench.queue.change(QueueSettings(), now: bench.now)
    #expect(
      bench.queue.linkPlaces.counts.lentForSlowBodies == 0
        && bench.queue.loopbackPlaces.counts.lentForSlowBodies == 2)
    bench.finishAll()
    expectEmpty(bench)
  }

  @Test("a retried request lends no place for the slow body of its earlier attempt")
  func again() {
    let bench = QueueBench(.fixed(2, lendAfter: second))
    let entry = begin(1, at: "a.example", bench)[0]
    drip(2, of: [entry], for: 2 * second, bench)
    bench.finish(entry, .done, retryAt: bench.now)
    #expect(
      entry.state == .running && !entry.isLending && bench.queue.linkPlaces.counts.lentForSlowBodies == 0)
    bench.pass(second)
    #expect(bench.queue.linkPlaces.counts.lent == 1 && bench.queue.linkPlaces.counts.lentForSlowBodies == 0)
    bench.finishAll()
    expectEmpty(bench)
  }
}
