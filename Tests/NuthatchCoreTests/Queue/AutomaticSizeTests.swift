import Glibc
import Testing

@testable import NuthatchCore

@Suite("The queue's automatic size") struct AutomaticSizeTests {
  private static let range = AutomaticSize.Range(start: 32, floor: 4, ceiling: 256)

  /// A size whose answers come one by one, 10 ms apart.
  private struct Measured {
    var size: AutomaticSize
    var now: Int64 = 1000 * second

    init(_ range: AutomaticSize.Range = AutomaticSizeTests.range, most: Int = 1000) {
      size = AutomaticSize(range, most: most)
    }

    mutating func answers(
      _ count: Int, hosts: [UInt32] = [1], every gap: Int64 = 10 * millisecond, isBatch: Bool = false,
      _ judgement: HostLatency.Judgement
    ) {
      for index in 0..<count {
        now += gap
        size.noteBacklog(isBatch: isBatch)
        size.noteAnswer(host: hosts[index % hosts.count], judgement, began: now, at: now)
      }
    }
  }

  @Test("the automatic size grows by an eighth of its start with each calm window, while work waits")
  func grows() {
    var measured = Measured()
    var sizes: [Int] = []
    for _ in 0..<5 {
      measured.answers(16, .calm)
      sizes.append(measured.size.size)
    }
    #expect(sizes == [32, 36, 40, 44, 48])
    measured.answers(16 * 200, .calm)
    #expect(measured.size.size == 256)
  }

  @Test("the automatic size doesn't grow while no request waits")
  func idle() {
    var size = AutomaticSize(AutomaticSizeTests.range, most: 1000)
    for index: Int64 in 0..<1000 {
      size.noteAnswer(host: 1, .calm, began: index, at: index * 20 * millisecond)
    }
    #expect(size.size == 32)
  }

  @Test("the automatic size shrinks to seven tenths when answers come late, down to its floor")
  func shrinks() {
    var measured = Measured()
    var sizes: [Int] = []
    for _ in 0..<8 {
      measured.answers(16, .strained)
      sizes.append(measured.size.size)
    }
    #expect(sizes == [22, 15, 10, 7, 4, 4, 4, 4])
  }

  @Test("the automatic size halves when a host that answered before falls silent")
  func timeOut() {
    var measured = Measured()
    measured.answers(6, .strained)
    for _ in 0..<10 {
      measured.now += 10 * millisecond
      measured.size.noteTimeOut(host: 1, began: measured.now, at: measured.now)
    }
    #expect(measured.size.size == 16)
  }

  @Test("the automatic size stays between calm and strained")
  func hysteresis() {
    var measured = Measured()
    measured.answers(1600, .between)
    #expect(measured.size.size == 32)
    for _ in 0..<50 {
      measured.answers(16, .calm)
      measured.answers(16, .between)
    }
    #expect(measured.size.size == 32)
  }

  @Test("one jam shrinks the automatic size once: answers that began before it don't count again")
  func oneJam() {
    var measured = Measured()
    let began = measured.now
    for _ in 0..<500 {
      measured.now += 10 * millisecond
      measured.size.noteAnswer(host: 1, .strained, began: began, at: measured.now)
    }
    #expect(measured.size.size == 22)
  }

  @Test("one slow host doesn't decide the automatic size, however busy it is")
  func oneSlowHost() {
    var measured = Measured()
    for _ in 0..<20 {
      measured.answers(13, hosts: [1], .strained)
      measured.answers(3, hosts: [2, 3, 4], .calm)
    }
    #expect(measured.size.size > 32)
    for _ in 0..<3 {
      measured.answers(6, hosts: [2, 3], .strained)
      measured.answers(10, hosts: [4], .calm)
    }
    #expect(measured.size.size < 109)
  }

  @Test("the automatic size is judged by windows, not by a burst or a few late answers")
  func windows() {
    var size = AutomaticSize(AutomaticSizeTests.range, most: 1000)
    for _ in 0..<1000 { size.noteAnswer(host: 1, .strained, began: 0, at: 5) }
    #expect(size.size == 32)
    size.noteAnswer(host: 1, .strained, began: 0, at: 5 + 100 * millisecond)
    #expect(size.size == 22)
    size.noteAnswer(host: 1, .strained, began: second, at: 10 * second)
    size.noteAnswer(host: 1, .strained, began: second, at: 12 * second - 1)
    #expect(size.size == 22)
    size.noteAnswer(host: 1, .strained, began: second, at: 12 * second)
    #expect(size.size == 15)
  }

