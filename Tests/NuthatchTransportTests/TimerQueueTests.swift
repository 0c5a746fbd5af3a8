import Testing

@testable import NuthatchTransport

@Suite("Timers") struct TimerQueueTests {
  @Test("fire in the order of their times, and only when due")
  func order() {
    var timers = TimerQueue()
    var fired: [Int64] = []
    var times = (0..<200).map { Int64(($0 * 7919) % 1000) }
    for time in times { _ = timers.add(due: time) { fired.append(time) } }
    while let action = timers.popDue(by: 499) { action() }
    times.sort()
    #expect(fired == times.filter { $0 <= 499 })
    #expect(timers.nextDue == times.first { $0 > 499 })
  }

  @Test("that were cancelled don't fire")
  func cancelled() {
    var timers = TimerQueue()
    var fired = 0
    let first = timers.add(due: 1) { fired += 1 }
    _ = timers.add(due: 2) { fired += 10 }
    timers.cancel(first)
    timers.cancel(first)
    while let action = timers.popDue(by: 5) { action() }
    #expect(fired == 10)
    #expect(timers.nextDue == nil)
  }

  @Test("that were cancelled long before their time take no memory")
  func compacted() {
    var timers = TimerQueue()
    var fired: [Int64] = []
    for time: Int64 in [900_000, 5, 700_000] { _ = timers.add(due: time) { fired.append(time) } }
    for time: Int64 in 0..<100_000 { timers.cancel(timers.add(due: 1_000_000 - time) { fired.append(-1) }) }
    #expect(timers.entryCount < 200)
    while let action = timers.popDue(by: 2_000_000) { action() }
    #expect(fired == [5, 700_000, 900_000])
  }
}
