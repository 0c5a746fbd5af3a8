import Testing

@testable import NuthatchCore

/// A server that answers 429 when it has had too much, and a queue that asks it, on a simulated clock.
private final class LimitedServer {
  let bench = QueueBench(.fixed(64))
  let isTooMuch: (_ starts: [Int64], _ now: Int64) -> Int?
  let latency: Int64
  /// The numbers of the requests that always get 503.
  let odd: Range<Int>
  private(set) var starts: [Int64] = []
  private(set) var overloads: [Int64] = []
  private(set) var good = 0
  private var previous: [String: Int64] = [:]
  private var due: [(at: Int64, entry: QueueEntry, status: Int?)] = []
  let begin: Int64

  init(
    latency: Int64 = 5 * millisecond, odd: Range<Int> = 0..<0,
    isTooMuch: @escaping ([Int64], Int64) -> Int? = { _, _ in nil }
  ) {
    self.isTooMuch = isTooMuch
    self.latency = latency
    self.odd = odd
    begin = bench.now
    bench.onBegin = { [unowned self] entry in
      let isOdd = odd.contains(Int(Self.name(of: entry)) ?? -1)
      let status = isOdd ? 503 : self.isTooMuch(self.starts, self.bench.now)
      if status == nil { self.starts.append(self.bench.now) }
      self.due.append((self.bench.now + self.latency, entry, status))
    }
  }

  /// Seconds until all but the odd ones are answered well.
  func run(_ count: Int, within limit: Int64) -> Double {
    for index in 0..<count { bench.submit("\(index)", patience: 300 * second) }
    while good < count - odd.count, bench.now < begin + limit {
      let next = min(due.map(\.at).min() ?? .max, bench.wakes.min() ?? .max)
      bench.pass(max(0, next - bench.now))
      let answers = due.filter { $0.at <= bench.now }
      due.removeAll { $0.at <= bench.now }
      for answer in answers { tell(answer.entry, answer.status) }
    }
    return Double(bench.now - begin) / 1e9
  }

  private func tell(_ entry: QueueEntry, _ status: Int?) {
    let name = Self.name(of: entry)
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

  private static func name(of entry: QueueEntry) -> String { (entry.work as? QueueBench.Work)?.name ?? "" }

  func overloads(after seconds: Int64) -> Int { overloads.count { $0 > begin + seconds * second } }
}

@Suite("Hosts that answer 429 or 503") struct PaceTests {
  @Test("a host that refuses above 50 a second gets nearly 50, and few too many after the start")
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

  @Test("a host that refuses above 10 in a second of the clock gets all 200 requests within 30 s")
  func byTheClock() {
    let server = LimitedServer(latency: 50 * millisecond) { starts, now in
      starts.reversed().prefix { $0 / second == now / second }.count >= 10 ? 429 : nil
    }
    let seconds = server.run(200, within: 100 * second)
    #expect(server.good == 200)
    #expect(seconds < 30, "\(seconds)")
  }

  @Test("a host that refuses above 600 a minute gets 3000 requests within 600 s")
  func perMinute() {
    let server = LimitedServer { starts, now in
      starts.reversed().prefix { $0 > now - 60 * second }.count >= 600 ? 429 : nil
    }
    let seconds = server.run(3000, within: 900 * second)
    #expect(server.good == 3000)
    #expect(seconds < 600, "\(seconds)")
    #expect(server.overloads.count < 100, "\(server.overloads.count)")
  }

  @Test("a host that refuses more than 3 at once gets 600 requests within 51 s")
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

  @Test(
    "a host with three seconds of 503 is asked as fast as before soon after that",
    .enabled(if: !isSanitized, "12,000 requests take half a minute there"))
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

  @Test("a host that answers 503 from the first request on is asked as fast as any when it recovers")
  func lateStart() {
    let server = LimitedServer { _, now in now < 1003 * second ? 503 : nil }
    let seconds = server.run(6000, within: 300 * second)
    #expect(server.good == 6000 && seconds < 20, "\(seconds)")
  }

  @Test("a host isn't slowed down by single pages that answer 503")
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

  @Test(
    "pages side by side that always answer 503 delay others by seconds only",
    arguments: [0..<20, 0..<200, 100..<300])
  func oddPagesSideBySide(odd: Range<Int>) {
    let server = LimitedServer(odd: odd)
    let seconds = server.run(1200, within: 300 * second)
    #expect(server.good == 1200 - odd.count)
    #expect(seconds < 30, "\(seconds)")
  }

  @Test("a host that answers 503 above 50 a second gets nearly 50, and few too many")
  func unavailablePerSecond() {
    let server = LimitedServer { starts, now in
      starts.reversed().prefix { $0 > now - second }.count >= 50 ? 503 : nil
    }
    let seconds = server.run(6000, within: 400 * second)
    #expect(server.good == 6000)
    #expect(seconds < 120 * 1.4, "\(seconds)")
    #expect(server.overloads.count <= 150, "\(server.overloads.count)")
  }

  @Test("a host that answers 503 above 1 a second gets all requests, and few too many")
  func unavailableSlowly() {
    let server = LimitedServer { starts, now in
      starts.reversed().prefix { $0 > now - second }.count >= 1 ? 503 : nil
    }
    let seconds = server.run(100, within: 400 * second)
    #expect(server.good == 100)
    #expect(seconds < 200, "\(seconds)")
    #expect(server.overloads.count <= 100, "\(server.overloads.count)")
  }

  @Test("a host whose limit falls is asked less often, although it answers 503")
  func lessLater() {
    let server = LimitedServer { starts, now in
      starts.reversed().prefix { $0 > now - second }.count >= (now < 1020 * second ? 100 : 10) ? 503 : nil
    }
    let seconds = server.run(2800, within: 400 * second)
    #expect(server.good == 2800)
    #expect(seconds < 20 + 80 * 2, "\(seconds)")
    #expect(server.overloads(after: 22) <= 100, "\(server.overloads.map { ($0 - server.begin) / second })")
  }

  @Test("a host isn't slowed down by 503 to one request in ten")
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

  @Test("a host with 503 to one request in eight still gets more than 20 requests a second")
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

  @Test("two 503 while a host is asked twice a second don't keep its rate low for long")
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

  @Test("a host that has never answered 429 or 503 has no rate")
  func unknown() {
    var pace = Pace()
    #expect(pace.rate(at: 0) == nil)
    for index in 0..<100 { pace.noteGood(began: Int64(index), at: Int64(index) * 5 * millisecond) }
    #expect(pace.rate(at: second) == nil)
  }
}

@Suite("Rates that the program sets") struct StartRateTests {
  @Test("a set rate is kept even if the queue is woken late", arguments: [1.5, 3.0, 40.0])
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

  @Test("a set rate isn't made up for after a rest")
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
