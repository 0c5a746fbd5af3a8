import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("Records in memory that aren't written yet") struct SpillTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private func open(_ bytes: Int = 1 << 20, items: Int? = nil) throws -> Store {
    try Store.open(folder.path, .init(memoryBytes: bytes, memoryItems: items, spill: .pressure))
  }

  private func stored() throws -> Int {
    let statistics = try Store.open(folder.path).statistics()
    return statistics.meta + statistics.bodies + statistics.thumbs
  }

  @Test("a record in memory is found like any other, and written when the store is closed")
  func closing() throws {
    let store = try open()
    let key = RecordKey(.thumb, "k")
    let shape = PayloadShape(form: 2, width: 3, height: 4)
    let made = try store.commit(key, shape: shape, content(1, 5000))
    #expect(made.copied() == content(1, 5000))
    #expect(UInt(bitPattern: made.unsafeBytes.baseAddress) % 64 == 0)
    let lease = try #require(try store.lookup(key))
    #expect(lease.copied() == content(1, 5000))
    #expect(lease.shape == shape)
    #expect(try stored() == 0)
    #expect(try store.statistics().memory.unwritten == 1)
    #expect(try store.statistics().memory.privateBytes == 5000)
    try store.commit(key, shape: shape, content(2, 100))
    #expect(try store.bytes(key) == content(2, 100))
    store.close()
    #expect(lease.copied() == content(1, 5000))
    #expect(try Store.open(folder.path).bytes(key) == content(2, 100))
    #expect(try stored() == 1)
  }

  @Test("records in memory are written by a flush, for room, and at once if they are too large")
  func flushing() throws {
    let store = try open(100_000)
    for number in 0..<5 { try store.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 2000)) }
    try store.flush()
    #expect(try stored() == 5)
    #expect(try store.statistics().memory.privateBytes == 0)
    try store.commit(RecordKey(.body, "large"), content(9, 20_000))
    #expect(try stored() == 6)
    for number in 0..<100 {
      try store.commit(RecordKey(.thumb, "t\(number)"), content(UInt64(number), 5000))
      let memory = try store.statistics().memory
      #expect(memory.bytes <= 100_000)
      #expect(memory.unwritten + (try stored()) == 7 + number)
    }
    for number in 0..<100 {
      #expect(try store.bytes(RecordKey(.thumb, "t\(number)")) == content(UInt64(number), 5000))
    }
    #expect(try store.statistics().memory.lost == 0)
    // A large one in the place of a small one, and the other way round.
    let key = RecordKey(.thumb, "t99")
    try store.commit(key, content(1, 30_000))
    #expect(try store.bytes(key) == content(1, 30_000))
    try store.commit(key, content(2, 30))
    #expect(try store.bytes(key) == content(2, 30))
    try store.flush()
    #expect(try store.bytes(key) == content(2, 30))
    #expect(try store.verify().isClean)
  }

  @Test("a warning of memory pressure writes all records in memory, and critical pressure frees them")
  func pressure() throws {
    let store = try open()
    for number in 0..<50 { try store.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 8000)) }
    let before = try store.statistics().memory.bytes
    store.relieve(.warning)
    var statistics = try store.statistics()
    #expect(statistics.memory.bytes <= before / 2 && statistics.memory.unwritten == 0)
    #expect(statistics.memory.spills == 50 && statistics.memory.spilledBytes == 50 * 8000)
    #expect(try stored() == 50)
    store.relieve(.critical)
    statistics = try store.statistics()
    #expect(statistics.memory.bytes == 0 && statistics.memory.privateBytes == 0)
    #expect(statistics.memory.spills == 50)
    #expect(statistics.memory.spilledBytes == 50 * 8000)
    #expect(
      statistics.pressure
        == PressureCounts(warnings: 1, criticals: 1))
    for number in 0..<50 {
      #expect(try store.bytes(RecordKey(.meta, "\(number)")) == content(UInt64(number), 8000))
    }
  }

  @Test("records in memory stay while the disk is full, and are written afterwards")
  func full() throws {
    let system = FaultyCalls(.number(ENOSPC), isLasting: true)
    let store = try Store.open(
      folder.path, .init(memoryBytes: 1 << 20, spill: .pressure), system)
    for number in 0..<10 { try store.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 3000)) }
    system.arm(after: 0)
    let fault = #expect(throws: StoreFault.self) { try store.flush() }
    #expect(fault?.kind == .noSpace)
    store.relieve(.warning)
    system.disarm()
    #expect(try store.statistics().memory.unwritten == 10)
    #expect(try store.statistics().memory.spillFailures >= 10)
    for number in 0..<10 {
      #expect(try store.bytes(RecordKey(.meta, "\(number)")) == content(UInt64(number), 3000))
    }
    try store.flush()
    #expect(try stored() == 10)
    // Nothing helps when all memory is wanted and there is no room on the disk either.
    try store.commit(RecordKey(.meta, "0"), content(1, 20))
    system.arm(after: 0)
    store.relieve(.critical)
    system.disarm()
    #expect(try store.statistics().memory.privateBytes == 0)
    #expect(try store.statistics().memory.lost == 1)
    #expect(try store.bytes(RecordKey(.meta, "0")) == content(0, 3000))
  }

  @Test("a record in memory stays if its larger replacement can't be written to a pack")
  func tooLarge() throws {
    let system = FaultyCalls(.number(ENOSPC), isLasting: true)
    let store = try Store.open(folder.path, .init(memoryBytes: 80_000, spill: .pressure), system)
    let key = RecordKey(.meta, "k")
    try store.commit(key, [1])
    try store.flush()
    try store.commit(key, [2])
    system.arm(after: 0)
    // An eighth, but not with what it takes to find it.
    #expect(throws: StoreFault.self) { try store.commit(key, content(1, 9_900)) }
    #expect(try store.bytes(key) == [2])
    system.disarm()
    try store.commit(key, content(1, 9_900))
    #expect(try store.bytes(key) == content(1, 9_900))
    store.close()
  }

  @Test("a flush doesn't replace a later record that another process wrote")
  func superseded() throws {
    let store = try open()
    let key = RecordKey(.meta, "k")
    try store.commit(key, [1])
    // As another process would.
    _ = try [2].withBytes { (bytes) throws(StoreFault) in
      try store.disk.write(key, PayloadShape(), [bytes])
    }
    try store.flush()
    #expect(try store.bytes(key) == [2])
    #expect(try store.statistics().memory.unwritten == 0)
  }

  @Test("a record has the same sequence in memory and in a pack")
  func identity() throws {
    let store = try open(100_000)
    let keys = (0..<60).map { RecordKey(RecordKind.allCases[$0 % 3], "\($0)") }
    // Some are too large for memory, some go because there is no room for all.
    let sequences = try keys.enumerated().map { number, key in
      try store.commit(key, content(UInt64(number), number % 10 == 0 ? 20_000 : 5000)).sequence
    }
    #expect(Set(sequences).count == keys.count)
    #expect(try store.statistics().memory.unwritten > 0)
    for flushes in [false, true] {
      if flushes { try store.flush() }
      for (key, sequence) in zip(keys, sequences) { #expect(try store.lookup(key)?.sequence == sequence) }
    }
    let again = try store.commit(keys[1], content(1, 5000)).sequence
    #expect(again > sequences[1])
    store.close()
    for removes in [false, true] {
      if removes { try folder.remove("index") }
      let reopened = try Store.open(folder.path)
      #expect(try reopened.lookup(keys[1])?.sequence == again)
      #expect(try reopened.lookup(keys[2])?.sequence == sequences[2])
      reopened.close()
    }
  }

  @Test("a later record has a higher sequence, even if the index was deleted in between")
  func sequencesGoOn() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(memoryBytes: 1 << 20, spill: .pressure))
    for number in 0..<200 { try store.commit(RecordKey(.meta, "\(number)"), [1]) }
    let key = RecordKey(.meta, "key")
    let first = try store.commit(key, [1])
    try folder.remove("index")
    let other = try Store.open(folder.path)
    // Now the new index is this one's, too.
    _ = try store.remove(RecordKey(.meta, "nothing"))
    #expect(store.disk.current.index?.identity == other.index?.identity)
    let second = try store.commit(key, [2])
    #expect(second.sequence > first.sequence)
    try store.flush()
    #expect(try other.bytes(key) == [2])
    other.close()
  }

  @Test("records in memory don't replace later ones after an index was made anew without them")
  func identityWithoutIndex() throws {
    let store = try open()
    let (early, late) = (RecordKey(.meta, "early"), RecordKey(.meta, "late"))
    try store.commit(early, [1])
    let sequence = try store.commit(late, [1]).sequence
    // As another process does that finds the packs and no index.
    let index = try #require(store.disk.current.index)
    index.set(nextSequence: 1)
    _ = try [2].withBytes { (bytes) throws(StoreFault) in
      try store.disk.write(early, PayloadShape(), [bytes])
    }
    try store.flush()
    #expect(try store.lookup(late)?.sequence == sequence)
    #expect(try store.bytes(early) == [2])
    #expect(index.nextSequence > sequence)
    #expect(try store.commit(late, [3]).sequence > sequence)
  }

  @Test(
    "random operations match a dictionary, with records in memory and pixels beside them", arguments: 0..<24)
  func model(_ run: Int) throws {
    let seed = newSeed() &+ UInt64(run)
    var dice = Dice(seed)
    func options() -> Store.Options {
      .init(
        diskBytes: 256 << 20, memoryBytes: [0, 30_000, 300_000][run % 3],
        memoryItems: run % 4 == 0 ? 12 : nil,
        spill: run % 6 == 5 ? .eager : .pressure)
    }
    var store = try Store.open(folder.path, options())
    var model: [RecordKey: UInt64] = [:]
    func size(_ version: UInt64) -> Int { version % 17 == 0 ? 60_000 : Int(version % 4000) }
    for step in 0..<300 {
      let note: Comment = "seed \(seed), step \(step)"
      let kind = RecordKind.allCases.randomElement(using: &dice) ?? .meta
      let key = RecordKey(kind, "key \(Int.random(in: 0..<25, using: &dice))")
      switch Int.random(in: 0..<100, using: &dice) {
      case 0..<35:
        let version = dice.next()
        let lease = try store.commit(key, content(version, size(version)))
        #expect(lease.copied() == content(version, size(version)), note)
        model[key] = version
      case 35..<45:
        #expect(try store.remove(key) == (model.removeValue(forKey: key) != nil), note)
        #expect(try store.recall(key) == nil, note)
      case 45..<48:
        store.close()
        store = try Store.open(folder.path, options())
      case 48: try store.flush()
      case 49: store.relieve(.warning)
      case 50:
        store.relieve(.critical)
        #expect(try store.statistics().memory.bytes == 0, note)
      case 51 where run % 2 == 0:
        try store.clear()
        model = [:]
      case 52:
        var found: Set<RecordKey> = []
        try store.forEach { key, _ in found.insert(key).inserted }
        #expect(found == Set(model.keys), note)
      case 53..<65:
        if let lease = try store.lookup(key) { try store.keep(key, lease, bytes: lease) }
      case 65..<75:
        if let lease = try store.recall(key) {
          #expect(lease.copied() == model[key].map { content($0, size($0)) }, note)
        }
      case 75: #expect(try store.verify().isClean, note)
      default:
        #expect(try store.lookup(key)?.copied() == model[key].map { content($0, size($0)) }, note)
      }
    }
    for (key, version) in model {
      #expect(try store.bytes(key) == content(version, size(version)), "seed \(seed)")
    }
    store.close()
    #expect(try stored() == model.count, "seed \(seed)")
  }

  @Test("threads find whole records in memory while memory is freed and packs are dropped")
  func threads() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 4 << 20, memoryBytes: 300_000, spill: .pressure))
    let seed = newSeed()
    let faults = Faults()
    inThreads(4) { thread in
      var dice = Dice(seed &+ UInt64(thread))
      for _ in 0..<500 {
        let number = UInt64.random(in: 0..<200, using: &dice)
        let key = RecordKey(number % 2 == 0 ? .body : .thumb, "\(number)")
        let payload = content(number, 2000 + Int(number) * 50)
        do {
          switch Int.random(in: 0..<24, using: &dice) {
          case 0..<9: try store.commit(key, payload)
          case 9: try store.remove(key)
          case 10: try store.flush()
          case 11: store.relieve(.warning)
          case 12: store.relieve(.critical)
          case 13: try store.forEach { _, lease in lease.count >= 2000 }
          case 14, 15:
            if let lease = try store.lookup(key) { try store.keep(key, lease) }
          case 16..<19:
            if let lease = try store.recall(key), lease.copied() != payload {
              faults.add("a recall of \(number)")
            }
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
    let memory = try store.statistics().memory
    #expect(memory.bytes <= 300_000)
    #expect(memory.lost == 0)
    #expect(try store.verify().isClean)
  }

  @Test("opening a directory with other memory or spill options is a conflict")
  func options() throws {
    let store = try open(500_000, items: 100)
    let same = Store.Options(diskBytes: 4 << 30, memoryBytes: 500_000, memoryItems: 100, spill: .pressure)
    for options in [Store.Options(), same] { #expect(try store.conflict(with: options) == nil) }
    for (other, what) in [
      (Store.Options(memoryBytes: 400_000), "memory_bytes"),
      (.init(memoryItems: 10), "memory_items"), (.init(spill: .eager), "spill"),
      (.init(diskBytes: 8 << 20), "disk_bytes"),
    ] {
      #expect(try store.conflict(with: other) == what)
    }
    for wrong in [Store.Options(memoryBytes: -1), .init(diskBytes: 1)] {
      #expect(throws: StoreFault.self) { try store.conflict(with: wrong) }
      #expect(throws: StoreFault.self) { try Store.open(folder.path, wrong) }
    }
    #expect(try store.statistics().memory.limit == 500_000)
    store.close()
    #expect(throws: StoreFault.closed) { try store.recall(RecordKey(.meta, "k")) }
    #expect(throws: StoreFault.closed) { try store.flush() }
    let standard = try Store.open(folder.path).statistics().memory.limit
    #expect(standard > 1 << 20 && standard <= 64 << 20)
  }
}

@Suite("Leases and pixels in the memory tier") struct MemoryLeaseTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("a lease in memory gives its record back and doesn't pin a dropped pack")
  func leases() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 4 << 20))
    let key = RecordKey(.thumb, "raw")
    var lease: Lease? = try store.commit(key, content(1, 10_000))
    if let lease { #expect(try store.keep(key, lease)) }
    #expect(try store.recall(key)?.copied() == content(1, 10_000))
    #expect(try store.statistics().memory.privateBytes == 0)
    lease = nil
    try store.trim(to: 0)
    #expect(try store.statistics().pinnedBytes == 0)
    #expect(try store.recall(key) == nil)
    let pixels = try store.commit(key, [1, 2, 3])
    try store.keep(key, pixels, bytes: pixels)
    let found = try #require(try store.recall(key))
    #expect((found.owner as? Boxed)?.lease.count == 3)
    try store.commit(key, [4])
    #expect(try store.recall(key) == nil)
    #expect(!(try store.keep(key, pixels, bytes: pixels, cost: 64 << 20)))
  }
}

/// Something that keeps bytes.
final class Boxed: Sendable {
  let lease: Lease
  init(_ lease: Lease) { self.lease = lease }
}

extension Store {
  @discardableResult
  func keep(_ key: RecordKey, _ lease: Lease, bytes: Lease, cost: Int? = nil) throws -> Bool {
    try keep(key, Boxed(lease), bytes: bytes.unsafeBytes, cost: cost ?? bytes.count)
  }
}
