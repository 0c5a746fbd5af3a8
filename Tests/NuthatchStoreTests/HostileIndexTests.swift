import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("Index files with arbitrary contents") struct HostileIndexTests {
  private static let limit = 64 << 20
  private static let count = 120

  private static func key(_ number: Int) -> RecordKey {
    RecordKey(RecordKind.allCases[number % 3], "key \(number)")
  }
  private static func bytes(_ number: Int, _ version: Int) -> [UInt8] {
    content(
      UInt64(number) << 8 | UInt64(version), number == 7 ? 2_100_000 : 40 + (number * 37 + version) % 3000)
  }

  private static func store(_ folder: Folder) throws -> any RecordStore {
    try Store.records(
      try StoreDirectory(folder.path, trusts: false, LinuxCalls()),
      Store.Options(diskBytes: limit, memoryBytes: 1 << 20))
  }

  private static func commit(_ store: any RecordStore, _ number: Int, _ version: Int) throws {
    try bytes(number, version).withBytes { (bytes) throws(StoreFault) in
      _ = try store.commit(key(number), PayloadShape(), [bytes])
    }
  }

  @Test("a store goes on after its index got an impossible limit")
  func limit() throws {
    let folder = try Folder()
    let store = try Self.store(folder)
    try Self.commit(store, 1, 0)
    try folder.poke("index", at: IndexLayout.limit + 7, [0x80])
    try store.clear()
    try Self.commit(store, 1, 1)
    #expect(store.lookup(Self.key(1))?.copied() == Self.bytes(1, 1))
    store.finish()
  }

  @Test("a wrong limit in the index doesn't cause packs to be dropped", arguments: [0, 1, 64 << 10])
  func lowLimit(_ limit: UInt64) throws {
    let folder = try Folder()
    let store = try Self.store(folder)
    for number in 0..<80 { try store.fill(number, 100_000) }
    try folder.poke("index", at: IndexLayout.limit, withUnsafeBytes(of: limit) { Array($0) })
    for number in 80..<160 { try store.fill(number, 100_000) }
    #expect(store.statistics().droppedPacks == 0)
    #expect((0..<160).allSatisfy { store.has($0, 100_000) })
    #expect(store.statistics().diskLimit == Self.limit)
    store.finish()
  }

  @Test("an index in which many slots claim one home slot stays small and keeps its records")
  func oneHome() throws {
    let folder = try Folder()
    let store = try Self.store(folder)
    for number in 0..<Self.count { try Self.commit(store, number, 0) }
    let index = try folder.read("index")
    let start = IndexLayout.tableStart + 256 * IndexLayout.entrySize
    var made = 0
    for at in stride(from: start, to: index.count, by: IndexLayout.slotSize)
    where index[at + 20..<at + 24].allSatisfy({ $0 == 0 }) && made < 1500 {
      made += 1
      var slot = [UInt8](repeating: 0, count: IndexLayout.slotSize)
      (slot[8], slot[9], slot[20], slot[28]) = (UInt8(made & 255), UInt8(made >> 8), 1, 2)
      try folder.poke("index", at: at, slot)
    }
    #expect(made == 1500)
    // The index counts more records than there are, so that the next new record makes it grow.
    try folder.poke("index", at: IndexLayout.counters + 2, [1])
    try store.fill(1, 10)
    #expect(try folder.read("index").count < 16 << 20)
    try store.fill(2, 10)
    for number in 0..<Self.count {
      #expect(store.lookup(Self.key(number))?.copied() == Self.bytes(number, 0))
    }
    #expect(store.has(1, 10) && store.has(2, 10))
    store.finish()
  }

  @Test("a limit in the index that is too high doesn't enlarge the room reserved for a pack")
  func highLimit() throws {
    let folder = try Folder()
    let store = try Self.store(folder)
    try store.fill(1, 1000)
    try store.clear()
    try folder.poke("index", at: IndexLayout.limit, withUnsafeBytes(of: 1 << 46) { Array($0) })
    try store.fill(2, 1000)
    #expect(folder.allocated < 8 << 20)
    store.finish()
  }

  @Test("no pack is dropped if the index lists missing packs, or one pack many times")
  func table() throws {
    for isTwice in [false, true] {
      let folder = try Folder()
      let store = try Self.store(folder)
      for number in 0..<80 { try store.fill(number, 100_000) }
      let index = try folder.read("index")
      let places = (0..<256).map { IndexLayout.tableStart + $0 * IndexLayout.entrySize }
      let known = try #require(places.first { index[$0] == 1 })
      for place in places where index[place..<place + 4].allSatisfy({ $0 == 0 }) {
        var entry = Array(index[known..<known + IndexLayout.entrySize])
        if !isTwice { (entry[1], entry[2], entry[8 + 4], entry[16 + 4]) = (UInt8(place >> 5 & 255), 1, 1, 1) }
        try folder.poke("index", at: place, entry)
      }
      try store.fill(80, 100_000)
      #expect(store.statistics().droppedPacks == 0, "\(isTwice)")
      #expect((0..<81).allSatisfy { store.has($0, 100_000) }, "\(isTwice)")
      #expect(store.statistics().packs < 20)
      store.finish()
    }
  }

  @Test(
    "no pack number is given out twice, even if the index names a wrong next number",
    arguments: [nil, 1 << 31, UInt64(UInt32.max) - 1, UInt64(UInt32.max)])
  func packNumbers(_ before: UInt64?) throws {
    let folder = try Folder()
    let (store, other) = (try Self.store(folder), try Self.store(folder))
    try Self.commit(store, 1, 0)
    #expect(other.lookup(Self.key(1))?.copied() == Self.bytes(1, 0))
    try store.clear()
    if let before {
      try folder.poke("index", at: IndexLayout.nextPack, withUnsafeBytes(of: before) { Array($0) })
      try Self.commit(store, 2, 0)
      try store.clear()
    }
    try folder.poke("index", at: IndexLayout.nextPack, [1, 0, 0, 0, 0, 0, 0, 0])
    let later = [UInt8](Self.bytes(1, 0).reversed())
    try later.withBytes { (bytes) throws(StoreFault) in
      _ = try store.commit(Self.key(1), PayloadShape(), [bytes])
    }
    // The other store still has the first pack mapped.
    #expect(other.lookup(Self.key(1))?.copied() == later)
    store.finish()
    other.finish()
  }

  @Test("payloads are checked even if the index says that there is no session")
  func noSession() throws {
    let folder = try Folder()
    let store = try Self.store(folder)
    try store.fill(1, 1000)
    let name = "packs/" + (folder.files().first ?? "")
    let at = usedBytes(try folder.read(name)) - 100
    try folder.poke(name, at: at, [try folder.read(name)[at] ^ 1])
    try folder.poke("index", at: IndexLayout.session, [0, 0, 0, 0])
    for _ in 0..<3 { #expect(store.lookup(plainKey(1)) == nil) }
    store.finish()
  }

  @Test(
    "a store works if the index's next sequence or next pack number is out of range",
    arguments: [0, UInt64.max, 1 << 63])
  func nextNumbers(_ word: UInt64) throws {
    for place in [IndexLayout.nextSequence, IndexLayout.nextPack] {
      let folder = try Folder()
      let first = try Self.store(folder)
      for number in 0..<20 { try Self.commit(first, number, 0) }
      first.finish()
      try folder.poke("index", at: place, withUnsafeBytes(of: word) { Array($0) })
      let store = try Self.store(folder)
      for number in 0..<20 { try Self.commit(store, number, 1) }
      for number in 0..<20 { #expect(store.lookup(Self.key(number))?.copied() == Self.bytes(number, 1)) }
      store.finish()
      try folder.remove("index")
      let again = try Self.store(folder)
      for number in 0..<20 { #expect(again.lookup(Self.key(number))?.copied() == Self.bytes(number, 1)) }
      again.finish()
    }
  }
}

private func plainKey(_ number: Int) -> RecordKey { RecordKey(.meta, "\(number)") }

extension RecordStore {
  fileprivate func fill(_ number: Int, _ count: Int) throws {
    try content(UInt64(number), count).withBytes { (bytes) throws(StoreFault) in
      _ = try commit(plainKey(number), PayloadShape(), [bytes])
    }
  }

  fileprivate func has(_ number: Int, _ count: Int) -> Bool {
    lookup(plainKey(number))?.copied() == content(UInt64(number), count)
  }
}
