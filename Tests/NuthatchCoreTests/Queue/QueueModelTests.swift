import Testing

@testable import NuthatchCore

/// A naive model of the queue: lists that are searched from end to end.
private final class QueueModel {
  struct Item {
    var name: String
    var host: Int
    var priority: Int
    let arrival: Int
    var isRunning = false
    var pausedUntil: Int64
  }

  var items: [Item] = []
  var arrivals = 0
  var size: Int
  var perHost: Int
  var pauses: [Int: Int64] = [:]
  var limits: [Int: Int] = [:]

  init(size: Int, perHost: Int) {
    self.size = size
    self.perHost = perHost
  }

  func running(_ condition: (Item) -> Bool) -> Int { items.count { $0.isRunning && condition($0) } }

  func mayRun(_ item: Item, at now: Int64) -> Bool {
    guard !item.isRunning, item.pausedUntil <= now, (pauses[item.host] ?? 0) <= now else { return false }
    guard running({ $0.host == item.host }) < (limits[item.host] ?? perHost) else { return false }
    let above = running { $0.priority >= 0 }
    let below = running { $0.priority < 0 }
    let belowPlaces = max(1, size - 1)
    if item.priority < 0 { return above + below < size && below < belowPlaces }
    return above + min(below, belowPlaces) < size
  }

  /// The next one to begin, if there is one.
  func next(at now: Int64) -> Int? {
    items.indices.filter { mayRun(items[$0], at: now) }
      .min { (-items[$0].priority, items[$0].arrival) < (-items[$1].priority, items[$1].arrival) }
  }
}

@Suite("The queue beside a naive model") struct QueueModelTests {
  private struct Pair {
    let bench: QueueBench
    let model: QueueModel
    var entries: [String: QueueEntry] = [:]
    var random: Seeded
    var submitted = 0

    init(seed: UInt64) {
      random = Seeded(state: seed)
      let size = Int.random(in: 1...8, using: &random)
      let perHost = Int.random(in: 1...4, using: &random)
      var settings = QueueSettings.fixed(size, perHost: perHost)
      // The share of the old is tested by itself: here it would hide the order.
      settings.starvationLimit = .max / 4
      settings.streams = 5
      bench = QueueBench(settings)
      model = QueueModel(size: size, perHost: perHost)
    }

    func host(_ number: Int) -> String { "h\(number).example" }

    mutating func step() {
      let pick = model.items.isEmpty ? nil : Int.random(in: 0..<model.items.count, using: &random)
      let host = Int.random(in: 0..<6, using: &random)
      let origin = QueueBench.origin(self.host(host))
      let priority = Int.random(in: -10...10, using: &random)
      let delay = Int64.random(in: 1...3, using: &random) * second
      switch Int.random(in: 0..<20, using: &random) {
      case 0..<8: submit(host, priority, until: Bool.random(using: &random) ? 0 : bench.now + delay)
      case 8..<12:
        guard let index = model.items.firstIndex(where: \.isRunning) else { return }
        finish(index)
      case 12:
        guard let index = model.items.lastIndex(where: \.isRunning) else { return }
        retry(index, after: delay)
      case 13, 14:
        guard let pick, let entry = entries[model.items[pick].name] else { return }
        model.items[pick].priority = priority
        follow()
        bench.queue.setPriority(priority, of: entry, now: bench.now)
      case 15:
        guard let pick, let entry = entries.removeValue(forKey: model.items[pick].name) else { return }
        model.items.remove(at: pick)
        follow()
        bench.queue.remove(entry, now: bench.now)
      case 16:
        model.pauses[host] = max(model.pauses[host] ?? 0, bench.now + delay)
        bench.queue.pause(origin, until: bench.now + delay, now: bench.now)
      case 17:
        // A host that the queue doesn't know yet can't speak anything.
        guard model.items.contains(where: { $0.host == host }) else { return }
        model.limits[host] = 5
        follow()
        bench.queue.noteProtocol(origin, isHTTP2: true, now: bench.now)
      case 18:
        model.size = Int.random(in: 1...8, using: &random)
        follow()
        var settings = bench.queue.settings
        settings.concurrency = .fixed(model.size)
        bench.queue.change(settings, now: bench.now)
      default:
        pass(delay / 2)
      }
    }

    private mutating func submit(_ host: Int, _ priority: Int, until: Int64) {
      submitted += 1
      model.arrivals += 1
      let name = "\(submitted)"
      model.items.append(
        .init(name: name, host: host, priority: priority, arrival: model.arrivals, pausedUntil: until))
      follow()
      entries[name] = bench.submit(name, to: self.host(host), priority: priority, notBefore: until)
    }

    private mutating func finish(_ index: Int) {
      guard let entry = entries.removeValue(forKey: model.items[index].name) else { return }
      model.items.remove(at: index)
      follow()
      bench.finish(entry)
    }

    private mutating func retry(_ index: Int, after delay: Int64) {
      guard let entry = entries[model.items[index].name] else { return }
      model.items[index].isRunning = false
      model.items[index].pausedUntil = bench.now + delay
      follow()
      bench.finish(entry, .done, retryAt: bench.now + delay)
    }

    /// Time passes to the next moment at which something happens, again and again.
    private mutating func pass(_ time: Int64) {
      let end = bench.now + time
      while true {
        let times = model.items.map(\.pausedUntil) + Array(model.pauses.values)
        guard let next = times.filter({ $0 > bench.now && $0 <= end }).min() else { break }
        follow(at: next)
        bench.pass(next - bench.now)
      }
      bench.pass(end - bench.now)
    }

    var expected: [String] = []

    /// Starts in the model what starts in the queue.
    private mutating func follow(at now: Int64? = nil) {
      while let index = model.next(at: now ?? bench.now) {
        model.items[index].isRunning = true
        expected.append(model.items[index].name)
      }
    }
  }

  @Test("the queue starts the same entries in the same order as a naive model", arguments: 1...30)
  func sameStarts(seed: Int) {
    var pair = Pair(seed: UInt64(seed))
    for step in 0..<300 {
      pair.step()
      guard pair.bench.begun == pair.expected else {
        Issue.record("step \(step): \(pair.bench.begun.suffix(5)) instead of \(pair.expected.suffix(5))")
        return
      }
      // Nothing that could run waits while there is room: the model has started all that.
      guard pair.model.next(at: pair.bench.now) == nil,
        pair.bench.queue.activity == pair.model.items.count
      else {
        Issue.record(
          "step \(step): something waits that could run, or \(pair.bench.queue.activity) are counted")
        return
      }
    }
    #expect(pair.expected.count > 50)
  }
}
