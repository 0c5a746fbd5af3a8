import Testing

@testable import NuthatchCore

@Suite("Random use of the queue") struct QueuePropertyTests {
  /// Random use of a queue with an automatic size, circuits, a rate, latencies and links that change.
  private struct Storm {
    let bench: QueueBench
    var random: Seeded
    var entries: [QueueEntry] = []

    init(seed: UInt64, fixed: Bool) {
      random = Seeded(state: seed)
      var settings = QueueSettings()
      if fixed { settings.concurrency = .fixed(5) }
      if seed.isMultiple(of: 3) { settings.rate = 20 }
      settings.perHost = 3
      bench = QueueBench(settings, link: seed.isMultiple(of: 2) ? .wireless : .metered)
    }

    static let hosts = ["a.example", "b.example", "c.example", "d.example", "127.0.0.1:1", "localhost:2"]

    mutating func step() {
      let host = Storm.hosts.randomElement(using: &random) ?? "a.example"
      let queue: FetchQueue = bench.queue
      let running = bench.running.randomElement(using: &random)
      switch Int.random(in: 0..<24, using: &random) {
      case 0..<10:
        entries.append(bench.submit("x", to: host, priority: .random(in: -10...10, using: &random)))
      case 10..<14:
        let ends: [ExchangeOutcome] = [
          .done, .done, .done, .abandoned, .timedOut, .unreachable(timedOut: true),
          .unreachable(timedOut: false),
        ]
        guard let running, let end = ends.randomElement(using: &random) else { return }
        bench.finish(running, end, retryAt: Bool.random(using: &random) ? nil : bench.now + second)
      case 14, 15:
        guard let running else { return }
        queue.answered(running, firstByte: .random(in: 0...second, using: &random), now: bench.now)
      case 21:
        guard let running else { return }
        queue.moved(running, .random(in: 0...3000, using: &random), now: bench.now)
      case 16:
        guard let entry = entries.randomElement(using: &random) else { return }
        queue.setPriority(.random(in: -10...10, using: &random), of: entry, now: bench.now)
      case 17:
        guard let entry = entries.randomElement(using: &random) else { return }
        bench.running.removeAll { $0 === entry }
        queue.remove(entry, now: bench.now)
      case 18: queue.pause(QueueBench.origin(host), until: bench.now + second, now: bench.now)
      case 19:
        queue.noteProtocol(QueueBench.origin(host), isHTTP2: .random(using: &random), now: bench.now)
      case 20: queue.linkChanged(to: LinkKind.allCases.randomElement(using: &random) ?? .none, now: bench.now)
      default: bench.pass(.random(in: 0...second, using: &random))
      }
      entries.removeAll { $0.state == .gone }
    }

    /// Counted from the entries alone.
    func check(_ step: Int) {
      let queue: FetchQueue = bench.queue
      let isAutomatic = queue.settings.concurrency == .automatic
      let running = entries.filter { $0.state == .running }
      if queue.activity != entries.count || running.count != bench.running.count {
        Issue.record("step \(step): \(queue.activity) entries and \(running.count) running are miscounted")
      }
      let counted = running.filter { !$0.isLending && !(isAutomatic && $0.host.isLoopback) }
      let above = counted.count { !$0.isBackground }
      let below = counted.count - above
      let hasRoomAbove =
        above + min(below, isAutomatic ? queue.size - 1 : max(1, queue.size - 1)) < queue.size
      let hasRoomBelow = counted.count < queue.size && below < max(1, queue.size - 1)
      for entry in entries where entry.state == .queued {
        let host = entry.host
        guard host.gate(at: bench.now, queue.settings) == .open, !host.isHeld else { continue }
        if isAutomatic && host.isLoopback {
          Issue.record("step \(step): a loopback entry waits although its host could start it")
        } else if entry.isBackground ? hasRoomBelow : hasRoomAbove {
          Issue.record("step \(step): an entry of priority \(entry.priority) waits while there is room")
        }
      }
    }
  }

  @Test("under random use no entry of the queue waits that could run", arguments: 1...24)
  func workConserving(seed: Int) {
    var storm = Storm(seed: UInt64(seed), fixed: seed.isMultiple(of: 4))
    storm.entries.append(storm.bench.submit("first"))
    for step in 0..<300 {
      storm.step()
      storm.check(step)
    }
  }

  @Test(
    "after random use the queue runs dry, and every place is given back", arguments: 1...12)
  func runsDry(seed: Int) {
    var storm = Storm(seed: UInt64(seed), fixed: seed.isMultiple(of: 4))
    storm.entries.append(storm.bench.submit("first"))
    for _ in 0..<300 { storm.step() }
    let bench = storm.bench
    for _ in 0..<5000 where bench.queue.activity > 0 {
      bench.finishFirst()
      bench.pass(100 * millisecond)
    }
    #expect(bench.queue.activity == 0)
    #expect(bench.queue.linkPlaces.counts.taken == 0 && bench.queue.linkPlaces.counts.lent == 0)
    #expect(bench.queue.loopbackPlaces.counts.taken == 0)
  }
}
