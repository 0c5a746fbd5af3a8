import Testing

@testable import NuthatchCore

@Suite("What needs the outbox's disk") struct OutboxLaneTests {
  @Test("is done in the order in which it was asked for")
  func order() {
    let workers = WorkerPool(width: 2, memory: 1)
    let lane = OutboxLane(workers)
    let done = Collected<Int>()
    for number in 0..<100 { lane.submit { done.add(number) } }
    workers.stop()
    #expect(done.values == Array(0..<100))
  }

  @Test("is done at once when there are no workers any more, what it asks for included")
  func afterTheEnd() {
    let workers = WorkerPool(width: 1, memory: 1)
    workers.stop()
    let lane = OutboxLane(workers)
    let done = Collected<Int>()
    lane.submit {
      lane.submit { done.add(2) }
      done.add(1)
    }
    #expect(done.values == [1, 2])
    lane.submit { done.add(3) }
    #expect(done.values == [1, 2, 3])
  }
}
