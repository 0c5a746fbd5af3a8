import Testing

@testable import NuthatchCore

/// A server that answers 429 when it has had too much, and a queue that asks it, without time.
private final class LimitedServer {
  let bench = QueueBench(.fixed(64))
  let isTooMuch: (_ starts: [Int64], _ now: Int64) -> Int?
  let latency: Int64
  private(set) var starts: [Int64] = []
  private(set) var overloads: [Int64] = []
  private(set) var good = 0
  private var previous: [String: Int64] = [:]
  private var due: [(at: Int64, entry: QueueEntry, status: Int?)] = []
  let begin: Int64

  init(latency: Int64 = 5 * millisecond, isTooMuch: @escaping ([Int64], Int64) -> Int?) {
    self.isTooMuch = isTooMuch
    self.latency = latency
    begin = bench.now
    bench.onBegin = { [unowned self] entry in
      let status = self.isTooMuch(self.starts, self.bench.now)
      if status == nil { self.starts.append(self.bench.now) }
      self.due.append((self.bench.now + self.latency, entry, status))
    }
  }

  /// Seconds until all are answered well.
  func run(_ count: Int, within limit: Int64) -> Double {
    for index in 0..<count { bench.submit("\(index)", patience: 300 * second) }
    while good < count, bench.now < begin + limit {
      let next = min(due.map(\.at).min() ?? .max, bench.wakes.min() ?? .max)
      bench.pass(max(0, next - bench.now))
      let answers = due.filter { $0.at <= bench.now }
      due.removeAll { $0.at <= bench.now }
      for answer in answers { tell(answer.entry, answer.status) }
    }
    return Double(bench.now - begin) / 1e9
  }

  private func tell(_ entry: QueueEntry, _ status: Int?) {
    let name = (entry.work as? QueueBench.Work)?.name ?? ""
    let overload = status.map { Overload(status: $0, previous: previous[name]) }
    bench.queue.answered(entry, firstByte: nil, overload: overload, now: bench.now)
    if status == nil {
      good += 1
      bench.finish(entry)
    } else {
      overloads.append(bench.now)
      previous[name] = bench.now
      bench.finish(entry, retryAt: bench.now + 250 * millisecond)
    }
  }

  func overloads(after seconds: Int64) -> Int { overloads.count { $0 > begin + seconds * second } }
}

@Suite("A host that says 429") struct PaceTests {
  @Test("above 50 a second has nearly 50, and after the first moment one too many a minute")
  func perSecond() {
    let server = LimitedServer { starts, now in
      starts.reversed().prefix { $0 > now - second }.count >= 50 ? 429 : nil
    }
    let seconds = server.run(6000, within: 400 * second)
    #expect(server.good == 6000)
    #expect(seconds < 120 * 1.3, "\(seconds)")
    #expect(server.overloads(after: 2) <= 8, "\(server.overloads.map { ($0 - server.begin) / second })")
    #expect(server.overloads.count <= 20)
  }

  @Test("above 10 a second, counted by the clock, loses nothing and has most of that")
  func byTheClock() {
    let server = LimitedServer(latency: 50 * millisecond) { starts, now in
      starts.reversed().prefix { $0 / second == now / second }.count >= 10 ? 429 : nil
    }
    let seconds = server.run(200, within: 100 * second)
    #expect(server.good == 200)
    #expect(seconds < 30, "\(seconds)")
  }

  @Test("above 600 a minute is asked as much as that in the end")
  func perMinute() {
    let server = LimitedServer { starts, now in
      starts.reversed().prefix { $0 > now - 60 * second }.count >= 600 ? 429 : nil
    }
    let seconds = server.run(3000, within: 900 * second)
    #expect(server.good == 3000)
    #expect(seconds < 600, "\(seconds)")
    #expect(server.overloads.count < 100, "\(server.overloads.count)")
  }

  @Test("when more than 3 are under way at once is asked less often")
  func atOnce() {
    var ends: [Int64] = []
    let server = LimitedServer(latency: 150 * millisecond) { _, now in
      ends.removeAll { $0 <= now }
      guard ends.count < 3 else { return 429 }
      ends.append(now + 150 * millisecond)
      return nil
    }
    let seconds = server.run(600, within: 300 * second)
    #expect(server.good == 600)
    #expect(seconds < 30 * 1.7, "\(seconds)")
  }

