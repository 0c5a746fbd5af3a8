import NuthatchBase
import Testing

@Suite("Timers") struct TimerQueueTests {
  @Test("timers fire in the order of their times, and only when due")
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

  @Test("a cancelled timer doesn't fire")
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

  @Test("a timer that is cancelled or due releases its action, though the timer itself is kept")
  func released() {
    final class Thing {}
    var timers = TimerQueue()
    weak var one: Thing?
    weak var other: Thing?
    let kept = [Int64](1...2).map { due in
      let thing = Thing()
      if due == 1 { one = thing } else { other = thing }
      return timers.add(due: due) { _ = thing }
    }
    #expect(one != nil && other != nil)
    timers.popDue(by: 1)?()
    timers.cancel(kept[1])
    #expect(one == nil && other == nil)
  }
  @Test("the next due time is right after 100000 other timers were cancelled")
  func cancelledAtOnce() {
    var timers = TimerQueue()
    var fired: [Int64] = []
    for time: Int64 in [900_000, 5, 700_000] { _ = timers.add(due: time) { fired.append(time) } }
    let others = (0..<100_000).map { time in timers.add(due: Int64(time)) { fired.append(-1) } }
    for timer in others { timers.cancel(timer) }
    #expect(timers.nextDue == 5)
    while let action = timers.popDue(by: 2_000_000) { action() }
    #expect(fired == [5, 700_000, 900_000])
  }
}