  @Test("the automatic size doubles for a batch when all places have answered, up to 512")
  func batch() {
    var measured = Measured(LinkKind.wired.sizes)
    measured.answers(1, isBatch: true, .calm)
    #expect(measured.size.size == 129)
    measured.answers(127, isBatch: true, .calm)
    #expect(measured.size.size == 256)
    measured.answers(1000, isBatch: true, .calm)
    #expect(measured.size.size == 512)
    measured.answers(1000, .calm)
    #expect(measured.size.size == 512)
    var other = Measured(LinkKind.wired.sizes)
    other.answers(16_000, .calm)
    #expect(other.size.size == 256)
  }

  @Test("a metered or wireless link has the same ceiling for a batch")
  func batchOnNarrowLink() {
    for link in [LinkKind.metered, .wireless] {
      var measured = Measured(link.sizes)
      measured.answers(16_000, isBatch: true, .calm)
      #expect(measured.size.size == link.sizes.ceiling)
    }
  }

  @Test("the automatic size halves when more requests at once bring no more answers a second")
  func yields() {
    var measured = Measured(LinkKind.wired.sizes)
    // 512 places, and never more than 200 answers a second.
    measured.answers(1000, every: 5 * millisecond, isBatch: true, .calm)
    #expect(measured.size.size == 512)
    while measured.size.size == 512 { measured.answers(1, every: 5 * millisecond, isBatch: true, .strained) }
    #expect(measured.size.size == 256)
    for _ in 0..<20 { measured.answers(21, every: 5 * millisecond, isBatch: true, .strained) }
    #expect(measured.size.size <= 8)
    // The same answers late, but twice as many a second with twice the places.
    var useful = Measured(LinkKind.wired.sizes)
    useful.answers(600, every: 10 * millisecond, isBatch: true, .calm)
    while useful.size.size == 512 { useful.answers(1, every: 10 * millisecond, isBatch: true, .strained) }
    #expect(useful.size.size == 256)
    useful.answers(1200, every: 10 * millisecond, isBatch: true, .calm)
    for _ in 0..<20 { useful.answers(50, every: 2 * millisecond, isBatch: true, .strained) }
    #expect(useful.size.size > 256, "\(useful.size.size)")
  }

  @Test("the automatic size has its bounds from the link, and never exceeds the descriptors")
  func bounds() {
    for link in LinkKind.allCases {
      var measured = Measured(link.sizes)
      measured.answers(16_000, .calm)
      #expect(measured.size.size == link.sizes.ceiling)
      measured.answers(3000, .strained)
      #expect(measured.size.size == link.sizes.floor)
    }
    var few = Measured(most: 3)
    #expect(few.size.size == 3)
    few.answers(100, .strained)
    #expect(few.size.size == 3)
    few.answers(1000, .calm)
    #expect(few.size.size == 3)
  }
}

@Suite("A host's latency") struct HostLatencyTests {
  private func settled(at sample: Int64) -> HostLatency {
    var latency = HostLatency()
    #expect(!latency.hasBaseline && note(&latency, sample) == .unknown)
    for _ in 0..<8 { #expect(note(&latency, sample) == .calm) }
    return latency
  }

  private func note(_ latency: inout HostLatency, _ sample: Int64, at now: Int64 = 0)
    -> HostLatency.Judgement
  {
    latency.note(sample, at: now)
  }

  @Test("a latency is judged by the host's usual latency")
  func judged() {
    for (sample, judgement) in [
      (0, HostLatency.Judgement.calm), (100, .calm), (155, .calm), (156, .between), (210, .between),
      (211, .strained), (100_000, .strained), (-5, .calm),
    ] {
      var latency = settled(at: 100 * millisecond)
      #expect(note(&latency, Int64(sample) * millisecond) == judgement, "\(sample) ms")
    }
  }

  @Test("latencies of a few milliseconds don't count as strained")
  func tiny() {
    var latency = settled(at: 100_000)
    #expect(note(&latency, 5 * millisecond) == .calm)
    #expect(note(&latency, 9 * millisecond) == .between)
  }

  @Test("a latency that has risen for good becomes the usual one")
  func risen() {
    var latency = settled(at: 100 * millisecond)
    let judgements = (0..<3000).map { note(&latency, second, at: Int64($0) * 100 * millisecond) }
    #expect(judgements.prefix(600).allSatisfy { $0 == .strained } && judgements.last == .calm)
  }

  @Test("a latency that creeps up little by little counts as strained")
  func creeping() {
    var latency = settled(at: 20 * millisecond)
    var sample = 20 * millisecond
    var isStrained = false
    for index: Int64 in 0..<1000 where !isStrained {
      sample += sample / 100
      isStrained = note(&latency, sample, at: index * 10 * millisecond) == .strained
    }
    #expect(isStrained && sample < 120 * millisecond)
  }

  @Test("the usual latency recovers quickly when the strain is over")
  func restored() {
    var latency = settled(at: 20 * millisecond)
    for _ in 0..<40 { _ = note(&latency, 100 * millisecond) }
    for _ in 0..<30 { _ = note(&latency, 20 * millisecond) }
    #expect(note(&latency, 60 * millisecond) == .strained)
  }

  @Test("most answers of a host with widely varying latencies don't count as strained")
  func varying() {
    // From 20 ms up, 100 ms in the mean, as a server with some answers at hand and others not.
    var random = Seeded(state: 1)
    var latency = HostLatency()
    var counts: [HostLatency.Judgement: Int] = [:]
    for _ in 0..<4000 {
      let share = Double(random.next() >> 11) / Double(1 << 53)
      let sample = Int64((20 - 80 * Glibc.log(1 - share)) * 1e6)
      counts[note(&latency, sample), default: 0] += 1
    }
    #expect(counts[.calm, default: 0] > 2000 && counts[.strained, default: 0] < 1600, "\(counts)")
  }

  @Test("absurd latencies do no harm")
  func odd() {
    var latency = HostLatency()
    for sample in [Int64.min, .max, -1, 0, .max] { for _ in 0..<50 { _ = note(&latency, sample) } }
    #expect(latency.hasBaseline)
  }
}

@Suite("The queue's adaptation") struct QueueAdaptationTests {
  /// Keeps 100 requests to each of ten hosts waiting, and lets each answer after `latency`.
  private func run(_ bench: QueueBench, rounds: Int, host: String = "h", latency: (Int) -> Int64) {
    for _ in 0..<rounds {
      for entry in Array(bench.running) {
        bench.pass(2 * millisecond)
        bench.queue.answered(entry, firstByte: latency(bench.queue.size), now: bench.now)
        bench.finish(entry)
        bench.submit("x", to: "\(host)\(bench.begun.count % 50).example")
      }
    }
  }

