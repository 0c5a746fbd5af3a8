import CSystem
import Synchronization
import Testing

@testable import NuthatchBase

@Suite("Word locks") struct WordLockTests {
  private final class Counter: @unchecked Sendable {
    let lock = WordLock()
    let word = Atomic<UInt32>(0)
    var count = 0
  }

  @Test("a word lock lets one thread in at a time")
  func exclusion() async {
    let counter = Counter()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<50_000 { counter.lock.withLock { counter.count += 1 } } }
      }
    }
    #expect(counter.lock.withLock { counter.count } == 200_000)
  }

  @Test("a word lock is free again after an error")
  func error() {
    struct Failure: Error {}
    let counter = Counter()
    #expect(throws: Failure.self) { try counter.lock.withLock { throw Failure() } }
    counter.lock.withLock { counter.count += 1 }
    #expect(counter.count == 1)
  }

  @Test("waiting for a word lock ends at the given time")
  func deadline() async {
    let counter = Counter()
    let past = nhs_monotonic_ns()
    #expect(counter.lock.lock { past })
    #expect(!counter.lock.lock { past })
    #expect(!counter.lock.lock { nhs_monotonic_ns() + 1_000_000 })
    #expect(!counter.lock.withLockIfFree { counter.count += 1 })
    // A waiting thread gets the lock as soon as it is free.
    async let waits = counter.lock.lock { nhs_monotonic_ns() + 600_000_000_000 }
    counter.lock.unlock()
    #expect(await waits && counter.count == 0)
    counter.lock.unlock()
    #expect(counter.lock.withLockIfFree { counter.count += 1 } && counter.count == 1)
  }

  @Test("an atomic word lies in the object that has it, always at one address")
  func address() {
    let counters = (0..<100).map { _ in Counter() }
    for counter in counters {
      let start = UInt(bitPattern: Unmanaged.passUnretained(counter).toOpaque())
      let places = Set((0..<10).map { _ in UInt(bitPattern: counter.word.address) })
      #expect(places.count == 1)
      #expect(places.allSatisfy { $0 > start && $0 < start + 48 })
      counter.word.address.pointee = 7
      #expect(counter.word.load(ordering: .relaxed) == 7)
    }
  }
}
