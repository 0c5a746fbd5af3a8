/// Counts events of the last second, in steps of 50 ms.
struct RecentCount {
  private static let slotCount = 20
  private static let slotLength: Int64 = 50_000_000

  /// One count for each of the last `slotCount` steps, as a ring. Empty until the first event.
  private var counts: [Int] = []
  private var last: Int64 = -1
  private var sum = 0

  mutating func add(at now: Int64) {
    advance(to: max(0, now) / Self.slotLength)
    counts[index(last)] += 1
    sum += 1
  }

  mutating func perSecond(at now: Int64) -> Double {
    advance(to: max(0, now) / Self.slotLength)
    return Double(sum)
  }

  private func index(_ step: Int64) -> Int { Int(step % Int64(Self.slotCount)) }

  private mutating func advance(to step: Int64) {
    guard step > last else { return }
    if counts.isEmpty { counts = [Int](repeating: 0, count: Self.slotCount) }
    var passed = max(step - Int64(Self.slotCount) + 1, last < 0 ? 0 : last + 1)
    while passed <= step {
      sum -= counts[index(passed)]
      counts[index(passed)] = 0
      passed += 1
    }
    last = step
  }
}
