import Glibc
import NuthatchStore

/// An exact LRU with a limit in bytes, for comparison.
private struct LeastRecentlyUsed {
  private var next: [Int32]
  private var previous: [Int32]
  private var isIn: [Bool]
  private let head: Int32
  private var count = 0
  private let capacity: Int

  init(_ keys: Int, capacity: Int) {
    next = [Int32](repeating: 0, count: keys + 1)
    previous = next
    isIn = [Bool](repeating: false, count: keys)
    head = Int32(keys)
    next[keys] = head
    previous[keys] = head
    self.capacity = capacity
  }

  private mutating func unlink(_ key: Int32) {
    next[Int(previous[Int(key)])] = next[Int(key)]
    previous[Int(next[Int(key)])] = previous[Int(key)]
  }

  mutating func isHit(_ key: Int32) -> Bool {
    let found = isIn[Int(key)]
    if found {
      unlink(key)
    } else if count == capacity {
      let last = previous[Int(head)]
      unlink(last)
      isIn[Int(last)] = false
    } else {
      count += 1
    }
    isIn[Int(key)] = true
    let first = next[Int(head)]
    next[Int(key)] = first
    previous[Int(key)] = head
    previous[Int(first)] = key
    next[Int(head)] = key
    return found
  }
}

/// Measures the hit rate of a store with room for a tenth of all records.
func ratios(_ parent: String) throws {
  print(
    "\nhits of 100 lookups in a store with room for a tenth of the records, and of an exact LRU of the same bytes"
  )
  let keys = 40_000
  let size = 4096
  let limit = keys / 10 * size
  let popular = zipf(keys, 600_000, 9)
  // Once in 100,000 look-ups, a scan reads a quarter of all keys.
  var withScans: [Int32] = []
  for (number, key) in popular.enumerated() {
    withScans.append(key)
    if number % 100_000 == 50_000 {
      withScans += (0..<Int32(keys / 4)).map { $0 + Int32(number / 100_000 % 4 * keys / 4) }
    }
  }
  for (name, trace) in [("Zipf", popular), ("Zipf and scans", withScans)] {
    let folder = parent + "/ratio"
    let store = try Store.open(folder, .init(diskBytes: limit))
    let payload = [UInt8](repeating: 1, count: size)
    let names = (0..<keys).map { RecordKey(.thumb, "thumb \($0)") }
    // The LRU counts the same overhead for each record as the store.
    var exact = LeastRecentlyUsed(keys, capacity: limit / (size + 64 + 16))
    var (hits, exactHits, count) = (0, 0, 0)
    for (number, key) in trace.enumerated() {
      let isHit = try store.lookup(names[Int(key)]) != nil
      if !isHit { try store.commit(names[Int(key)], payload) }
      let isExactHit = exact.isHit(key)
      guard number >= trace.count / 4 else { continue }
      count += 1
      hits += isHit ? 1 : 0
      exactHits += isExactHit ? 1 : 0
    }
    let (own, other) = (Double(hits) / Double(count) * 100, Double(exactHits) / Double(count) * 100)
    say(
      name, "\(rounded(own)), LRU \(rounded(other))\(own >= other - 1 ? "  (goal: met)" : "  (goal: MISSED)")"
    )
    store.close()
    system("rm -rf '\(folder)'")
  }
}
