import CSystem
import Foundation
import NuthatchBase
import Testing

@testable import NuthatchStore

@Suite("Random operations on a store") struct ModelTests {
  private static func size(_ dice: inout Dice) -> Int {
    switch Int.random(in: 0..<20, using: &dice) {
    case 0: 0
    case 1: Int.random(in: 100_000..<700_000, using: &dice)
    case 2...5: Int.random(in: 4000..<40_000, using: &dice)
    default: Int.random(in: 1..<2000, using: &dice)
    }
  }

  @Test(
    "random operations match a dictionary, through reopening and deleted indexes",
    arguments: 0..<modelRuns(12))
  func model(_ run: Int) throws {
    let seed = newSeed() &+ UInt64(run)
    var dice = Dice(seed)
    let folder = try Folder()
    var store = try Store.open(folder.path, .init(diskBytes: 256 << 20))
    var model: [RecordKey: UInt64] = [:]
    var sizes: [UInt64: Int] = [:]
    for step in 0..<400 {
      let note: Comment = "seed \(seed), step \(step)"
      let kind = RecordKind.allCases.randomElement(using: &dice) ?? .meta
      let key = RecordKey(kind, "key \(Int.random(in: 0..<60, using: &dice))")
      switch Int.random(in: 0..<100, using: &dice) {
      case 0..<40:
        let version = dice.next()
        let size = Self.size(&dice)
        try store.commit(key, content(version, size))
        model[key] = version
        sizes[version] = size
      case 40..<52:
        #expect(try store.remove(key) == (model.removeValue(forKey: key) != nil), note)
      case 52..<54:
        store.close()
        store = try Store.open(folder.path)
      case 54:
        store.close()
        try? folder.remove("index")
        store = try Store.open(folder.path)
      case 55:
        // The index is deleted while it is in use.
        try? folder.remove("index")
      case 56 where Int.random(in: 0..<4, using: &dice) == 0:
        try store.clear()
        model = [:]
      case 57:
        #expect(try store.verify().isClean, note)
      case 58:
        var found: Set<RecordKey> = []
        try store.forEach { key, _ in found.insert(key).inserted }
        #expect(found == Set(model.keys), note)
      default:
        let lease = try store.lookup(key)
        #expect(lease?.copied() == model[key].map { content($0, sizes[$0] ?? 0) }, note)
      }
    }
    for (key, version) in model {
      #expect(try store.bytes(key) == content(version, sizes[version] ?? 0), "seed \(seed)")
    }
    let statistics = try store.statistics()
    #expect(statistics.meta + statistics.bodies + statistics.thumbs == model.count, "seed \(seed)")
  }

  @Test("random operations of threads on keys of their own match a dictionary", arguments: 0..<modelRuns(4))
  func threadsOfTheirOwn(_ run: Int) throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: 256 << 20))
    let seed = newSeed() &+ UInt64(run) &* 1_000_003
    let (faults, kept) = (Faults(), Counter())
    inThreads(4) { thread in
      var dice = Dice(seed &+ UInt64(thread))
      var model: [RecordKey: (version: UInt64, size: Int)] = [:]
      do {
        for _ in 0..<300 {
          let kind = RecordKind.allCases.randomElement(using: &dice) ?? .meta
          let key = RecordKey(kind, "\(thread) \(Int.random(in: 0..<30, using: &dice))")
          switch Int.random(in: 0..<20, using: &dice) {
          case 0..<8:
            let value = (version: dice.next(), size: Self.size(&dice) / 8)
            try store.commit(key, content(value.version, value.size))
            model[key] = value
          case 8..<11:
            if try store.remove(key) != (model.removeValue(forKey: key) != nil) {
              faults.add("a removal of \(key)")
            }
          case 11 where thread == 0:
            if try !store.verify().isClean { faults.add("verify") }
          default:
            let found = try store.lookup(key)?.copied()
            if found != model[key].map({ content($0.version, $0.size) }) { faults.add("a lookup of \(key)") }
          }
        }
        for (key, value) in model {
          if try store.bytes(key) == content(value.version, value.size) {
            kept.add()
          } else {
            faults.add("\(key) at the end")
          }
        }
      } catch {
        faults.add("\(error)")
      }
    }
    #expect(faults.all == [], "seed \(seed)")
    let statistics = try store.statistics()
    #expect(statistics.meta + statistics.bodies + statistics.thumbs == kept.count, "seed \(seed)")
  }

  @Test("threads find whole records while the oldest are dropped")
  func threads() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: 4 << 20))
    let seed = newSeed()
    let faults = Faults()
    inThreads(4) { thread in
      var dice = Dice(seed &+ UInt64(thread))
      for _ in 0..<600 {
        let number = UInt64.random(in: 0..<200, using: &dice)
        let key = RecordKey(number % 2 == 0 ? .body : .thumb, "\(number)")
        let payload = content(number, 2000 + Int(number) * 50)
        do {
          switch Int.random(in: 0..<10, using: &dice) {
          case 0..<4: try store.commit(key, payload)
          case 4: try store.remove(key)
          case 5: try store.forEach { _, lease in lease.count >= 2000 }
          default:
            if let lease = try store.lookup(key), lease.copied() != payload {
              faults.add("a lookup of \(number)")
            }
          }
        } catch {
          faults.add("\(error)")
        }
      }
    }
    #expect(faults.all == [], "seed \(seed)")
    #expect(try store.verify().isClean)
  }
}

/// Counts from any thread.
final class Counter: @unchecked Sendable {
  private let lock = WordLock()
  private var value = 0
  func add() { lock.withLock { value += 1 } }
  var count: Int { lock.withLock { value } }
}
