import CSystem
import Foundation
import Testing

@testable import NuthatchStore

/// Several stores on one directory that share no memory, like stores of different processes.
@Suite("Directories that several stores use") struct SharingTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private func user() throws -> Store { try Store.open(folder.path) }

  private static func key(_ name: String) -> RecordKey { RecordKey(.meta, name) }

  private func keep(_ name: String, _ user: Store) throws {
    try user.commit(Self.key(name), Array(name.utf8))
  }

  private func has(_ name: String, _ user: Store) -> Bool {
    (try? user.bytes(Self.key(name))) == Array(name.utf8)
  }

  /// Expects each store to find the records of all stores after these files were deleted.
  private func isOne(deleting names: [String]) throws {
    let old = [try user(), try user()]
    try keep("before", old[0])
    for name in names { try folder.remove(name) }
    // The new store first: it can't know of the deletion.
    let new = try user()
    for (number, user) in [new, old[1], old[0]].enumerated() { try keep("after \(number)", user) }
    for user in [new, old[0], old[1]] {
      // A reader alone follows when it changes something next.
      try keep("sync", user)
      #expect(has("before", user))
      for number in 0..<3 { #expect(has("after \(number)", user), "\(number)") }
    }
    // All have the same index and the same lock file.
    #expect(Set([new, old[0], old[1]].map { $0.index?.identity }).count == 1)
    let links = try [new, old[0], old[1]].map { try LinuxCalls().status($0.disk.locks.file.fd) }
    #expect(Set(links.map(\.inode)).count == 1)
    #expect(try new.verify().isClean)
    for user in [new, old[0], old[1]] { user.finish() }
  }

  @Test("a record's mark differs from those of all records that replace it")
  func marks() throws {
    let (own, other) = (try user(), try user())
    let hash = Self.key("a").hash
    #expect(own.disk.reader.mark(of: hash, bringsUpToDate: true) == nil)
    try keep("a", own)
    let first = try #require(own.disk.reader.mark(of: hash, bringsUpToDate: true))
    #expect(own.disk.reader.mark(of: hash, bringsUpToDate: false) == first)
    try keep("a", other)
    #expect(own.disk.reader.mark(of: hash, bringsUpToDate: false) != first)
    let second = own.disk.reader.mark(of: hash, bringsUpToDate: false)
    _ = try other.remove(Self.key("a"))
    #expect(own.disk.reader.mark(of: hash, bringsUpToDate: false) == nil)
    try keep("a", other)
    let third = own.disk.reader.mark(of: hash, bringsUpToDate: true)
    #expect(third != nil && third != second && third != first)
    // The first record of a new index doesn't look like the first of the old one.
    try other.clear()
    #expect(own.disk.reader.mark(of: hash, bringsUpToDate: true) == nil)
    try keep("a", other)
    let marks = [first, second, third, own.disk.reader.mark(of: hash, bringsUpToDate: true)]
    #expect(marks.last != .some(nil) && Set(marks).count == 4)
    for user in [own, other] { user.finish() }
  }

  private func small(_ folder: Folder, _ calls: any SystemCalls) throws -> Store {
    try Store.open(folder.path, Store.Options(diskBytes: 8 << 20), calls)
  }

  @Test(
    "a commit returns a readable lease, even if another store drops packs meanwhile",
    arguments: [500, 700_000], [true, false])
  func overtaken(_ size: Int, _ clears: Bool) throws {
    // At least two unlockings a record: making the pack, and publishing.
    for count in 1...5 {
      let folder = try Folder()
      let calls = FaultyCalls(.short)
      let (own, other) = (try small(folder, calls), try small(folder, LinuxCalls()))
      let wasThere = Counter()
      calls.interfere(at: count) {
        wasThere.add()
        do { try clears ? other.clear() : other.trim(to: 0) } catch { Issue.record(error) }
      }
      for number in 0..<8 {
        let key = Self.key("\(number)")
        let bytes = content(UInt64(number), size)
        let lease = try own.commit(key, bytes)
        #expect(lease.copied() == bytes, "at \(count)")
      }
      #expect(wasThere.count == 1)
      #expect(try own.lookup(Self.key("7"))?.copied() == content(7, size), "at \(count)")
      #expect(try other.lookup(Self.key("7"))?.copied() == content(7, size), "at \(count)")
      #expect(try other.verify().isClean, "at \(count)")
      #expect(try own.statistics().packs == folder.files().count, "at \(count)")
      for user in [own, other] { user.finish() }
    }
  }

  /// Has `other` clear whenever the user of `calls` has given a lock back. Passes the number of clears to `then`.
  private func clearAfterEachStep(
    _ calls: FaultyCalls, _ other: Store, _ then: @escaping @Sendable (Int) -> Void = { _ in }
  ) -> Counter {
    let clears = Counter()
    @Sendable func clear() {
      clears.add()
      do { try other.clear() } catch { Issue.record(error) }
      then(clears.count)
      calls.interfere(at: 1, clear)
    }
    calls.interfere(at: 1, clear)
    return clears
  }

  @Test(
    "a commit returns a readable lease, even if another store clears after each of its steps",
    arguments: [500, 700_000])
  func clearedEachTime(_ size: Int) throws {
    let folder = try Folder()
    let calls = FaultyCalls(.short)
    let (own, other) = (try small(folder, calls), try small(folder, LinuxCalls()))
    let clears = clearAfterEachStep(calls, other)
    let bytes = content(7, size)
    let lease = try own.commit(Self.key("7"), bytes)
    calls.interfere(at: .max) {}
    #expect(clears.count >= 3)
    #expect(lease.copied() == bytes)
    #expect(try own.lookup(Self.key("7")) == nil)
    #expect(try other.verify().isClean)
    #expect(try own.commit(Self.key("8"), bytes).copied() == bytes)
    #expect(try other.lookup(Self.key("8"))?.copied() == bytes)
    #expect(try own.statistics().packs == folder.files().count)
    for user in [own, other] { user.finish() }
  }

  @Test(
    "a commit whose last write fails says so, even if an earlier record was removed",
    arguments: 4...9)
  func failsAtLast(_ count: Int) throws {
    let folder = try Folder()
    let calls = FaultyCalls(.short)
    let (own, other) = (try small(folder, calls), try small(folder, LinuxCalls()))
    let clears = clearAfterEachStep(calls, other) { if $0 == count { calls.failWrites(1000) } }
    do throws(StoreFault) {
      _ = try own.commit(Self.key("7"), content(7, 500))
      // Without a failed write, the record was stored, or stored and removed.
      #expect(calls.writesThatWillFail == 1000 || clears.count < count)
    } catch {
      #expect(error.kind == .io && calls.writesThatWillFail < 1000)
    }
    calls.failWrites(0)
    calls.interfere(at: .max) {}
    #expect(try other.verify().isClean)
    for user in [own, other] { user.finish() }
  }

  @Test("a trim and another store's commit to a left pack leave index and packs consistent")
  func adopted() throws {
    for count in 1...4 {
      let folder = try Folder()
      let calls = FaultyCalls(.short)
      func user(_ calls: any SystemCalls) throws -> Store { try Store.open(folder.path, .init(), calls) }
      let (own, other) = (try user(calls), try user(LinuxCalls()))
      let left = try user(LinuxCalls())
      try keep("left", left)
      left.finish()
      calls.interfere(at: count) {
        do { try keep("late", other) } catch { Issue.record(error) }
      }
      try own.trim(to: 0)
      if try other.statistics().commits == 1 {
        #expect(try has("late", other) || own.statistics().droppedPacks == 1, "at \(count)")
      }
      let statistics = try own.statistics()
      #expect(statistics.meta == (try own.verify()).intact, "at \(count)")
      #expect(statistics.packs == folder.files().count, "at \(count)")
      #expect(has("late", own) == has("late", other), "at \(count)")
      if count == 1 { #expect(has("late", own)) }
      for user in [own, other] { user.finish() }
    }
  }

  @Test("stores go on sharing a directory whose index is deleted")
  func index() throws { try isOne(deleting: ["index"]) }

  @Test("stores go on sharing a directory whose lock file is deleted")
  func lock() throws { try isOne(deleting: ["locks"]) }

  @Test("stores share a directory again after its lock and index were deleted")
  func both() throws {
    let old = try user()
    try keep("before", old)
    try folder.remove("locks")
    try folder.remove("index")
    let new = try user()
    // The old store uses the deleted files until it looks, which it does after each eighth of a pack.
    old.current.lookForDeletion()
    try keep("old", old)
    try keep("new", new)
    for user in [old, new] {
      for name in ["before", "old", "new"] { #expect(has(name, user), "\(name)") }
      user.finish()
    }
  }

  @Test(
    "stores share a directory again after all its contents, or its packs, were deleted",
    arguments: [["index", "locks", "packs"], ["packs"]], [false, true])
  func contents(_ names: [String], _ isAlone: Bool) throws {
    let old = try user()
    let same = Self.key("same")
    let lease = try old.commit(same, [1])
    #expect(try old.lookup(same)?.copied() == [1])
    for name in names { try folder.remove(name) }
    let new = isAlone ? nil : try user()
    if let new {
      // At the same place in a pack of the same number, which another one has.
      try new.commit(same, [2])
      for _ in 0..<2 { #expect(try new.lookup(same)?.copied() == [2]) }
      try keep("new", new)
    }
    old.current.lookForDeletion()
    _ = try old.lookup(Self.key("nothing"))
    // A lookup that has to wait for a lock says that there is nothing, and opens the directory a moment later.
    if new != nil, names.count == 3 { eventually("the other's") { (try? old.bytes(same)) == [2] } }
    try keep("old", old)
    if let new { try keep("newer", new) }
    for user in [old, new].compactMap({ $0 }) {
      #expect(has("old", user))
      for name in ["new", "newer"] where new != nil { #expect(has(name, user), "\(name)") }
      #expect(try user.lookup(same)?.copied() == (isAlone ? nil : [2]))
      #expect(try user.verify().isClean)
    }
    #expect(lease.copied() == [1])
    try old.clear()
    for user in [old, new].compactMap({ $0 }) {
      #expect(!has("old", user))
      #expect(!has("new", user))
    }
    #expect(folder.files().isEmpty)
    for user in [old, new].compactMap({ $0 }) { user.finish() }
  }

  @Test("a lookup notices that the directory's contents were deleted, and later records are found")
  func contentsMissed() throws {
    let user = try user()
    try keep("before", user)
    for name in ["index", "locks", "packs"] { try folder.remove(name) }
    #expect(!has("before", user))
    try keep("after", user)
    #expect(has("after", user))
    #expect(folder.files("").contains("packs"))
    user.finish()
  }

  @Test("a clear after the contents were deleted removes what another store has kept since")
  func contentsCleared() throws {
    let old = try user()
    try keep("before", old)
    for name in ["index", "locks", "packs"] { try folder.remove(name) }
    let new = try user()
    try keep("new", new)
    try old.clear()
    #expect(!has("new", new))
    #expect(folder.files().isEmpty)
    try keep("newer", new)
    try keep("old", old)
    let third = try user()
    for user in [old, new, third] {
      for name in ["newer", "old"] { #expect(has(name, user), "\(name)") }
      user.finish()
    }
  }

  @Test("a store whose lock file is deleted makes a new one and keeps its records")
  func alone() throws {
    let user = try user()
    try keep("before", user)
    try folder.remove("locks")
    user.current.lookForDeletion()
    #expect(has("before", user))
    try keep("after", user)
    #expect(has("before", user))
    #expect(has("after", user))
    #expect(folder.files("").contains("locks"))
    user.finish()
  }

  @Test("a clear frees the old index in memory")
  func clears() throws {
    let user = try user()
    for number in 0..<20 {
      weak let index = user.index
      #expect(index != nil)
      try keep("\(number)", user)
      try user.clear()
      #expect(index == nil)
    }
    user.finish()
  }

  @Test("a pack whose lock can't be checked counts as being written")
  func busy() throws {
    let writer = try user()
    try keep("k", writer)
    for (number, answer) in [(EMFILE, true), (ENFILE, true), (EIO, true), (ENOENT, false)] {
      let faulty = FaultyCalls(.number(number), isLasting: true)
      let directory = try StoreDirectory(folder.path, trusts: false, faulty)
      let pack = try #require(folder.files().first.flatMap(PackName.number))
      #expect(PackWriter.isBusy(directory, pack))
      faulty.arm(after: 0)
      #expect(PackWriter.isBusy(directory, pack) == answer, "\(number)")
      faulty.disarm()
    }
    let directory = writer.disk.directory
    writer.finish()
    let pack = try #require(folder.files().first.flatMap(PackName.number))
    #expect(!PackWriter.isBusy(directory, pack))
    #expect(!PackWriter.isBusy(directory, 4711))
  }

  @Test("statistics make no system call")
  func counts() throws {
    let faulty = FaultyCalls(.number(EIO), isLasting: true)
    let store = try Store.open(folder.path, .init(), faulty)
    for number in 0..<100 { try store.commit(Self.key("\(number)"), [1]) }
    // If a mapping of another test breaks meanwhile, every store looks whether it can still write.
    faulty.leaveOutChecks()
    faulty.arm(after: 0)
    let statistics = try store.statistics()
    faulty.disarm()
    #expect(faulty.failures == 0)
    #expect(statistics.meta == 100)
    #expect(statistics.packs == 1)
  }

  @Test("statistics warn of network and FUSE file systems, not of local ones")
  func warning() throws {
    #expect(try Store.open(folder.path).statistics().warning == nil)
    for (magic, name) in [
      (0x6969, "NFS"), (0xFF53_4D42, "CIFS"), (0xFE53_4D42, "SMB"), (0x6573_5546, "FUSE"),
      (0x0102_1997, "9P"),
    ] as [(UInt32, String)] {
      let folder = try Folder()
      let store = try Store.open(folder.path, .init(), FaultyCalls(.short, fileSystem: magic))
      try store.commit(Self.key("k"), [1])
      #expect(try store.statistics().warning?.contains(name) == true)
    }
    for magic: UInt32 in [0xEF53, 0x0102_1994, 0x5846_5342, 0x9123_683E, 0x794C_7630] {
      #expect(FileSystems.warning(magic) == nil)
    }
  }
}
