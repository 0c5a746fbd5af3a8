import Glibc
import Testing

@testable import NuthatchStore

/// A file system that fails, or turns read-only, may drop pages that it couldn't write: a mapping then has other bytes and
/// hears of no error. Here zeros are written to the file instead.
@Suite("Written pages that a failing file system lost") struct LostPagesTests {
  private static let btrfs: UInt32 = 0x9123_683E
  private static let count = 6

  let folder: Folder
  let calls = FaultyCalls(.number(EIO), fileSystem: btrfs)
  init() throws { folder = try Folder() }

  private static func key(_ number: Int) -> RecordKey { RecordKey(.body, "lost \(number)") }
  private static func payload(_ number: Int) -> [UInt8] { content(UInt64(number), 9000) }

  /// What makes a store notice that what was written may be lost.
  enum Notice: CaseIterable, Sendable { case failedWrite, readOnly, readOnlyByRemoval, failedTouch }

  private func notice(_ notice: Notice, _ store: Store) throws {
    switch notice {
    case .failedWrite:
      calls.failWrites(1)
      // It is tried again elsewhere.
      try store.commit(Self.key(100), [1])
    case .readOnly, .readOnlyByRemoval:
      calls.refuseWriting()
      // A failed write to a mapped page doesn't tell that the file system is read-only.
      calls.fillUp(true)
      #expect(throws: StoreFault.self) {
        if notice == .readOnly {
          try store.commit(Self.key(100), [1])
        } else {
          try store.remove(Self.key(100))
        }
      }
    case .failedTouch:
      // Of another pack than the one that has zeros.
      try Self.failTouchElsewhere()
      _ = try store.lookup(Self.key(1))
      try store.commit(Self.key(101), content(1, 1 << 20))
      let other = try #require(try store.lookup(Self.key(101)))
      #expect(truncate(folder.path + "/packs/" + (try #require(folder.files().last)), 0) == 0)
      _ = other.copied()
      #expect(other.isBroken)
      // The store may have just checked, because another test's touch failed. It checks again only after the pause.
      usleep(UInt32(FailedAccesses.pause / 1000))
    }
  }

  private static func failTouchElsewhere() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path)
    try store.commit(key(0), payload(0))
    let lease = try #require(try store.lookup(key(0)))
    #expect(truncate(folder.path + "/packs/" + (try #require(folder.files().last)), 0) == 0)
    _ = lease.copied()
  }

  private func opened() throws -> Store {
    let store = try Store.open(folder.path, .init(diskBytes: 4 << 20), calls)
    for number in 0..<Self.count { try store.commit(Self.key(number), Self.payload(number)) }
    for number in 0..<Self.count {
      try store.keep(Self.key(number), #require(try store.lookup(Self.key(number))))
    }
    return store
  }

  /// Has zeros instead of the payload's last bytes, of which most are on another page than the header.
  private func lose(_ number: Int) throws {
    let name = "packs/" + (try #require(folder.files().first))
    let bytes = try folder.read(name)
    let payload = Self.payload(number)
    let at = try #require(
      (0..<bytes.count - payload.count).first { bytes[$0..<$0 + payload.count].elementsEqual(payload) })
    try folder.poke(name, at: at + 4500, [UInt8](repeating: 0, count: 4500))
  }

  private func isRight(_ lease: Lease?, _ number: Int) -> Bool { lease?.copied() == Self.payload(number) }

  @Test(
    "a record whose pages were lost isn't found once the store has noticed, all others are",
    arguments: Notice.allCases)
  func notices(_ notice: Notice) throws {
    let store = try opened()
    let (held, lost) = (try store.lookup(Self.key(1)), try store.lookup(Self.key(2)))
    try lose(2)
    try self.notice(notice, store)
    #expect(try store.lookup(Self.key(2)) == nil)
    #expect(try store.recall(Self.key(2)) == nil)
    for number in 0..<Self.count where number != 2 {
      #expect(isRight(try store.lookup(Self.key(number)), number))
    }
    // What callers hold is judged by its checksum, too.
    #expect(held?.isBroken == false)
    #expect(held?.reading { Array($0) } == Self.payload(1))
    #expect(lost?.isBroken == true)
    #expect(lost?.reading { $0.count } == nil)
  }

  @Test(
    "once a store distrusts the disk, memory holds checked copies and lost records are misses",
    arguments: Notice.allCases)
  func later(_ notice: Notice) throws {
    let store = try opened()
    let mapped = try #require(try store.lookup(Self.key(3)))
    try self.notice(notice, store)
    let found = try #require(try store.lookup(Self.key(2)))
    try store.keep(Self.key(2), found)
    let isKept = try store.keep(Self.key(3), mapped)
    for number in 2...3 { try lose(number) }
    #expect(isRight(found, 2))
    #expect(isRight(try store.recall(Self.key(2)), 2))
    #expect(try store.statistics().memory.privateBytes >= 9000)
    #expect(!isKept)
    #expect(try store.recall(Self.key(3)) == nil)
    for number in 2...3 { #expect(try store.lookup(Self.key(number)) == nil) }
    #expect(!found.isBroken)
    #expect(mapped.isBroken)
  }

  @Test("all processes learn of lost pages, until the last one closes the directory")
  func others() throws {
    let (store, other) = (try opened(), try Store.open(folder.path))
    let held = try #require(try other.lookup(Self.key(2)))
    try other.keep(Self.key(2), held)
    try lose(2)
    try notice(.failedWrite, store)
    #expect(try other.lookup(Self.key(1)) != nil)
    #expect(try other.recall(Self.key(2)) == nil)
    #expect(try other.lookup(Self.key(2)) == nil)
    #expect(held.isBroken)
    let third = try Store.open(folder.path)
    #expect(try third.lookup(Self.key(2)) == nil)
    let found = try #require(try third.lookup(Self.key(4)))
    try lose(4)
    #expect(isRight(found, 4))
    for store in [store, other, third] { store.close() }
    let last = try Store.open(folder.path)
    #expect(!last.disk.openPacks.trust.isOver)
    for number in 0..<Self.count where number != 2 && number != 4 {
      #expect(isRight(try last.lookup(Self.key(number)), number))
    }
    #expect(try last.lookup(Self.key(2)) == nil)
  }

  @Test("a store that only looks records up notices that the file system turned read-only")
  func readers() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 4 << 20))
    for number in 0..<Self.count { try store.commit(Self.key(number), Self.payload(number)) }
    // Then the reader looks at a record that was checked already, for which it asks nothing.
    _ = try store.lookup(Self.key(0))
    let reader = try Store.open(folder.path, .init(), calls)
    try reader.keep(Self.key(0), #require(try reader.lookup(Self.key(0))))
    calls.refuseWriting()
    calls.fillUp(true)
    try lose(0)
    #expect(isRight(try reader.lookup(Self.key(1)), 1))
    #expect(try reader.recall(Self.key(0)) == nil)
    #expect(try reader.lookup(Self.key(0)) == nil)
  }

  @Test("a disk that is only full doesn't end the trust in checked bytes")
  func full() throws {
    let store = try opened()
    calls.fillUp(true)
    calls.limitRoom(0)
    #expect(throws: StoreFault.self) { try store.commit(RecordKey(.thumb, "new"), [1]) }
    #expect(!store.disk.openPacks.trust.isOver)
    #expect(try store.recall(Self.key(0)) != nil)
  }
}
