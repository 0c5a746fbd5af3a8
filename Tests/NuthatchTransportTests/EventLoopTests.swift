import CSystem
import Glibc
import Synchronization
import Testing

@testable import NuthatchTransport

@Suite("The event loop") struct EventLoopTests {
  @Test("the event loop runs every job before it stops, and none after")
  func jobs() throws {
    let loop = try EventLoop()
    let done = Atomic<Int>(0)
    for _ in 0..<1000 { loop.post { done.add(1, ordering: .relaxed) } }
    loop.stop { done.add(1, ordering: .relaxed) }
    #expect(done.load(ordering: .relaxed) == 1001)
    #expect(!loop.post { done.add(1, ordering: .relaxed) })
    loop.stop {}
    #expect(done.load(ordering: .relaxed) == 1001)
  }

  @Test("a job that comes while the event loop begins to wait wakes it")
  func wakes() throws {
    let loop = try EventLoop()
    let ran = Atomic<Int>(0)
    let end = nhs_monotonic_ns() + 20_000_000_000
    // Each job is posted as soon as the one before has run, so the loop is then about to wait.
    for round in 1...20_000 {
      // On a busy machine each yield takes milliseconds. A loop that isn't woken sleeps for ever.
      if nhs_monotonic_ns() > end { break }
      let limit = nhs_monotonic_ns() + 60_000_000_000
      loop.post { ran.store(round, ordering: .releasing) }
      while ran.load(ordering: .acquiring) < round, nhs_monotonic_ns() < limit { sched_yield() }
      try #require(ran.load(ordering: .acquiring) == round)
    }
    loop.stop {}
  }

  @Test("a job that a job posts runs without waking the event loop")
  func chained() throws {
    let loop = try EventLoop()
    let done = DispatchlessSignal()
    @Sendable func run(_ left: Int) {
      guard left > 0 else { return done.raise() }
      loop.post { run(left - 1) }
    }
    run(1000)
    #expect(done.wait())
    loop.stop {}
  }

  @Test("the event loop fires a timer not before its time")
  func timer() throws {
    let loop = try EventLoop()
    let early = Atomic<Int>(0)
    let fired = DispatchlessSignal()
    loop.post { [unowned loop] in
      let due = loop.now + 20_000_000
      _ = loop.at(due) {
        if loop.now < due { early.add(1, ordering: .relaxed) }
        fired.raise()
      }
    }
    #expect(fired.wait())
    #expect(early.load(ordering: .relaxed) == 0)
    loop.stop {}
  }

  @Test("200 event loops can be made and stopped one after the other")
  func repeated() throws {
    for _ in 0..<200 { try EventLoop().stop {} }
  }
}

/// Lets a test wait for something to happen on another thread.
final class DispatchlessSignal: Sendable {
  private let raised = Atomic<Bool>(false)

  func raise() { raised.store(true, ordering: .releasing) }

  func wait(seconds: Int64 = 30) -> Bool {
    let end = nhs_monotonic_ns() + seconds * 1_000_000_000
    while !raised.load(ordering: .acquiring) {
      if nhs_monotonic_ns() > end { return false }
      var word: UInt32 = 0
      nhs_futex_wait(&word, 0, nhs_monotonic_ns() + 1_000_000)
    }
    return true
  }
}
