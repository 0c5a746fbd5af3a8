import Testing

@testable import NuthatchStore

@Suite("Next sequences that damage lowered") struct LoweredSequenceTests {
  private static func key(_ number: Int) -> RecordKey { RecordKey(.meta, "key \(number)") }

  private static func store(_ folder: Folder, _ spill: Store.Spill = .eager) throws -> any RecordStore {
    try Store.records(
      try StoreDirectory(folder.path, trusts: false, LinuxCalls()),
      Store.Options(diskBytes: 64 << 20, memoryBytes: 1 << 20, spill: spill))
  }

  private static func commit(_ store: any RecordStore, _ number: Int, _ bytes: [UInt8]) throws {
    try bytes.withBytes { (bytes) throws(StoreFault) in
      _ = try store.commit(key(number), PayloadShape(), [bytes])
    }
  }

  private static func lower(_ folder: Folder) throws {
    try folder.poke("index", at: IndexLayout.nextSequence, [2, 0, 0, 0, 0, 0, 0, 0])
  }

  @Test("a record that is written late doesn't replace a later one after the next sequence was lowered")
  func late() throws {
    let folder = try Folder()
    let (store, other) = (try Self.store(folder), try Self.store(folder, .pressure))
    for number in 0..<10 { try Self.commit(store, number, [1]) }
    for number in 0..<10 {
      _ = try [2].withBytes { (bytes) throws(StoreFault) in
        try other.commit(Self.key(number), PayloadShape(), [bytes])
      }
    }
    try Self.lower(folder)
    for number in 0..<10 { try Self.commit(store, number, [3]) }
    try other.flush()
    for number in 0..<10 { #expect(store.lookup(Self.key(number))?.copied() == [3]) }
    store.finish()
    other.finish()
  }

  @Test("opening a directory raises a lowered next sequence if the index was rebuilt from packs")
  func opening() throws {
    let folder = try Folder()
    let first = try Self.store(folder)
    for number in 0..<10 { try Self.commit(first, number, [1]) }
    first.finish()
    try folder.remove("index")
    try Self.store(folder).finish()
    try Self.lower(folder)
    let store = try Self.store(folder)
    try Self.commit(store, 20, [1])
    let last = (0..<10).compactMap { store.lookup(Self.key($0))?.sequence }.max() ?? 0
    #expect((store.lookup(Self.key(20))?.sequence ?? 0) > last && last > 0)
    store.finish()
  }

  @Test("a writer that takes a pack over or in raises a lowered next sequence")
  func adoption() throws {
    for isKnown in [true, false] {
      let folder = try Folder()
      let first = try Self.store(folder)
      for number in 0..<10 { try Self.commit(first, number, [1]) }
      let entry = try #require(first.index?.packs.first)
      first.finish()
      try Self.lower(folder)
      if !isKnown {
        try folder.poke(
          "index", at: IndexLayout.tableStart + entry.place * IndexLayout.entrySize, [0, 0, 0, 0])
      }
      let store = try Self.store(folder)
      let last = (0..<10).compactMap { store.lookup(Self.key($0))?.sequence }.max() ?? 0
      // The first commit takes the pack over.
      try Self.commit(store, 20, [1])
      try Self.commit(store, 21, [1])
      #expect((store.lookup(Self.key(21))?.sequence ?? 0) > last && last > 0, "\(isKnown)")
      store.finish()
    }
  }
}
