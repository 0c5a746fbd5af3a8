import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("The memory tier") struct MemoryTierTests {
  /// An object to keep, with a number that identifies it.
  final class Thing: Sendable {
    let number: UInt64
    private let gone: Counter?
    init(_ number: UInt64, _ gone: Counter? = nil) {
      self.number = number
      self.gone = gone
    }
    deinit { gone?.add() }
  }

  private static func key(_ number: Int) -> RecordKey {
    // Some keys are longer than the part that a pin holds.
    RecordKey(.thumb, "\(number)" + String(repeating: "x", count: number % 70))
  }

  private static func entry(_ key: RecordKey, _ thing: Thing, _ cost: Int) -> MemoryEntry {
    MemoryEntry(
      .value, key, thing, UnsafeRawBufferPointer(start: nil, count: 0), PayloadShape(), privateBytes: cost)
  }

  private static func found(_ tier: MemoryTier, _ key: RecordKey) -> UInt64? {
    tier.find(.value, key)?.thing?.number
  }

  @Test("the memory tier matches a dictionary that may forget, with exact figures", arguments: 0..<20)
  func model(_ part: Int) {
    let seed = newSeed() &+ UInt64(part) &* 1_000_003
    for run in 0..<100 {
      var dice = Dice(seed &+ UInt64(run))
      let gone = Counter()
      var made = 0
      let limits = MemoryLimits(
        bytes: Int.random(in: 4_000..<60_000, using: &dice),
        items: Bool.random(using: &dice) ? .max : Int.random(in: 0..<20, using: &dice))
      var model: [RecordKey: (number: UInt64, cost: Int)] = [:]
      do {
        let tier = MemoryTier(limits)
        for step in 0..<60 {
          let note: Comment = "seed \(seed), run \(run), step \(step)"
          let key = Self.key(Int.random(in: 0..<40, using: &dice))
          switch Int.random(in: 0..<20, using: &dice) {
          case 0..<10:
            let number = dice.next()
            let entry = Self.entry(key, Thing(number, gone), Int.random(in: 0..<9_000, using: &dice))
            made += 1
            let (isKept, leaving) = tier.keep(entry)
            #expect(isKept == (entry.cost <= limits.bytes / 8 && limits.items > 0), note)
            #expect(leaving.isEmpty, note)
            model[key] = isKept ? (number, entry.cost) : nil
            if isKept { #expect(Self.found(tier, key) == number, note) }
          case 10..<12:
            let wasThere = tier.remove(.value, key)
            if wasThere { #expect(model[key] != nil, note) }
            model[key] = nil
          case 12: tier.removeAll { $0.cost % 3 == 0 }
          case 13:
            let target = Int.random(in: 0..<limits.bytes, using: &dice)
            #expect(tier.shrink(to: target).isEmpty, note)
            #expect(tier.statistics.bytes <= target, note)
          default:
            if let number = Self.found(tier, key) { #expect(number == model[key]?.number, note) }
          }
          // Entries that aren't found any more were evicted.
          for key in model.keys where Self.found(tier, key) == nil { model[key] = nil }
          let statistics = tier.statistics
          #expect(statistics.bytes == model.values.reduce(0) { $0 + $1.cost }, note)
          #expect(statistics.items == model.count, note)
          #expect(statistics.bytes <= limits.bytes && statistics.items <= limits.items, note)
          #expect(gone.count == made - model.count, note)
        }
      }
      #expect(gone.count == made, "seed \(seed), run \(run)")
    }
  }

  @Test("the memory tier finds every entry while it grows and after removals")
  func grows() {
    let tier = MemoryTier(MemoryLimits(bytes: 1 << 30, items: .max))
    let count = 5_000
    for number in 0..<count { _ = tier.keep(Self.entry(Self.key(number), Thing(UInt64(number)), 10)) }
    for number in 0..<count { #expect(Self.found(tier, Self.key(number)) == UInt64(number)) }
    for number in 0..<count where number % 3 != 0 { #expect(tier.remove(.value, Self.key(number))) }
    for number in 0..<count {
      #expect(Self.found(tier, Self.key(number)) == (number % 3 == 0 ? UInt64(number) : nil))
    }
    #expect(tier.statistics.items == (count + 2) / 3)
    #expect(tier.statistics.hits == count + (count + 2) / 3)
    #expect(tier.statistics.misses == count - (count + 2) / 3)
    _ = tier.shrink(to: 0)
    #expect(tier.statistics.items == 0 && tier.statistics.bytes == 0)
    _ = tier.keep(Self.entry(Self.key(1), Thing(7), 10))
    #expect(Self.found(tier, Self.key(1)) == 7)
  }

  @Test("the memory tier grows to 270000 entries and can be emptied again")
  func growsLarge() {
    // 2 MiB of slots and more; the pins of a lane, too.
    let count = 270_000
    let tier = MemoryTier(MemoryLimits(bytes: .max, items: .max))
    let gone = Counter()
    for number in 0..<count {
      let key = RecordKey(.thumb, withUnsafeBytes(of: number) { Array($0) })
      _ = tier.keep(Self.entry(key, Thing(UInt64(number), gone), 1))
      // The tables grow with pins in them.
      if number % 1_000 == 0 { #expect(Self.found(tier, key) == UInt64(number)) }
    }
    var missing = 0
    for number in 0..<count {
      let key = RecordKey(.thumb, withUnsafeBytes(of: number) { Array($0) })
      if Self.found(tier, key) != UInt64(number) { missing += 1 }
    }
    #expect(missing == 0)
    #expect(tier.statistics.items == count)
    #expect(tier.shrink(to: 0).isEmpty)
    #expect(gone.count == count)
    #expect(tier.statistics.items == 0)
  }

  @Test("a ZeroedArray of any length is zero, and its first and last elements can be set")
  func tables() {
    for count in [1, 100, 262_143, 262_144, 262_145, 700_000] {
      let array = ZeroedArray<UInt64>(count)
      #expect((0..<count).allSatisfy { array[$0] == 0 })
      (array[0], array[count - 1]) = (1, 2)
      #expect(array[0] == (count == 1 ? 2 : 1))
      array.free()
    }
  }

  @Test("the memory tier keeps kinds apart, and records apart from values")
  func spaces() {
    let tier = MemoryTier(MemoryLimits(bytes: 1 << 20, items: .max))
    for kind in RecordKind.allCases {
      _ = tier.keep(Self.entry(RecordKey(kind, "same"), Thing(UInt64(kind.rawValue)), 10))
    }
    let record = MemoryEntry(
      .record, RecordKey(.meta, "same"), Thing(9), UnsafeRawBufferPointer(start: nil, count: 0),
      PayloadShape(),
      privateBytes: 5)
    _ = tier.keep(record)
    for kind in RecordKind.allCases {
      #expect(Self.found(tier, RecordKey(kind, "same")) == UInt64(kind.rawValue))
    }
    #expect(tier.find(.record, RecordKey(.meta, "same"))?.thing?.number == 9)
    #expect(tier.find(.record, RecordKey(.body, "same")) == nil)
    #expect(tier.statistics.unwritten == 1)
  }

  @Test("the memory tier compares whole keys, not only their hashes", arguments: [40, 60, 500])
  func sameHash(_ length: Int) {
    let tier = MemoryTier(MemoryLimits(bytes: 1 << 20, items: .max))
    let key = RecordKey(.thumb, content(1, length))
    _ = tier.keep(Self.entry(key, Thing(1), 10))
    func find(_ kind: RecordKind, _ name: [UInt8]) -> Bool {
      name.withUnsafeBytes { tier.lanes.find(.value, kind, key.hash, $0) } != nil
    }
    #expect(find(.thumb, key.bytes))
    #expect(!find(.body, key.bytes))
    #expect(!find(.thumb, Array(key.bytes.dropLast())))
    #expect(!find(.thumb, []))
    for at in [0, 20, length - 1] {
      var other = key.bytes
      other[at] ^= 1
      #expect(!find(.thumb, other), "byte \(at)")
    }
  }

  @Test("threads get whole entries from the memory tier, and every entry is freed in the end")
  func threads() {
    let gone = Counter()
    let made = Counter()
    let wrong = Counter()
    let seed = newSeed()
    do {
      let tier = MemoryTier(MemoryLimits(bytes: 60_000, items: .max))
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        var dice = Dice(seed &+ UInt64(thread))
        var held: [(Lease, UInt64)] = []
        for _ in 0..<4_000 {
          let number = Int.random(in: 0..<100, using: &dice)
          let key = Self.key(number)
          switch Int.random(in: 0..<12, using: &dice) {
          case 0..<3:
            made.add()
            _ = tier.keep(
              Self.entry(key, Thing(UInt64(number), gone), Int.random(in: 0..<3_000, using: &dice)))
          case 3: tier.remove(.value, key)
          case 4 where number == 0: _ = tier.shrink(to: 20_000)
          case 5 where number == 0: _ = tier.shrink(to: 0)
          case 6: _ = tier.touch(.value, key)
          case 7 where number < 10: _ = tier.statistics
          default:
            if let lease = tier.find(.value, key) {
              if lease.thing?.number != UInt64(number) { wrong.add() }
              held.append((lease, UInt64(number)))
              if held.count > 20 { held.removeFirst() }
            }
          }
          for (lease, number) in held where lease.thing?.number != number {
            wrong.add()
          }
        }
      }
      #expect(tier.statistics.bytes <= 60_000)
    }
    #expect(wrong.count == 0, "seed \(seed)")
    #expect(gone.count == made.count, "seed \(seed)")
  }

  /// Returns how often an exact LRU of `room` entries hits.
  private static func exactHits(_ trace: [Int], _ room: Int) -> Int {
    var lastUse: [Int: Int] = [:]
    var oldest = 0
    var hits = 0
    for (now, key) in trace.enumerated() {
      if lastUse.updateValue(now, forKey: key) != nil { hits += 1 }
      while lastUse.count > room {
        if lastUse[trace[oldest]] == oldest { lastUse[trace[oldest]] = nil }
        oldest += 1
      }
    }
    return hits
  }

  @Test(
    "the memory tier's hit ratio is at most 0.01 below an exact LRU's, with and without scans",
    arguments: [false, true])
  func hitRatio(_ scans: Bool) {
    let seed = newSeed()
    var dice = Dice(seed)
    var trace: [Int] = []
    var fresh = 1_000_000
    for number in 0..<60_000 {
      let uniform = Double(dice.next() >> 11) / Double(UInt64(1) << 53)
      trace.append(Int(pow(20_000, uniform)) - 1)
      if scans, number % 6_000 < 1_500 {
        trace.append(fresh)
        fresh += 1
      }
    }
    for room in [200, 2_000] {
      let tier = MemoryTier(MemoryLimits(bytes: .max / 2, items: room))
      let thing = Thing(1)
      for number in trace {
        let key = RecordKey(.thumb, "\(number)")
        if tier.find(.value, key) == nil { _ = tier.keep(Self.entry(key, thing, 100)) }
      }
      let share = Double(tier.statistics.hits) / Double(trace.count)
      let exact = Double(Self.exactHits(trace, room)) / Double(trace.count)
      #expect(share >= exact - 0.01, "seed \(seed), \(room) entries: \(share), exact \(exact)")
    }
  }
}

extension Lease {
  fileprivate var thing: MemoryTierTests.Thing? { owner as? MemoryTierTests.Thing }
}
