import Glibc
import Testing

@testable import NuthatchCore

@Suite("Jobs of a serial queue") struct SerialQueueTests {
  @Test("jobs of a serial queue run in their order")
  func order() {
    let workers = WorkerPool(width: 2, memory: 1)
    let queue = SerialQueue(workers)
    let done = Collected<Int>()
    for number in 0..<100 { queue.submit { done.add(number) } }
    workers.stop()
    #expect(done.values == Array(0..<100))
  }

  @Test("a serial queue lets another queue of the same thread have its turn")
  func turns() {
    let workers = WorkerPool(width: 1, memory: 1)
    let (endless, other) = (SerialQueue(workers), SerialQueue(workers))
    let done = Collected<Int>()
    // Each job asks for the next one, until the other queue has had its turn.
    @Sendable func goOn() { if done.values.isEmpty { endless.submit(goOn) } }
    endless.submit(goOn)
    other.submit { done.add(1) }
    for _ in 0..<60_000 where done.values.isEmpty { usleep(1000) }
    done.add(2)
    workers.stop()
    #expect(done.values == [1, 2])
  }

  @Test("without workers jobs of a serial queue run at once, with the jobs that they submit")
  func afterTheEnd() {
    let workers = WorkerPool(width: 1, memory: 1)
    workers.stop()
    let queue = SerialQueue(workers)
    let done = Collected<Int>()
    queue.submit {
      queue.submit { done.add(2) }
      done.add(1)
    }
    #expect(done.values == [1, 2])
    queue.submit { done.add(3) }
    #expect(done.values == [1, 2, 3])
  }

  private final class Asking: Sendable {
    let queue: SerialQueue
    init(_ queue: SerialQueue) { self.queue = queue }
    deinit { queue.submit {} }
  }

  private func submit(_ asking: Asking, to workers: WorkerPool) {
    workers.submit { _ = asking.queue }
  }

  @Test("abandoned jobs are released, even if the release of one submits another")
  func abandoned() {
    let workers = WorkerPool(width: 1, memory: 1)
    let begun = Collected<Int>()
    workers.submit {
      begun.add(1)
      // Still runs when the pool is abandoned. Were it over before, the test would find less.
      usleep(200_000)
    }
    for _ in 0..<60_000 where begun.values.isEmpty { usleep(1000) }
    submit(Asking(SerialQueue(workers)), to: workers)
    workers.abandon()
    #expect(begun.values == [1])
  }
}
