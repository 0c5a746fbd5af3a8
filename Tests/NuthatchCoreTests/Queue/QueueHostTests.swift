import Testing

@testable import NuthatchCore

@Suite("Hosts in the queue") struct QueueHostTests {
  @Test("a host's limit doesn't hold up other hosts, ports or schemes")
  func limit() {
    let bench = QueueBench()
    for index in 0..<50 { bench.submit("a\(index)", priority: 10) }
    #expect(bench.takeBegun().count == 6)
    bench.submit("b", to: "b.example", priority: -10)
    bench.submit("other port", to: "a.example:8080", priority: -10)
    bench.submit("other scheme", to: "https://a.example/", priority: -10)
    #expect(bench.takeBegun() == ["b", "other port", "other scheme"])
  }

  @Test("a host that speaks HTTP/2 gets more requests at once")
  func http2() {
    let bench = QueueBench(.fixed(100))
    for index in 0..<50 { bench.submit("\(index)") }
    let origin = QueueBench.origin("a.example")
    bench.queue.noteProtocol(origin, isHTTP2: true, now: bench.now)
    #expect(bench.running.count == 32)
    bench.queue.noteProtocol(origin, isHTTP2: false, now: bench.now)
    for _ in 0..<26 { bench.finishFirst() }
    #expect(bench.begun.count == 32)
    bench.finishFirst()
    #expect(bench.running.count == 6)
  }

  @Test("a paused host starts no request, and other hosts go on")
  func pause() {
    let bench = QueueBench(.fixed(10, perHost: 2))
    for index in 0..<4 { bench.submit("\(index)", priority: 5) }
    let origin = QueueBench.origin("a.example")
    bench.queue.pause(origin, until: bench.now + 5 * second, now: bench.now)
    bench.queue.pause(origin, until: bench.now + 1 * second, now: bench.now)
    bench.finishAll()
    bench.submit("b", to: "b.example")
    #expect(bench.takeBegun() == ["0", "1", "b"])
    bench.pass(5 * second - 1)
    #expect(bench.takeBegun() == [])
    bench.pass(1)
    #expect(bench.takeBegun() == ["2", "3"])
  }

  @Test("the queue knows how long a host was paused: overlaps count once, the future doesn't yet")
  func pausedTime() {
    let bench = QueueBench()
    let origin = QueueBench.origin("a.example")
    func pause(_ seconds: Int64) {
      bench.queue.pause(origin, until: bench.now + seconds * second, now: bench.now)
    }
    func pauses() -> [Int64] {
      let pauses = bench.queue.pauseTimes(of: origin, now: bench.now)
      return [pauses.past / second, pauses.left / second]
    }
    #expect(pauses() == [0, 0])
    pause(5)
    #expect(pauses() == [0, 5])
    bench.pass(2 * second)
    pause(1)
    #expect(pauses() == [2, 3])
    pause(6)
    #expect(pauses() == [2, 6])
    bench.pass(10 * second)
    #expect(pauses() == [8, 0])
    pause(4)
    bench.pass(3 * second)
    #expect(pauses() == [11, 1])
    bench.pass(3 * second)
    #expect(pauses() == [12, 0])
  }

  @Test("a host is paused for 300 s at most, even if none of its requests waits")
  func longPause() {
    let bench = QueueBench()
    bench.queue.pause(QueueBench.origin("a.example"), until: .max, now: bench.now)
    bench.submit("a")
    bench.pass(300 * second - 1)
    #expect(bench.begun.isEmpty)
    bench.pass(1)
    #expect(bench.begun == ["a"])
  }

  private static func fourASecond() -> QueueBench {
    var settings = QueueSettings.fixed(100)
    settings.rate = 4
    return QueueBench(settings)
  }

  @Test("with a set rate a host's starts are evenly spaced")
  func rate() {
    let bench = Self.fourASecond()
    for index in 0..<10 { bench.submit("\(index)") }
    for index in 0..<3 { bench.submit("b\(index)", to: "b.example") }
    #expect(bench.takeBegun() == ["0", "b0"])
    bench.finishAll()
    bench.pass(250 * millisecond)
    #expect(bench.takeBegun() == ["1", "b1"])
    for _ in 0..<9 {
      bench.finishAll()
      bench.pass(250 * millisecond)
    }
    #expect(bench.begun.count == 9)
    bench.pass(10 * second)
    for index in 0..<5 { bench.submit("late \(index)") }
    #expect(bench.begun.count == 10)
  }

  @Test("a start that sent nothing is replaced by another one")
  func unusedStart() {
    let bench = Self.fourASecond()
    for index in 0..<4 { bench.submit("\(index)") }
    #expect(bench.takeBegun() == ["0"])
    bench.finishFirst(.unused)
    #expect(bench.takeBegun() == ["1"])
    bench.finishFirst(.abandoned)
    #expect(bench.takeBegun().isEmpty)
    bench.pass(250 * millisecond)
    #expect(bench.takeBegun() == ["2"])
    // One that takes long to turn out as unused gives back its own start, and none that others had meanwhile.
    bench.pass(250 * millisecond)
    #expect(bench.takeBegun() == ["3"])
    bench.finishFirst(.unused)
    bench.submit("4")
    bench.submit("5")
    #expect(bench.takeBegun() == ["4"])
  }

  @Test("an idle host is forgotten after many others, a host with entries never")
  func forgotten() {
    let bench = QueueBench(.fixed(1))
    bench.submit("running", to: "first.example")
    let entry = bench.submit("waiting", to: "second.example")
    for index in 0..<3 * QueueHosts.idleKept {
      bench.queue.remove(bench.submit("x", to: "h\(index).example"), now: bench.now)
    }
    #expect(bench.queue.hosts.all.count == QueueHosts.idleKept + 2)
    bench.finishFirst()
    #expect(bench.begun == ["running", "waiting"])
    bench.finish(entry)
    #expect(bench.queue.hosts.all.count == QueueHosts.idleKept)
  }
}
