import CSystem
import Dispatch
import Glibc
import Testing

@testable import NuthatchStore

/// A byte of the file `locks`, held by another opening of the file, as a process that was stopped holds it.
struct HeldByte: ~Copyable {
  private let fd: Int32
  private let byte: DirectoryLocks.Byte

  init(_ folder: Folder, _ byte: DirectoryLocks.Byte) throws {
    self.byte = byte
    fd = open(folder.path + "/locks", O_RDWR | O_CLOEXEC)
    try #require(fd >= 0 && nhs_lock_byte(fd, byte.rawValue, CChar(UInt8(ascii: "w")), 1) == 0)
  }

  deinit { unlockAndClose(fd, byte.rawValue) }
}

/// A process that another test starts may have a copy of the descriptor for a moment, and with it the lock.
private func unlockAndClose(_ fd: Int32, _ byte: Int64) {
  _ = nhs_lock_byte(fd, byte, CChar(UInt8(ascii: "u")), 0)
  close(fd)
}

@Suite("Locks that another process holds and doesn't release") struct HeldLockTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private static let key = RecordKey(.meta, "key")

  /// Returns how long `body` takes, and what it throws.
  private func time(_ body: () throws -> Void) -> (seconds: Double, fault: StoreFault?) {
    let begin = nhs_monotonic_ns()
    var fault: StoreFault?
    do { try body() } catch { fault = error as? StoreFault }
    return (Double(nhs_monotonic_ns() - begin) / 1e9, fault)
  }

  @Test("with the index lock held, memory pressure gives up unwritten records after 1 s, not 5 s for each")
  func pressure() throws {
    let store = try Store.open(folder.path, .init(spill: .pressure))
    for number in 0..<5 { try store.commit(RecordKey(.meta, "key \(number)"), [1]) }
    let held = try HeldByte(folder, .index)
    let relieved = time { store.relieve(.critical) }
    #expect(relieved.fault == nil && (0.9..<20).contains(relieved.seconds))
    #expect(try store.statistics().memory.lost == 5)
    _ = consume held
    store.close()
  }

  @Test("with the index lock held, `flushAtEnd` throws `busy` after 5 s and a close loses unwritten records")
  func ending() throws {
    // A machine that stands still for some seconds looks like a second wait, but hardly twice.
    if try secondsOfClose() >= 4 { #expect(try secondsOfClose() < 4) }
  }

  private func secondsOfClose() throws -> Double {
    let store = try Store.open(folder.path, .init(spill: .pressure))
    for number in 0..<5 { try store.commit(RecordKey(.meta, "key \(number)"), [1]) }
    let held = try HeldByte(folder, .index)
    let flushed = time { try store.flushAtEnd() }
    #expect(flushed.fault?.kind == .busy && flushed.seconds >= 4.9)
    let closed = time { store.close() }
    _ = consume held
    let other = try Store.open(folder.path)
    #expect(try other.lookup(RecordKey(.meta, "key 1")) == nil)
    try other.flushAtEnd()
    other.close()
    return closed.seconds
  }

  @Test("with the index lock held, lookups work; a commit throws `busy` after 1 s, later ones at once")
  func writers() throws {
    let store = try Store.open(folder.path)
    try store.commit(Self.key, [1])
    let other = try Store.records(
      try StoreDirectory(folder.path, trusts: false, LinuxCalls()), Store.Options())
    defer { other.finish() }
    do {
      let held = try HeldByte(folder, .index)
      #expect(try store.bytes(Self.key) == [1])
      let first = time { try store.commit(Self.key, [2]) }
      #expect(first.fault?.kind == .busy && first.seconds >= 1)
      // The process that had the lock last is the one that sits on it.
      #expect(first.fault?.message.contains("process \(getpid()) (") == true)
      #expect(store.holder.map { $0.nanoseconds >= 1_000_000_000 } == true)
      // Twenty of them would take twenty seconds.
      let later = time { for _ in 0..<20 { _ = try? store.commit(Self.key, [3]) } }
      #expect(later.seconds < 10)
      _ = consume held
    }
    #expect(store.holder == nil)
    try store.commit(Self.key, [4])
    #expect(try store.bytes(Self.key) == [4])
    #expect(try store.verify().isClean)
    store.close()
  }

  @Test("with the dropping lock held, a commit that needs room throws `busy` after 1 s, later ones at once")
  func room() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 4 << 20))
    defer { store.close() }
    var number = 0
    func keep() throws {
      number += 1
      try store.commit(RecordKey(.meta, "\(number)"), content(1, 30_000))
    }
    while try store.statistics().droppedPacks == 0 { try keep() }
    let held = try HeldByte(folder, .dropping)
    var last: (seconds: Double, fault: StoreFault?) = (0, nil)
    // Some records still have room.
    while last.fault == nil, number < 1000 { last = time { try keep() } }
    #expect(last.fault?.kind == .busy && last.seconds >= 1)
    #expect(last.fault?.message.contains("process \(getpid()) (") == true)
    #expect(last.fault?.message.contains("deleting packs") == true)
    #expect(store.holder.map { $0.nanoseconds >= 1_000_000_000 } == true)
    let later = time { for _ in 0..<20 { _ = try? keep() } }
    #expect(later.seconds < 10)
    _ = consume held
    #expect(store.holder == nil)
    try keep()
    #expect(folder.allocated <= 4 << 20 + 2 * store.disk.current.limits.packCapacity)
  }

  @Test("with the index lock held, 30 commits in several threads throw `busy` within 20 s in all")
  func threads() throws {
    let store = try Store.open(folder.path)
    try store.commit(Self.key, [1])
    let held = try HeldByte(folder, .index)
    let busy = Counter()
    let all = time {
      DispatchQueue.concurrentPerform(iterations: 30) { number in
        do { try store.commit(RecordKey(.meta, "\(number)"), [1]) } catch {
          if (error as? StoreFault)?.kind == .busy { busy.add() }
        }
      }
    }
    #expect(busy.count == 30)
    // One after the other they would take thirty.
    #expect(all.seconds < 20)
    _ = consume held
    store.close()
  }

  @Test(
    "clear, trim, flush and remove throw `busy` after 5 s if another process holds their lock",
    arguments: [false, true])
  func upkeep(_ isDropping: Bool) throws {
    let store = try Store.open(folder.path, .init(spill: .pressure))
    try store.commit(Self.key, [1])
    let held = try HeldByte(folder, isDropping ? .dropping : .index)
    let calls: [() throws -> Void] =
      isDropping
      ? [{ try store.clear() }, { try store.trim(to: 0) }]
      : [{ try store.flush() }, { try store.remove(Self.key) }]
    for call in calls {
      let result = time(call)
      #expect(result.fault?.kind == .busy)
      #expect((5..<30).contains(result.seconds))
    }
    _ = consume held
    try store.flush()
    try store.clear()
    #expect(try store.bytes(Self.key) == nil)
    store.close()
  }

  @Test("a second store opens while the index lock is held, and finds the records")
  func joining() throws {
    let store = try Store.open(folder.path)
    try store.commit(Self.key, [1])
    let held = try HeldByte(folder, .index)
    let other = try Store.records(
      try StoreDirectory(folder.path, trusts: false, LinuxCalls()), Store.Options())
    #expect(other.lookup(Self.key)?.copied() == [1])
    other.finish()
    _ = consume held
    store.close()
  }

  @Test("the first store opens after 1 s while the index lock is held, and finds the records")
  func alone() throws {
    let store = try Store.open(folder.path)
    try store.commit(Self.key, [1])
    store.close()
    let held = try HeldByte(folder, .index)
    var other: Store?
    let opened = time { other = try Store.open(folder.path) }
    #expect(opened.fault == nil && opened.seconds >= 0.9)
    #expect(try other?.bytes(Self.key) == [1])
    #expect(time { try other?.commit(Self.key, [2]) }.fault?.kind == .busy)
    _ = consume held
    try other?.commit(Self.key, [3])
    #expect(try other?.bytes(Self.key) == [3])
    other?.close()
  }

  @Test("opening a directory without an index throws `busy` while the index lock is held")
  func aloneWithout() throws {
    try Store.open(folder.path).close()
    try folder.remove("index")
    let held = try HeldByte(folder, .index)
    let result = time { try Store.open(folder.path).close() }
    #expect(result.fault?.kind == .busy && result.seconds >= 4.9)
    _ = consume held
    try Store.open(folder.path).close()
  }

  @Test("a trim throws `busy` while the index lock is held, even if there is little to drop")
  func trimming() throws {
    let store = try Store.open(folder.path)
    try store.commit(Self.key, [1])
    let held = try HeldByte(folder, .index)
    #expect(time { try store.trim(to: 1 << 20) }.fault?.kind == .busy)
    _ = consume held
    try store.trim(to: 1 << 20)
    store.close()
  }
}

