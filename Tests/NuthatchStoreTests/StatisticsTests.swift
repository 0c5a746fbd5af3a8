import Foundation
import Testing

@testable import NuthatchStore

@Suite("Statistics of a store") struct StatisticsTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private func key(_ number: Int) -> RecordKey { RecordKey(.thumb, "\(number)") }

  @Test("statistics count every commit and every lookup in memory once")
  func lookups() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20, memoryBytes: 1 << 20))
    for number in 0..<30 { try store.commit(key(number), content(UInt64(number), 1000)) }
    for number in 0..<40 { #expect(try (store.lookup(key(number)) != nil) == (number < 30)) }
    #expect(try store.statistics().commits == 30)
    // A record whose bytes are damaged is a miss.
    let slot = try #require(store.disk.current.index?.find(key(7).hash)?.slot)
    let pack = "packs/" + PackName.of(slot.location.pack)
    store.close()
    try folder.poke(pack, at: slot.location.offset + 200, [1, 2, 3])
    let again = try Store.open(folder.path, .init(memoryBytes: 1 << 20))
    #expect(try again.lookup(key(7)) == nil)
    #expect(try again.lookup(key(8)) != nil)
    #expect(try again.statistics().commits == 0)
    let thing = MemoryTierTests.Thing(1)
    for number in 0..<10 {
      try again.keep(key(number), thing, bytes: UnsafeRawBufferPointer(start: nil, count: 0), cost: 1000)
    }
    for number in 5..<20 { _ = try again.recall(key(number)) }
    let memory = try again.statistics().memory
    #expect(memory.hits == 5 && memory.misses == 10 && memory.items == 10 && memory.evictions == 0)
    #expect(memory.privateBytes == 10_000 && memory.bytes >= 10_000 && memory.bytes < 15_000)
  }

  @Test("statistics count what left memory for room, for the number of items and under pressure")
  func evictions() throws {
    let store = try Store.open(
      folder.path, .init(diskBytes: 8 << 20, memoryBytes: 100_000, memoryItems: 50, spill: .pressure))
    let thing = MemoryTierTests.Thing(1)
    func keep(_ number: Int, _ cost: Int) throws -> Bool {
      try store.keep(key(number), thing, bytes: UnsafeRawBufferPointer(start: nil, count: 0), cost: cost)
    }
    for number in 0..<60 { #expect(try keep(number, 100)) }
    #expect(try store.statistics().memory.items == 50)
    #expect(try store.statistics().memory.evictions == 10)
    // An eighth is the most; what it costs to find an entry counts, too.
    #expect(try !keep(100, 100_000 / 8))
    #expect(try keep(100, 100_000 / 8 - 1000))
    // Records that are larger go to a pack at once.
    try store.commit(key(200), content(200, 20_000))
    #expect(try store.statistics().memory.unwritten == 0 && store.statistics().memory.spills == 0)
    for number in 300..<320 { try store.commit(key(number), content(UInt64(number), 9000)) }
    var memory = try store.statistics().memory
    #expect(memory.bytes <= 100_000 && memory.spills > 8 && memory.spilledBytes == memory.spills * 9000)
    store.relieve(.warning)
    store.relieve(.critical)
    let statistics = try store.statistics()
    memory = statistics.memory
    #expect(memory.items == 0 && memory.bytes == 0 && memory.unwritten == 0 && memory.lost == 0)
    #expect(memory.spills == 20 && memory.spilledBytes == 180_000)
    #expect(statistics.pressure.warnings == 1 && statistics.pressure.criticals == 1)
    #expect(statistics.thumbs == 21)
    for number in 300..<320 { #expect(try store.bytes(key(number)) == content(UInt64(number), 9000)) }
  }

  @Test("statistics count no eviction of records that stay because they can't be written")
  func stays() throws {
    let system = FaultyCalls(.number(ENOSPC), isLasting: true)
    let store = try Store.open(folder.path, .init(memoryBytes: 1 << 20, spill: .pressure), system)
    for number in 0..<10 { try store.commit(key(number), [1]) }
    system.arm(after: 0)
    store.relieve(.warning)
    system.disarm()
    var memory = try store.statistics().memory
    #expect(memory.items == 10 && memory.unwritten == 10 && memory.evictions == 0 && memory.lost == 0)
    store.relieve(.critical)
    memory = try store.statistics().memory
    #expect(memory.items == 0 && memory.evictions == 10 && memory.spills == 10)
    store.close()
  }

  @Test("statistics tell the bytes of deleted packs that leases pin")
  func pinned() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    var leases = [try store.commit(key(0), [1]), try store.commit(RecordKey(.body, "b"), [2])]
    #expect(try store.statistics().pinnedBytes == 0)
    try store.clear()
    let capacity = store.disk.current.limits.packCapacity
    #expect(try store.statistics().pinnedBytes == 2 * capacity)
    leases.removeLast()
    #expect(try store.statistics().pinnedBytes == capacity)
    #expect(leases[0].copied() == [1])
    store.close()
    #expect(leases[0].copied() == [1])
    leases = []
  }
}
