import Testing

@testable import NuthatchCore

@Suite("Watch over a held store lock") struct HoldWatchTests {
  @Test("a run stops after one process has held the lock for 30 s, and goes on when it is free")
  func stops() {
    var holder: HoldWatch.Holder?
    var watch = HoldWatch { holder }
    var now: Int64 = 0
    var told: [HoldWatch.News] = []
    func pass(_ seconds: Int64, _ next: HoldWatch.Holder?) {
      holder = next
      now += seconds * second
      if let news = watch.news(at: now) { told.append(news) }
    }
    pass(1, nil)
    pass(1, ("process 7 (python)", 29 * second))
    #expect(!watch.isHeld && told.isEmpty)
    pass(1, ("process 7 (python)", 30 * second))
    pass(1, ("process 7 (python)", 31 * second))
    #expect(watch.isHeld && told.count == 1)
    let wanted =
      "process 7 (python) has held the lock of the cache for 30 s: nothing can be stored, so nothing is fetched"
    #expect(told.first == .stop(wanted))
    // Another owner has its own 30 s.
    pass(1, ("process 8 (nuthatch)", 1 * second))
    #expect(!watch.isHeld && told.count == 2)
    pass(60, ("process 8 (nuthatch)", 61 * second))
    pass(1, nil)
    #expect(!watch.isHeld && told.count == 4)
  }

  @Test("the lock's holder is asked for at most four times a second")
  func seldom() {
    var asked = 0
    var watch = HoldWatch { () -> HoldWatch.Holder? in
      asked += 1
      return nil
    }
    for step in 0..<1000 { #expect(watch.news(at: Int64(step) * millisecond) == nil) }
    #expect(asked == 4)
  }
}
