import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("Damaged slots of the index") struct LostSlotTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private static let count = 40
  private static func key(_ number: Int) -> RecordKey {
    RecordKey(RecordKind.allCases[number % 3], "key \(number)")
  }
  private static func bytes(_ number: Int) -> [UInt8] { content(UInt64(number), 50 + number) }

  private func store(_ spill: Store.Spill = .eager) throws -> any RecordStore {
    try Store.records(
      try StoreDirectory(folder.path, trusts: false, LinuxCalls()),
      Store.Options(diskBytes: 64 << 20, memoryBytes: 1 << 20, spill: spill))
  }

  private func commit(_ store: any RecordStore, _ key: RecordKey, _ bytes: [UInt8]) throws {
    try bytes.withBytes { (bytes) throws(StoreFault) in _ = try store.commit(key, PayloadShape(), [bytes]) }
  }

  private func filled() throws -> any RecordStore {
    let store = try store()
    for number in 0..<Self.count { try commit(store, Self.key(number), Self.bytes(number)) }
    return store
  }

  private func slot(_ store: any RecordStore, _ key: RecordKey) throws -> (place: Int, at: Int, slot: Slot) {
    let index = try #require(store.index)
    let found = try #require(index.find(key.hash))
    return (found.place, index.slots - index.base + found.place * IndexLayout.slotSize, found.slot)
  }

  /// Values that no writer can have put into a slot.
  enum Damage: CaseIterable {
    case odd, noPack, noPackAnyMore, noKind, elsewhere, version, flags
  }

  /// Alters the slot of a key.
  private func damage(_ store: any RecordStore, _ key: RecordKey, _ damage: Damage) throws {
    let at = try slot(store, key).at
    let bytes = try folder.read("index")
    switch damage {
    case .odd: try folder.poke("index", at: at + 16, [bytes[at + 16] ^ 1])
    case .noPack: try folder.poke("index", at: at + 20, [0, 0, 0, 0])
    case .noPackAnyMore: try folder.poke("index", at: at + 20, [255, 255, 255, 255])
    case .noKind: try folder.poke("index", at: at + 28, [bytes[at + 28] & 0xF1])
    case .elsewhere: try folder.poke("index", at: at + 7, [bytes[at + 7] ^ 0x80])
    case .version: try folder.poke("index", at: at + 17, [bytes[at + 17] ^ 2])
    case .flags: try folder.poke("index", at: at + 30, [bytes[at + 30] ^ 1])
    }
  }

  @Test("a record whose slot is damaged can be removed for good", arguments: Damage.allCases)
  func remove(_ damage: Damage) throws {
    let store = try filled()
    let other = try self.store()
    for number in [3, 17, 31] {
      try self.damage(store, Self.key(number), damage)
      #expect(try store.remove(Self.key(number)))
      #expect(store.lookup(Self.key(number)) == nil)
    }
    #expect(try !store.remove(Self.key(3)))
    for number in 0..<Self.count where ![3, 17, 31].contains(number) {
      #expect(store.lookup(Self.key(number))?.copied() == Self.bytes(number))
      #expect(other.lookup(Self.key(number))?.copied() == Self.bytes(number))
    }
    store.finish()
    other.finish()
    try folder.remove("index")
    let again = try self.store()
    for number in 0..<Self.count {
      #expect((again.lookup(Self.key(number)) == nil) == [3, 17, 31].contains(number))
    }
    again.finish()
  }

  @Test(
    "a removed record doesn't come back, even if an earlier one's slot was damaged",
    arguments: Damage.allCases)
  func replace(_ damage: Damage) throws {
    let store = try filled()
    try self.damage(store, Self.key(5), damage)
    try commit(store, Self.key(5), [1, 2, 3])
    #expect(store.lookup(Self.key(5))?.copied() == [1, 2, 3])
    #expect(try store.remove(Self.key(5)))
    #expect(try store.verify().isClean)
    store.finish()
    try folder.remove("index")
    let again = try self.store()
    #expect(again.lookup(Self.key(5)) == nil)
    #expect(again.lookup(Self.key(6))?.copied() == Self.bytes(6))
    again.finish()
  }

  @Test("a flush writes a record whose earlier slot is damaged, and the record stays")
  func late() throws {
    try filled().finish()
    let store = try self.store(.pressure)
    let key = Self.key(5)
    let lease = try Self.bytes(99).withBytes { (bytes) throws(StoreFault) in
      try store.commit(key, PayloadShape(), [bytes])
    }
    try damage(store, key, .odd)
    try store.flush()
    #expect(store.lookup(key)?.copied() == Self.bytes(99))
    #expect(lease.copied() == Self.bytes(99))
    store.finish()
    try folder.remove("index")
    let again = try self.store()
    #expect(again.lookup(key)?.copied() == Self.bytes(99))
    #expect(try again.verify().isClean)
    again.finish()
  }

  @Test("a reader doesn't treat a slot that is being written as damaged")
  func look() throws {
    let store = try filled()
    let index = try #require(store.index)
    let (place, at, slot) = try slot(store, Self.key(5))
    let version = nhs_load32(index.base + at + 16)
    nhs_store32(index.base + at + 16, version | 1)
    #expect(!index.names(except: Set(index.packs.map(\.number))))
    #expect(nhs_load32(index.base + at + 16) == version | 1)
    nhs_store32(index.base + at + 16, version)
    #expect(index.read(place)?.location == slot.location)
    #expect(!index.isReplaced)
    store.finish()
  }

  @Test("a record's copy stays when a damaged slot names the retired original")
  func copies() throws {
    let store = try filled()
    let key = Self.key(3)
    let first = try slot(store, key).slot.location
    let lease = try #require(store.lookup(key))
    try store.disk.write(key, PayloadShape(), [lease.unsafeBytes], sequence: lease.sequence)
    let (_, at, slot) = try slot(store, key)
    #expect(slot.location.offset > first.offset && slot.location.pack == first.pack)
    let entry = try #require(store.index?.packs.first { $0.number == first.pack })
    store.finish()
    try folder.poke("index", at: at + 24, withUnsafeBytes(of: UInt32(first.offset >> 3)) { Array($0) })
    try folder.poke(
      "index", at: IndexLayout.tableStart + entry.place * IndexLayout.entrySize + 8,
      withUnsafeBytes(of: UInt64(slot.location.offset)) { Array($0) })
    let again = try self.store()
    try commit(again, RecordKey(key.kind, "new"), [1])
    #expect(again.lookup(key)?.copied() == Self.bytes(3))
    again.finish()
  }
}