@Suite("Directories of version 0.1") struct EarlierVersionTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  /// Makes what version 0.1 leaves: packs of version 2, and a lock that is a file.
  private func makeEarlier() throws {
    let store = try Store.open(folder.path)
    for number in 0..<20 { try store.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 2000)) }
    store.close()
    for name in folder.files() {
      var head = Array(try folder.read("packs/" + name).prefix(64))
      head.withUnsafeMutableBytes {
        $0.store(PackHeader.earlierVersion, at: 8)
        $0.store(nhs_hash64($0.baseAddress, 56, 0), at: 56)
      }
      try folder.poke("packs/" + name, at: 0, head)
    }
    for name in ["index", "locks", "lock"] { try folder.remove(name) }
    let fd = open(folder.path + "/lock", O_RDWR | O_CREAT, 0o600)
    ftruncate(fd, 64)
    close(fd)
  }

  @Test("a directory of version 0.1 is taken over; its packs are read, not appended to")
  func isTakenOver() throws {
    try makeEarlier()
    let before = try folder.files().map { try folder.read("packs/" + $0) }
    let names = folder.files()
    let store = try Store.open(folder.path)
    for number in 0..<20 {
      #expect(try store.bytes(RecordKey(.meta, "\(number)")) == content(UInt64(number), 2000))
    }
    #expect(store.hasEarlierAnswers)
    try store.commit(RecordKey(.meta, "new"), [1])
    #expect(try names.map { try folder.read("packs/" + $0) } == before)
    #expect(try store.verify().isClean)
    store.close()
    // Version 0.1 follows no link.
    #expect(open(folder.path + "/lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0o600) == -1)
  }

  @Test("a directory that version 0.1 has open is a conflict and stays unchanged")
  func isOpen() throws {
    try makeEarlier()
    let lock = open(folder.path + "/lock", O_RDWR | O_CLOEXEC)
    #expect(nhs_lock_byte(lock, 2, CChar(UInt8(ascii: "r")), 0) == 0)
    let before = folder.files("")
    let fault = #expect(throws: StoreFault.self) { try Store.open(folder.path) }
    #expect(fault?.kind == .conflict)
    #expect(fault?.message.contains("0.1") == true)
    #expect(folder.files("") == before)
    unlockAndClose(lock, 2)
    let store = try Store.open(folder.path)
    #expect(try store.bytes(RecordKey(.meta, "3")) == content(3, 2000))
    store.close()
  }

  @Test("a directory of version 0.1 is taken over even if another process takes it over meanwhile")
  func isTakenOverAtOnce() throws {
    try makeEarlier()
    let path = folder.path + "/lock"
    let lock = open(path, O_RDWR | O_CLOEXEC)
    #expect(nhs_lock_byte(lock, 2, CChar(UInt8(ascii: "w")), 0) == 0)
    let system = FaultyCalls(.number(EIO))
    // The other process puts its link there and releases the lock.
    system.interfereAtHeldLock {
      unlink(path)
      symlink("locks", path)
      unlockAndClose(lock, 2)
    }
    let store = try Store.open(folder.path, .init(), system)
    #expect(try store.bytes(RecordKey(.meta, "3")) == content(3, 2000))
    store.close()
    #expect(folder.files("").allSatisfy { !$0.contains("foreign") })
    #expect(open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600) == -1)
  }

  @Test("a new directory that version 0.1 opens at the same moment is a conflict")
  func isOpenedAtOnce() throws {
    let path = folder.path + "/lock"
    nonisolated(unsafe) var lock: Int32 = -1
    let system = FaultyCalls(.number(EIO))
    system.interfereBeforeLink {
      lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
      _ = nhs_lock_byte(lock, 2, CChar(UInt8(ascii: "r")), 0)
    }
    let fault = #expect(throws: StoreFault.self) { try Store.open(folder.path, .init(), system) }
    #expect(fault?.kind == .conflict)
    unlockAndClose(lock, 2)
    try Store.open(folder.path).close()
    #expect(open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0o600) == -1)
  }
}
