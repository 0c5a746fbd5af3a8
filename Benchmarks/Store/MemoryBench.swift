// Measures the memory tier: the time of a hit, and its hit rates.

import Glibc
import NuthatchStore

/// Keys in one array of bytes, so that many of them take little memory.
private struct Names: @unchecked Sendable {
  static let length = 40
  let base: UnsafeMutableRawPointer

  init(_ count: Int) {
    base = .allocate(byteCount: count * Self.length, alignment: 8)
    for number in 0..<count {
      let text = "thumb of a content, digest and recipe: \(number)"
      let bytes = base + number * Self.length
      memset(bytes, 0, Self.length)
      // Every key contains its number.
      bytes.storeBytes(of: UInt64(number), as: UInt64.self)
      for (at, byte) in text.utf8.prefix(Self.length - 8).enumerated() {
        bytes.storeBytes(of: byte, toByteOffset: 8 + at, as: UInt8.self)
      }
    }
  }

  subscript(number: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: base + number * Self.length, count: Self.length)
  }

  func key(_ number: Int) -> RecordKey { RecordKey(.thumb, Array(self[number])) }
}

private final class Pixels: Sendable {
  let width = 256
}

private func order(_ count: Int, _ length: Int, seed: Int, isSkewed: Bool) -> [Int32] {
  if isSkewed { return zipf(count, length, seed) }
  var dice = Dice(UInt64(seed))
  return (0..<length).map { _ in Int32(dice.next() % UInt64(count)) }
}

/// Measures hits of the memory tier. Goals: 60 ns with 3,000 entries, and 250 ns with 100,000.
func memoryHits(_ folder: String) throws {
  print("\nmemory tier")
  for count in [3_000, 100_000] {
    let store = try Store.open(folder, .init(diskBytes: 64 << 20, memoryBytes: 1 << 30))
    defer { store.close() }
    let names = Names(count)
    let pixels = Pixels()
    for number in 0..<count {
      try store.keep(names.key(number), pixels, bytes: names[number], cost: 100)
    }
    let length = 1_000_000
    for isSkewed in [true, false] {
      let orders = (0..<2).map { order(count, length, seed: $0 + 1, isSkewed: isSkewed) }
      let kind = isSkewed ? "Zipf" : "uniform"
      for threads in [1, 2] {
        // The processor time of each thread: other programs may use the machine, too.
        var wall: [Double] = []
        var ran: [Double] = []
        for _ in 0..<9 {
          let times = ThreadTimes()
          onThreads(threads) { thread in
            times.set(thread, recall(store, names, orders[thread]))
          }
          wall.append(times.longest.passed)
          ran.append(times.longest.ran)
        }
        func text(_ times: [Double]) -> String {
          let sorted = times.sorted()
          return "\(Int(sorted[0].rounded()))–\(Int(sorted[sorted.count - 1].rounded()))"
        }
        say(
          "hit, \(count) entries, \(kind), \(threads) thread(s)",
          "\(text(ran)) ns run, \(text(wall)) ns passed")
      }
    }
  }
}

/// The time of a hit in nanoseconds: the thread's processor time, and the time that passed.
private struct HitTime {
  var ran = 0.0
  var passed = 0.0
}

/// Returns the mean time of a hit. Makes up to 256 keys at a time before the clocks run: in a real program, a key was made just
/// before its look-up.
private func recall(_ store: Store, _ names: Names, _ order: [Int32]) -> HitTime {
  var time = HitTime()
  var (sum, begin) = (0, 0)
  while begin < order.count {
    let count = min(256, order.count - begin)
    let some = (begin..<begin + count).map { names.key(Int(order[$0])) }
    let span = some.span
    let (ran, passed) = (threadTime(), now())
    for number in span.indices { sum &+= (try? store.recall(span[number]))?.count ?? 0 }
    time.passed += now() - passed
    time.ran += threadTime() - ran
    begin += count
  }
  if sum != order.count * Names.length { print("an entry is missing") }
  time.ran /= Double(order.count)
  time.passed /= Double(order.count)
  return time
}

private final class ThreadTimes: @unchecked Sendable {
  private var times = (HitTime(), HitTime())
  func set(_ thread: Int, _ time: HitTime) {
    // Each thread writes its own element.
    if thread == 0 { times.0 = time } else { times.1 = time }
  }
  var longest: HitTime {
    HitTime(ran: max(times.0.ran, times.1.ran), passed: max(times.0.passed, times.1.passed))
  }
}

private func threadTime() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Returns the number of hits of an exact LRU with at most `room` entries.
private func exactHits(_ trace: [Int32], _ room: Int) -> Int {
  var when: [Int32: Int] = [:]
  var queue: [Int32] = []
  var head = 0
  var hits = 0
  for (now, key) in trace.enumerated() {
    if when[key] != nil { hits += 1 }
    when[key] = now
    queue.append(key)
    while when.count > room {
      // An entry of the queue counts only if it is the last use of its key.
      let old = queue[head]
      if when[old] == head { when[old] = nil }
      head += 1
    }
  }
  return hits
}

func memoryTraces(_ folder: String) throws {
  let keys = 100_000
  let length = 1_000_000
  let names = Names(keys + length)
  let zipf = order(keys, length, seed: 7, isSkewed: true)
  var scanned: [Int32] = []
  var next = Int32(keys)
  for (number, key) in zipf.enumerated() {
    scanned.append(key)
    // Sometimes a scan of keys that are never requested again.
    if number % 20_000 < 5_000 {
      scanned.append(next)
      next += 1
    }
  }
  let pixels = Pixels()
  for (name, trace) in [("Zipf", zipf), ("Zipf and scans", scanned)] {
    for room in [1_000, 10_000] {
      let store = try Store.open(folder, .init(diskBytes: 64 << 20, memoryBytes: 1 << 30, memoryItems: room))
      defer { store.close() }
      var hits = 0
      for key in trace {
        let number = Int(key)
        if try store.recall(names.key(number)) != nil {
          hits += 1
        } else {
          try store.keep(names.key(number), pixels, bytes: names[number], cost: 100)
        }
      }
      func share(_ hits: Int) -> Double { Double(hits * 10_000 / trace.count) / 100 }
      print("\(name), \(room) entries: \(share(hits)) % hits; exact LRU: \(share(exactHits(trace, room))) %")
    }
  }
}
