import Glibc
import Testing

@testable import NuthatchCore

@Suite("What a line of jobs is given") struct SerialLineTests {
  @Test("is done in the order in which it came")
  func order() {
    let workers = WorkerPool(width: 2, memory: 1)
    let line = SerialLine(workers)
    let done = Collected<Int>()
    for number in 0..<100 { line.submit { done.add(number) } }
    workers.stop()
    #expect(done.values == Array(0..<100))
  }

  @Test("lets another line of the same thread have its turn")
  func turns() {
    let workers = WorkerPool(width: 1, memory: 1)
    let (endless, other) = (SerialLine(workers), SerialLine(workers))
    let done = Collected<Int>()
    // Each job asks for the next one, until the other line has had its turn.
    @Sendable func goOn() { if done.values.isEmpty { endless.submit(goOn) } }
    endless.submit(goOn)
    other.submit { done.add(1) }
    for _ in 0..<60_000 where done.values.isEmpty { usleep(1000) }
    done.add(2)
    workers.stop()
    #expect(done.values == [1, 2])
  }

  @Test("is done at once when there are no workers any more, what it asks for included")
  func afterTheEnd() {
    let workers = WorkerPool(width: 1, memory: 1)
    workers.stop()
    let line = SerialLine(workers)
    let done = Collected<Int>()
    line.submit {
      line.submit { done.add(2) }
      done.add(1)
    }
    #expect(done.values == [1, 2])
    line.submit { done.add(3) }
    #expect(done.values == [1, 2, 3])
  }

  private final class Asking: Sendable {
    let line: SerialLine
    init(_ line: SerialLine) { self.line = line }
    deinit { line.submit {} }
  }

  private func submit(_ asking: Asking, to workers: WorkerPool) {
    workers.submit { _ = asking.line }
  }

  @Test("is let go of with the threads, also where its end asks for more")
  func abandoned() {
    let workers = WorkerPool(width: 1, memory: 1)
    let begun = Collected<Int>()
    workers.submit {
      begun.add(1)
      usleep(200_000)
    }
    for _ in 0..<60_000 where begun.values.isEmpty { usleep(1000) }
    submit(Asking(SerialLine(workers)), to: workers)
    workers.abandon()
    #expect(begun.values == [1])
  }
}
