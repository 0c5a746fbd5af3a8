import Testing

@testable import NuthatchCore

@Suite("Delayed entries of the queue") struct QueueDelayTests {
  @Test("an entry of the queue begins when it may, not before")
  func notBefore() {
    let bench = QueueBench()
    bench.submit("later", notBefore: bench.now + 2 * second)
    bench.submit("soon", notBefore: bench.now + 1 * second)
    bench.submit("past", notBefore: bench.now - 1)
    #expect(bench.takeBegun() == ["past"] && bench.wakes.count == 2)
    bench.pass(second)
    #expect(bench.takeBegun() == ["soon"])
    bench.pass(second)
    #expect(bench.takeBegun() == ["later"])
  }

  @Test("a retried entry waits for its time, and keeps its arrival")
  func retry() throws {
    let bench = QueueBench(.fixed(1))
    let first = bench.submit("first")
    bench.finish(first, .done, retryAt: bench.now + second)
    #expect(bench.queue.activity == 1)
    bench.submit("second")
    bench.submit("third")
    bench.pass(second)
    bench.finishFirst()
    #expect(bench.begun == ["first", "second", "first"])
    bench.finish(first, .done, retryAt: bench.now)
    #expect(bench.begun == ["first", "second", "first", "first"])
    bench.finish(first)
    bench.finishAll()
    #expect(bench.begun.last == "third")
  }

  @Test("a delayed entry can be removed, and its priority changed")
  func removed() {
    let bench = QueueBench(.fixed(1))
    bench.submit("running")
    let a = bench.submit("a", notBefore: bench.now + second)
    let b = bench.submit("b", notBefore: bench.now + second)
    bench.submit("c")
    bench.queue.setPriority(5, of: b, now: bench.now)
    bench.queue.remove(a, now: bench.now)
    bench.pass(second)
    bench.finishAll()
    #expect(bench.begun == ["running", "b", "c"])
  }
}

@Suite("Activity of the queue") struct QueueActivityTests {
  @Test("the activity counts waiting and running entries")
  func counts() {
    let bench = QueueBench(.fixed(1))
    #expect(bench.queue.activity == 0)
    let a = bench.submit("a")
    let b = bench.submit("b")
    bench.submit("c", notBefore: bench.now + second)
    #expect(bench.queue.activity == 3)
    bench.finish(a)
    bench.queue.remove(b, now: bench.now)
    #expect(bench.queue.activity == 1)
    bench.pass(second)
    bench.finishAll()
    #expect(bench.queue.activity == 0)
  }

  @Test("the activity stands still while an entry ends and hands on to the next")
  func handedOn() {
    let bench = QueueBench(.fixed(1))
    bench.onBegin = { entry in
      // As a redirect's next hop does: it is submitted while the first is being ended.
      guard bench.begun.count < 5 else { return }
      bench.submit("hop \(bench.begun.count)", to: "h\(bench.begun.count).example")
      bench.finish(entry)
    }
    bench.submit("first")
    #expect(bench.begun == ["first", "hop 1", "hop 2", "hop 3", "hop 4"])
    #expect(bench.queue.activity == 1)
    bench.finishAll()
    #expect(bench.queue.activity == 0)
  }
}
