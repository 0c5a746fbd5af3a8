import Testing

@testable import NuthatchCore

@Suite("Growing limits of hosts") struct HostLimitTests {
  /// A host of which more than `slots` requests at once get 429, and a limit, without time.
  private struct Measured {
    var limit = HostLimit(6)
    var now: Int64 = 1000 * second
    let slots: Int
    var mostAtOnce = 0
    /// When more ran at once than the host bears.
    var excesses: [Int64] = []

    init(slots: Int) { self.slots = slots }

    /// As many requests at once as there may be, answered together after 100 ms.
    mutating func round(isCalm: Bool = true, isWanted: Bool = true) {
      let (began, running) = (now, limit.value)
      mostAtOnce = max(mostAtOnce, running)
      now += 100 * millisecond
      if running > slots { excesses.append(now) }
      for index in 0..<running {
        if index < slots {
          limit.noteGood(isCalm: isCalm, isWanted: isWanted, began: began, at: now)
        } else {
          limit.noteTrouble(began: began, at: now)
        }
      }
    }
  }

  @Test("a host's limit grows by one at first, then doubles, up to 32")
  func grows() {
    var measured = Measured(slots: 1000)
    var values: [Int] = []
    for _ in 0..<6 {
      measured.round()
      values.append(measured.limit.value)
    }
    #expect(values == [7, 14, 28, 32, 32, 32])
  }

  @Test("a host's limit stays while answers come late or no request waits")
  func stays() {
    var measured = Measured(slots: 1000)
    for _ in 0..<50 {
      measured.round(isCalm: false)
      measured.round(isWanted: false)
    }
    #expect(measured.limit.value == 6)
  }

  @Test(
    "a refusal lowers a host's limit to what the host bears, and one probe a minute tries more",
    arguments: [6, 10])
  func probes(slots: Int) {
    var measured = Measured(slots: slots)
    while measured.excesses.isEmpty { measured.round() }
    #expect(measured.limit.value <= max(3, slots * 7 / 10), "\(measured.limit.value)")
    let first = measured.now
    while measured.now < first + 600 * second { measured.round() }
    #expect((slots - 3...slots).contains(measured.limit.value), "\(measured.limit.value)")
    for (earlier, later) in zip(measured.excesses, measured.excesses.dropFirst()) {
      #expect(later - earlier >= 60 * second)
    }
    #expect(measured.excesses.count <= 11)
  }

  @Test("a host's limit goes below six if the host bears less")
  func few() {
    var measured = Measured(slots: 2)
    for _ in 0..<600 { measured.round() }
    #expect(measured.limit.value <= 3)
  }

  @Test("requests that began before a host's limit changed don't change it again")
  func late() {
    var limit = HostLimit(6)
    limit.noteTrouble(began: 10, at: 20)
    #expect(limit.value == 3)
    for _ in 0..<5 { limit.noteTrouble(began: 10, at: 30) }
    #expect(limit.value == 3 && limit.value(at: 10) == 6 && limit.value(at: 25) == 3)
  }
}

@Suite("The queue with growing limits of hosts") struct QueueHostLimitTests {
  private func answer(_ bench: QueueBench, isBatched: Bool, rounds: Int) -> Int {
    for index in 0..<400 { bench.submit("\(index)", patience: 300 * second, isBatched: isBatched) }
    var most = 0
    for _ in 0..<rounds {
      let running = bench.running
      most = max(most, running.count)
      bench.now += 50 * millisecond
      for entry in running { bench.queue.answered(entry, firstByte: 50 * millisecond, now: bench.now) }
      for entry in running { bench.finish(entry) }
    }
    return most
  }

  @Test("a host's limit grows for a batch only, and only with perHostGrows")
  func batchOnly() {
    var settings = QueueSettings.fixed(100)
    #expect(answer(QueueBench(settings), isBatched: true, rounds: 8) == 6)
    settings.perHostGrows = true
    #expect(answer(QueueBench(settings), isBatched: false, rounds: 8) == 6)
    #expect(answer(QueueBench(settings), isBatched: true, rounds: 8) == 32)
  }

  @Test("the first 429 of a host lowers its requests at once to half, not its rate")
  func firstRefusal() {
    var settings = QueueSettings.fixed(100)
    settings.perHostGrows = true
    let bench = QueueBench(settings)
    _ = answer(bench, isBatched: true, rounds: 2)
    let running = bench.running
    #expect(running.count > 6)
    bench.now += 50 * millisecond
    for (index, entry) in running.enumerated() {
      bench.queue.answered(
        entry, firstByte: nil, overload: index < 6 ? nil : Overload(status: 429), now: bench.now)
    }
    for entry in running { bench.finish(entry) }
    #expect(!bench.running.isEmpty && bench.running.count <= running.count / 2)
  }
}
