import Testing

@testable import NuthatchStore

@Suite("Records dropped for the disk limit") struct DropTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("the oldest records are dropped at the disk limit, and only as many as necessary")
  func limit() throws {
    let limit = 8 << 20
    let store = try Store.open(folder.path, .init(diskBytes: limit))
    for number in 0..<2000 {
      try store.commit(RecordKey(.thumb, "\(number)"), content(UInt64(number % 7), 10_000))
      #expect(try store.statistics().diskBytes <= limit)
    }
    let statistics = try store.statistics()
    #expect(statistics.diskBytes > limit / 2)
    #expect(statistics.droppedPacks > 5)
    // The pack that is written to is reserved beyond the limit at most.
    #expect(folder.allocated <= limit + store.disk.current.limits.packCapacity)
    var kept = 0
    for number in 0..<2000 where try store.lookup(RecordKey(.thumb, "\(number)")) != nil {
      #expect(number > 1000)
      kept += 1
    }
    #expect(kept == statistics.thumbs)
    #expect(try store.lookup(RecordKey(.thumb, "1999")) != nil)
    #expect(try store.verify().isClean)
  }

  @Test("verify removes the index entries of a pack whose drop was interrupted")
  func leftovers() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20))
    for number in 0..<300 { try store.commit(RecordKey(.thumb, "\(number)"), content(1, 10_000)) }
    let index = try #require(store.disk.current.forReading())
    let oldest = try #require(index.packs.first)
    try folder.remove("packs/\(PackName.of(oldest.number))")
    index.drop(oldest)
    #expect(try store.lookup(RecordKey(.thumb, "0")) == nil)
    let intact = try store.verify().intact
    #expect(intact < 300 && intact > 0)
    #expect(try store.statistics().thumbs == intact)
  }

  @Test("records that are used are moved, not dropped, and keep their sequences")
  func visited() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20))
    let loved = (0..<20).map { RecordKey(.thumb, "loved \($0)") }
    let sequences = try loved.enumerated().map { number, key in
      try store.commit(key, content(UInt64(number), 5000)).sequence
    }
    func places() -> [Location?] { loved.map { store.disk.current.index?.find($0.hash)?.slot.location } }
    let before = places()
    for number in 0..<3000 {
      try store.commit(RecordKey(.thumb, "\(number)"), content(1, 8000))
      if number % 50 == 0 { for key in loved { try store.touch(key) } }
    }
    for (number, key) in loved.enumerated() { #expect(try store.bytes(key) == content(UInt64(number), 5000)) }
    for (key, sequence) in zip(loved, sequences) { #expect(try store.lookup(key)?.sequence == sequence) }
    #expect(zip(before, places()).allSatisfy { $0 != $1 && $1 != nil })
    #expect(try store.lookup(RecordKey(.thumb, "0")) == nil)
  }

  @Test("new bodies never push out thumbnails")
  func families() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    for number in 0..<100 {
      try store.commit(RecordKey(.thumb, "t\(number)"), content(UInt64(number), 20_000))
    }
    for number in 0..<300 {
      try store.commit(RecordKey(.body, "b\(number)"), content(1, number % 10 == 0 ? 900_000 : 150_000))
    }
    for number in 0..<100 {
      #expect(try store.bytes(RecordKey(.thumb, "t\(number)")) == content(UInt64(number), 20_000))
    }
    #expect(try store.lookup(RecordKey(.body, "b299")) != nil)
    #expect(try store.statistics().diskBytes <= 16 << 20)
  }

  @Test("large bodies that were all used push out older bodies, not thumbnails")
  func visitedLarge() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    for number in 0..<370 {
      try store.commit(RecordKey(.thumb, "t\(number)"), content(UInt64(number), 20_000))
    }
    for number in 0..<40 {
      let key = RecordKey(.body, "b\(number)")
      try store.commit(key, content(UInt64(number), 900_000))
      #expect(try store.bytes(key) == content(UInt64(number), 900_000), "\(number)")
    }
    for number in 0..<370 {
      #expect(try store.lookup(RecordKey(.thumb, "t\(number)")) != nil, "\(number)")
    }
    #expect(try store.lookup(RecordKey(.body, "b0")) == nil)
    #expect(try store.statistics().diskBytes <= 16 << 20)
  }

  @Test("a trim drops packs while leases on them stay readable and count as pinned")
  func trim() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    let lease = try store.commit(RecordKey(.body, "b"), content(9, 100_000))
    for number in 0..<40 {
      try store.commit(RecordKey(.thumb, "\(number)"), content(UInt64(number), 100_000))
    }
    try store.trim(to: 2 << 20)
    #expect(try store.statistics().diskBytes <= 2 << 20)
    #expect(try store.statistics().pinnedBytes == store.disk.current.limits.packCapacity)
    try store.trim(to: 0)
    #expect(try store.statistics().diskBytes == 0)
    #expect(folder.files().isEmpty)
    #expect(lease.copied() == content(9, 100_000))
    try store.commit(RecordKey(.thumb, "new"), [1])
    #expect(try store.bytes(RecordKey(.thumb, "new")) == [1])
  }
}
