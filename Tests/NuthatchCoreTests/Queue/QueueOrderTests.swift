import Testing

@testable import NuthatchCore

@Suite("Order of the queue") struct QueueOrderTests {
  @Test("entries start by priority, then by arrival")
  func order() {
    let bench = QueueBench(.fixed(1))
    bench.submit("running")
    for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", -10), ("e", 10), ("f", 5), ("g", -1)] {
      bench.submit(name, to: "\(name).example", priority: priority)
    }
    while !bench.running.isEmpty { bench.finishFirst() }
    #expect(bench.begun == ["running", "e", "b", "f", "a", "c", "g", "d"])
  }

  @Test("entries of one host start by priority, then by arrival")
  func oneHost() {
    let bench = QueueBench(.fixed(10, perHost: 1))
    bench.submit("running")
    for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", -10), ("e", 10)] {
      bench.submit(name, priority: priority)
    }
    while !bench.running.isEmpty { bench.finishFirst() }
    #expect(bench.begun == ["running", "e", "b", "a", "c", "d"])
  }

  @Test("a changed priority reorders an entry, which keeps its arrival")
  func change() {
    let bench = QueueBench(.fixed(1))
    bench.submit("running")
    let entries = ["a", "b", "c", "d"].map { bench.submit($0) }
    bench.queue.setPriority(3, of: entries[3], now: bench.now)
    bench.queue.setPriority(3, of: entries[1], now: bench.now)
    bench.queue.setPriority(-3, of: entries[0], now: bench.now)
    bench.queue.setPriority(99, of: entries[0], now: bench.now)
    #expect(entries[0].priority == 10)
    bench.queue.setPriority(-1, of: entries[0], now: bench.now)
    bench.queue.setPriority(0, of: entries[0], now: bench.now)
    while !bench.running.isEmpty { bench.finishFirst() }
    #expect(bench.begun == ["running", "b", "d", "a", "c"])
  }

  @Test("a removed entry of the queue is forgotten")
  func remove() {
    let bench = QueueBench(.fixed(1))
    let running = bench.submit("running")
    let a = bench.submit("a")
    bench.submit("b")
    bench.queue.remove(a, now: bench.now)
    bench.queue.remove(a, now: bench.now)
    #expect(bench.queue.activity == 2)
    bench.queue.remove(running, now: bench.now)
    #expect(bench.begun == ["running", "b"])
    bench.queue.finished(running, .done, now: bench.now)
    bench.queue.setPriority(1, of: running, now: bench.now)
    #expect(bench.queue.activity == 1)
  }

  @Test("one start in eight goes to the entry that has waited too long")
  func noStarvation() throws {
    let bench = QueueBench(.fixed(1))
    bench.submit("running")
    bench.submit("low", to: "low.example", priority: 1)
    bench.submit("lower", priority: 0)
    bench.submit("lowest", to: "low.example", priority: -10)
    for index in 0..<200 { bench.submit("high \(index)", to: "h\(index % 3).example", priority: 10) }
    bench.now += 9 * second
    for _ in 0..<20 { bench.finishFirst() }
    #expect(!bench.begun.contains("low"))
    bench.now += 2 * second
    _ = bench.takeBegun()
    for _ in 0..<40 { bench.finishFirst() }
    let low = try #require(bench.begun.firstIndex(of: "low"))
    let lower = try #require(bench.begun.firstIndex(of: "lower"))
    let lowest = try #require(bench.begun.firstIndex(of: "lowest"))
    #expect(low < 8 && lower < 17 && lowest < 40)
    #expect(bench.begun.count { $0.hasPrefix("high") } >= 33)
  }

  @Test(
    "one start in eight at a host goes to its entry that has waited too long, in any rhythm", arguments: 0...1
  )
  func noStarvationWithinHost(offset: Int) throws {
    let bench = QueueBench(.fixed(100, perHost: 1))
    for index in 0..<200 { bench.submit("b\(index)", to: "b.example", priority: 10) }
    bench.submit("running")
    bench.submit("low", priority: 0)
    bench.now += 11 * second
    func finish(_ host: String) {
      if let entry = bench.running.first(where: { $0.host.origin == QueueBench.origin(host) }) {
        bench.finish(entry)
      }
    }
    for _ in 0..<offset { finish("b.example") }
    for index in 0..<40 {
      bench.submit("high \(index)", priority: 10)
      finish("a.example")
      finish("b.example")
    }
    #expect(bench.begun.contains("low"))
  }
}