  @Test("or 503 for three seconds is as fast as before soon after that")
  func outage() {
    let server = LimitedServer { _, now in
      let second = (now - 1000 * NuthatchCoreTests.second) / NuthatchCoreTests.second
      return (2..<5).contains(second) ? 503 : nil
    }
    let seconds = server.run(12_000, within: 300 * second)
    #expect(server.good == 12_000)
    // 1,200 a second are possible.
    #expect(seconds < 30, "\(seconds)")
  }

  @Test("or 503 from the first request on is as fast as any when it is well")
  func lateStart() {
    let server = LimitedServer { _, now in now < 1003 * second ? 503 : nil }
    let seconds = server.run(6000, within: 300 * second)
    #expect(server.good == 6000 && seconds < 20, "\(seconds)")
  }

  @Test("503 for some of its pages, for ever, isn't slowed down by them")
  func oddPages() {
    var count = 0
    let server = LimitedServer { _, _ in
      count += 1
      return count % 100 == 0 ? 503 : nil
    }
    let seconds = server.run(12_000, within: 300 * second)
    #expect(server.good == 12_000)
    #expect(seconds < 60, "\(seconds)")
  }

  @Test("503 to one request in ten isn't slowed down")
  func oneInTen() {
    var pace = Pace()
    var now = 1000 * second
    for number in 1...400 {
      now += second / 100
      if number % 10 == 0 {
        pace.noteOverload(503, isOnlyThisRequest: false, began: now, at: now)
      } else {
        pace.noteGood(began: now, at: now)
      }
    }
    #expect(pace.rate(at: now) == nil)
  }

  @Test("503 to one request in eight isn't held at a request a second")
  func oneInEight() {
    var pace = Pace()
    var now = 1000 * second
    for number in 1...400 {
      now += second / 100
      if number % 8 == 0 {
        pace.noteOverload(503, isOnlyThisRequest: false, began: now, at: now)
      } else {
        pace.noteGood(began: now, at: now)
      }
    }
    #expect((pace.rate(at: now) ?? 100) > 20)
  }

  @Test("503 twice while it is asked twice a second may be asked more often a little later")
  func littleAsked() {
    var pace = Pace()
    var now = 1000 * second
    for number in 1...20 {
      now += second / 2
      if number == 12 || number == 15 {
        pace.noteOverload(503, isOnlyThisRequest: false, began: now, at: now)
      } else {
        pace.noteGood(began: now, at: now)
      }
    }
    #expect((pace.rate(at: now + 10 * second) ?? 100) > 10)
  }

  @Test("is unknown before that")
  func unknown() {
    var pace = Pace()
    #expect(pace.rate(at: 0) == nil)
    for index in 0..<100 { pace.noteGood(began: Int64(index), at: Int64(index) * 5 * millisecond) }
    #expect(pace.rate(at: second) == nil)
  }
}

@Suite("A rate that the program sets") struct StartRateTests {
  @Test("is kept when what wakes the queue is late", arguments: [1.5, 3.0, 40.0])
  func late(milliseconds: Double) {
    var settings = QueueSettings.fixed(10)
    settings.rate = 200
    let bench = QueueBench(settings)
    bench.onBegin = { _ in }
    for index in 0..<4000 { bench.submit("\(index)") }
    let begin = bench.now
    var atMost = 0
    var starts: [Int64] = []
    while bench.now < begin + 10 * second {
      bench.finishAll()
      let before = bench.begun.count
      bench.now = max(bench.now, bench.wakes.min() ?? bench.now) + Int64(milliseconds * 1e6)
      bench.wakes = []
      bench.queue.tick(now: bench.now)
      while !bench.running.isEmpty { bench.finishFirst() }
      for _ in before..<bench.begun.count { starts.append(bench.now) }
      atMost = max(atMost, starts.reversed().prefix { $0 > bench.now - second }.count)
    }
    #expect((1980...2010).contains(bench.begun.count), "\(bench.begun.count)")
    #expect(atMost <= 220)
  }

  @Test("isn't made up for after a rest")
  func rest() {
    var settings = QueueSettings.fixed(100, perHost: 100)
    settings.rate = 10
    let bench = QueueBench(settings)
    bench.submit("first")
    bench.pass(60 * second)
    for index in 0..<50 { bench.submit("\(index)") }
    #expect(bench.begun.count == 2)
  }
}