  private func filled(_ bench: QueueBench, host: String = "h") -> QueueBench {
    for index in 0..<600 { bench.submit("x", to: "\(host)\(index % 50).example") }
    return bench
  }

  @Test("the queue finds the size that the link carries, and stays near it")
  func converges() {
    let bench = filled(QueueBench(link: .wired))
    // 20 ms until 60 are under way; then each more costs 5 ms, as a full link would.
    let latency: (Int) -> Int64 = { (20 + Int64(max(0, $0 - 60)) * 5) * millisecond }
    run(bench, rounds: 100, latency: latency)
    var sizes: [Int] = []
    for _ in 0..<100 {
      run(bench, rounds: 1, latency: latency)
      sizes.append(bench.queue.size)
    }
    #expect(sizes.allSatisfy { (30...100).contains($0) }, "\(sizes)")
  }

  @Test("a fixed size of the queue doesn't adapt")
  func off() {
    let bench = filled(QueueBench(.fixed(32)))
    run(bench, rounds: 50) { _ in 20 * millisecond }
    run(bench, rounds: 50) { _ in 2 * second }
    #expect(bench.queue.size == 32 && bench.running.count == 32)
  }

  @Test("a host that never answered and loopback don't shrink the queue")
  func deadHost() {
    let bench = QueueBench(link: .wired)
    for host in ["dead.example", "127.0.0.1:1"] {
      for _ in 0..<200 {
        bench.finish(bench.submit("x", to: host), .timedOut)
        bench.now += 100 * millisecond
      }
    }
    #expect(bench.queue.size == 32)
    let alive = bench.submit("x", to: "alive.example")
    bench.queue.answered(alive, firstByte: 20 * millisecond, now: bench.now)
    bench.finish(alive)
    bench.now += second
    for _ in 0..<40 {
      bench.finish(bench.submit("x", to: "alive.example"), .timedOut)
      bench.now += 100 * millisecond
    }
    #expect(bench.queue.size < 32)
  }

  @Test(
    "a batch gets 512 requests at once, on loopback a quarter of the descriptors",
    arguments: ["h", "127.0.0."])
  func batch(host: String) {
    var settings = QueueSettings()
    settings.mostAtOnce = 2048
    let bench = QueueBench(settings, link: .wired)
    for index in 0..<6000 { bench.submit("x", to: "\(host)\(index % 100 + 1)", isBatched: true) }
    #expect(bench.running.count == 128)
    var most = 0
    while !bench.running.isEmpty {
      most = max(most, bench.running.count)
      bench.pass(50 * millisecond)
      for entry in Array(bench.running) {
        bench.queue.answered(entry, firstByte: 50 * millisecond, now: bench.now)
        bench.finish(entry)
      }
    }
    #expect(most == 512 && bench.begun.count == 6000)
  }

  @Test("the automatic size begins anew on another link")
  func anew() {
    let bench = filled(QueueBench(link: .wired))
    run(bench, rounds: 30) { _ in 20 * millisecond }
    #expect(bench.queue.size > 32)
    bench.queue.linkChanged(to: .wireless, now: bench.now)
    #expect(bench.queue.size == 6)
    bench.queue.linkChanged(to: .wired, now: bench.now)
    #expect(bench.queue.size == 32)
  }
}
