import Foundation
import Testing

@testable import NuthatchStore

/// Each system call of a scenario fails in turn, until a run has fewer calls than that. After each failure
/// the store must not give wrong bytes, and must work again.
@Suite("System calls of a store that fail") struct FaultTests {
  private static let limit = 4 << 20

  /// Keeps, reads, replaces, removes, fills several packs and one large record, and opens anew in between. A call that
  /// throws may have left the old or the new record.
  private final class Scenario {
    static let payloads = (0..<14).map { content(UInt64($0), 200_000) }
    let folder: Folder
    var may: [RecordKey: Set<Data?>] = [:]

    init() throws { folder = try Folder() }

    func allowed(_ key: RecordKey) -> Set<Data?> { may[key] ?? [nil] }

    func commit(_ store: Store, _ key: RecordKey, _ bytes: [UInt8]) {
      do {
        try store.commit(key, bytes)
        may[key] = [Data(bytes), nil]
      } catch {
        may[key] = allowed(key).union([Data(bytes)])
      }
    }

    func remove(_ store: Store, _ key: RecordKey) {
      do {
        _ = try store.remove(key)
        may[key] = [nil]
      } catch {
        may[key] = allowed(key).union([nil])
      }
    }

    func check(_ store: Store, _ note: String) {
      for (key, allowed) in may {
        guard let found = try? store.lookup(key) else { continue }
        #expect(allowed.contains(Data(found.copied())), "\(note): wrong bytes for \(key.bytes)")
      }
    }

    func run(_ system: any SystemCalls, _ note: String) {
      guard let store = try? Store.open(folder.path, .init(diskBytes: FaultTests.limit), system) else {
        return
      }
      for number in 0..<4 {
        commit(store, RecordKey(.meta, "m\(number)"), content(UInt64(number), 300))
        commit(store, RecordKey(.body, "b\(number)"), Self.payloads[number])
      }
      commit(store, RecordKey(.meta, "m0"), content(100, 200))
      remove(store, RecordKey(.meta, "m1"))
      commit(store, RecordKey(.body, "large"), content(101, 700_000))
      check(store, note)
      store.close()
      guard let again = try? Store.open(folder.path, .init(), system) else { return }
      commit(again, RecordKey(.thumb, "t"), content(102, 5000))
      for number in 4..<14 { commit(again, RecordKey(.body, "b\(number)"), Self.payloads[number]) }
      _ = try? again.verify()
      try? again.trim(to: 1 << 20)
      check(again, note)
      again.close()
    }
  }

  @Test(
    "after any system call fails the store gives no wrong bytes and works again",
    arguments: [
      ("EIO", EIO, false), ("ENOSPC for good", ENOSPC, true), ("EMFILE for good", EMFILE, true),
    ])
  func failing(_ name: String, _ number: Int32, _ isLasting: Bool) throws {
    var call = 0
    while true {
      let scenario = try Scenario()
      let system = FaultyCalls(.number(number), after: call, isLasting: isLasting)
      let note = "\(name) at call \(call)"
      scenario.run(system, note)
      let store = try Store.open(scenario.folder.path)
      scenario.check(store, note)
      let fresh = RecordKey(.meta, "fresh")
      try store.commit(fresh, [1, 2, 3])
      #expect(try store.bytes(fresh) == [1, 2, 3], "\(note)")
      #expect(try store.verify().damaged == 0, "\(note)")
      store.close()
      try scenario.folder.remove("index")
      let rebuilt = try Store.open(scenario.folder.path)
      scenario.check(rebuilt, note + ", index rebuilt")
      #expect(try rebuilt.bytes(fresh) == [1, 2, 3], "\(note)")
      #expect(scenario.folder.files().allSatisfy { !$0.hasSuffix(".tmp") }, "\(note)")
      if system.failures == 0 { break }
      // Every call at first, then some: the later ones repeat what the earlier ones did.
      call += call < 25 ? 1 : 19
    }
    #expect(call > 25)
  }

  @Test("a read or write that stops halfway is continued")
  func short() throws {
    for call in 0..<40 {
      let folder = try Folder()
      let system = FaultyCalls(.short, after: call, isLasting: call % 2 == 1)
      let store = try Store.open(folder.path, .init(), system)
      for number in 0..<5 {
        let key = RecordKey(.body, "\(number)")
        try store.commit(key, content(UInt64(number), 30_000))
        #expect(try store.bytes(key) == content(UInt64(number), 30_000), "call \(call)")
      }
      store.close()
      let again = try Store.open(folder.path)
      for number in 0..<5 {
        #expect(try again.bytes(RecordKey(.body, "\(number)")) == content(UInt64(number), 30_000))
      }
      #expect(try again.verify().isClean)
    }
  }

  @Test("a commit throws `noSpace` while no pack can be reserved, and works once there is room")
  func full() throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(ENOSPC), isLasting: true)
    let store = try Store.open(folder.path, .init(), system)
    system.arm(after: 0)
    let fault = #expect(throws: StoreFault.self) { try store.commit(RecordKey(.meta, "k"), [1]) }
    #expect(fault?.kind == .noSpace)
    #expect(folder.files().isEmpty)
    system.disarm()
    try store.commit(RecordKey(.meta, "k"), [1])
    #expect(try store.bytes(RecordKey(.meta, "k")) == [1])
  }

  @Test("a record whose write fails is written to a new pack")
  func badPlace() throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(EIO))
    let store = try Store.open(folder.path, .init(), system)
    for number in 0..<3 { try store.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 3000)) }
    system.failWrites(1)
    try store.commit(RecordKey(.meta, "3"), content(3, 3000))
    #expect(folder.files().count == 2)
    for number in 0..<4 {
      #expect(try store.bytes(RecordKey(.meta, "\(number)")) == content(UInt64(number), 3000))
    }
    // Everywhere: an error.
    system.failWrites(10)
    let fault = #expect(throws: StoreFault.self) { try store.commit(RecordKey(.meta, "4"), [1]) }
    #expect(fault?.kind == .io)
    system.failWrites(0)
    try store.commit(RecordKey(.meta, "4"), [1])
    store.close()
    try folder.remove("index")
    let again = try Store.open(folder.path)
    for number in 0..<4 {
      #expect(try again.bytes(RecordKey(.meta, "\(number)")) == content(UInt64(number), 3000))
    }
    #expect(try again.bytes(RecordKey(.meta, "4")) == [1])
  }

  @Test("on a full btrfs no mapped page is written: commits throw `noSpace`, lookups work")
  func copying() throws {
    let folder = try Folder()
    let btrfs: UInt32 = 0x9123_683E
    let system = FaultyCalls(.short, fileSystem: btrfs)
    let store = try Store.open(folder.path, .init(), system)
    func key(_ number: Int) -> RecordKey { RecordKey(.meta, "\(number)") }
    for number in 0..<100 { try store.commit(key(number), content(UInt64(number), 500)) }
    #expect(system.populations > 200)
    _ = try store.bytes(key(0))
    system.fillUp(true)
    let before = try folder.read("index")
    for number in 0..<100 { #expect(try store.bytes(key(number)) == content(UInt64(number), 500)) }
    for number in [0, 5, 1000] {
      let fault = #expect(throws: StoreFault.self) { try store.commit(key(number), [1]) }
      #expect(fault?.kind == .noSpace)
      #expect(throws: StoreFault.self) { try store.remove(key(number)) }
      #expect(try store.bytes(key(number)) == (number < 100 ? content(UInt64(number), 500) : nil))
      _ = try store.touch(key(number))
    }
    #expect(try store.verify().damaged == 0)
    #expect(try folder.read("index") == before)
    system.fillUp(false)
    for number in 0..<100 { #expect(try store.bytes(key(number)) == content(UInt64(number), 500)) }
    try store.commit(key(0), [1])
    #expect(try store.remove(key(5)))
    store.close()
    try folder.remove("index")
    let again = try Store.open(folder.path)
    #expect(try again.bytes(key(0)) == [1])
    #expect(try again.bytes(key(5)) == nil)
    #expect(try again.verify().intact == 99)
    again.close()
    // A clear deletes the packs even if it throws.
    let last = try Store.open(folder.path, .init(), system)
    system.fillUp(true)
    #expect(throws: StoreFault.self) { try last.clear() }
    #expect(folder.files().isEmpty)
    system.fillUp(false)
    try last.clear()
    #expect(try last.bytes(key(1)) == nil)
    #expect(FileSystems.writesInPlace(0xEF53) && !FileSystems.writesInPlace(0x794C_7630))
  }

  @Test("a removal throws `noSpace` if the record's index page can't be written")
  func copyingOnePage() throws {
    let folder = try Folder()
    let btrfs: UInt32 = 0x9123_683E
    let system = FaultyCalls(.short, fileSystem: btrfs)
    let store = try Store.records(
      try StoreDirectory(folder.path, trusts: false, system), Store.Options(diskBytes: 64 << 20))
    let keys = (0..<300).map { RecordKey(.meta, "\($0)") }
    for key in keys {
      try [UInt8](key.hash.low.description.utf8).withBytes { (bytes) throws(StoreFault) in
        _ = try store.commit(key, PayloadShape(), [bytes])
      }
    }
    let index = try #require(store.index)
    let head = UInt(bitPattern: index.base) & ~4095
    func page(_ key: RecordKey) throws -> UnsafeMutableRawPointer {
      let place = try #require(index.find(key.hash)).place
      return index.slots + place * IndexLayout.slotSize
    }
    let isBehindHead = { (key: RecordKey) in
      (try? page(key)).map { UInt(bitPattern: $0) & ~4095 != head } ?? false
    }
    let key = try #require(keys.first(where: isBehindHead))
    system.fillUp(pageOf: try page(key))
    let fault = #expect(throws: StoreFault.self) { try store.remove(key) }
    #expect(fault?.kind == .noSpace)
    #expect(store.lookup(key) != nil)
    system.fillUp(pageOf: nil)
    #expect(try store.remove(key))
    #expect(store.lookup(key) == nil)
    store.finish()
    try folder.remove("index")
    let again = try Store.open(folder.path)
    #expect(try again.bytes(key) == nil)
    #expect(try again.verify().intact == keys.count - 1)
  }

  @Test("an index of another boot is given up if there is no room for a new one beside it")
  func indexOfAnotherBoot() throws {
    let folder = try Folder()
    try Store.open(folder.path).close()
    var status = stat()
    #expect(stat(folder.path + "/lock", &status) == 0 && status.st_blocks > 0)
    try folder.poke("index", at: 33, [1, 2, 3])
    // The first zeros that are written are the new index's.
    let system = FaultyCalls(.short)
    system.failZeros(1)
    let store = try Store.open(folder.path, .init(), system)
    try store.commit(RecordKey(.meta, "k"), [1])
    store.close()
    try folder.remove("index")
    system.failZeros(2)
    #expect(throws: StoreFault.self) { try Store.open(folder.path, .init(), system) }
    #expect(try Store.open(folder.path, .init(), system).bytes(RecordKey(.meta, "k")) == [1])
  }

  @Test("packs work where no room can be reserved, and a full disk then fails the write")
  func unreserved() throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(ENOSPC), isLasting: true)
    system.refuseReserving(EOPNOTSUPP)
    for _ in 0..<2 {
      let store = try Store.open(folder.path, .init(diskBytes: 8 << 20), system)
      for number in 0..<20 { try store.commit(RecordKey(.body, "\(number)"), content(UInt64(number), 9000)) }
      try store.commit(RecordKey(.body, "large"), content(50, 700_000))
      store.close()
    }
    #expect(folder.allocated < 2 << 20)
    let store = try Store.open(folder.path, .init(), system)
    try store.commit(RecordKey(.body, "first"), [1])
    system.arm(after: 0)
    for size in [9000, 700_000] {
      let fault = #expect(throws: StoreFault.self) {
        try store.commit(RecordKey(.body, "0"), content(1, size))
      }
      #expect(fault?.kind == .noSpace)
    }
    system.disarm()
    for number in 0..<20 {
      #expect(try store.bytes(RecordKey(.body, "\(number)")) == content(UInt64(number), 9000))
    }
    #expect(try store.bytes(RecordKey(.body, "large")) == content(50, 700_000))
    #expect(try store.verify().isClean)
    store.close()
    #expect(folder.files().allSatisfy { $0.hasSuffix(".pack") })
    // Another reason is an error: nothing is written that wasn't made sure of.
    let other = try Folder()
    for number in [EIO, EINTR, EPERM] {
      system.refuseReserving(0)
      let store = try Store.open(other.path, .init(), system)
      try store.clear()
      system.refuseReserving(number)
      for size in [9000, 9 << 20] {
        #expect(throws: StoreFault.self) { try store.commit(RecordKey(.body, "0"), content(1, size)) }
      }
      #expect(other.files().isEmpty)
      system.refuseReserving(0)
      try store.commit(RecordKey(.body, "0"), [1])
      store.close()
    }
  }

  @Test(
    "packs replace no file where the file system lacks RENAME_NOREPLACE, such as NFS",
    arguments: [EINVAL, ENOSYS])
  func renaming(_ number: Int32) throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(EIO))
    system.refuseCarefulRenaming(number)
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20), system)
    // Names that are taken stay taken, by a file or a dangling link.
    try Data([1]).write(to: URL(fileURLWithPath: folder.path + "/packs/00000001.pack"))
    symlink("nowhere", folder.path + "/packs/00000003.pack")
    try store.commit(RecordKey(.meta, "small"), [1])
    try store.commit(RecordKey(.body, "large"), content(1, 700_000))
    store.close()
    #expect(folder.files() == (1...4).map { "0000000\($0).pack" })
    #expect(try folder.read("packs/00000001.pack") == [1])
    let again = try Store.open(folder.path)
    #expect(try again.bytes(RecordKey(.meta, "small")) == [1])
    #expect(try again.bytes(RecordKey(.body, "large")) == content(1, 700_000))
  }

  @Test(
    "packs are smaller while the disk has little room, and larger again later",
    arguments: [ENOSPC, EDQUOT, EFBIG])
  func littleRoom(_ reason: Int32) throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(ENOSPC))
    system.nameReason(reason)
    let store = try Store.open(folder.path, .init(), system)
    system.limitRoom(300 << 10)
    let keys = (0..<12).map { RecordKey(.body, "\($0)") }
    for (number, key) in keys.enumerated() { try store.commit(key, content(UInt64(number), 100_000)) }
    let little = try store.statistics().packs
    // A record that has no room is refused; others are kept after it.
    let fault = #expect(throws: StoreFault.self) {
      try store.commit(RecordKey(.body, "large"), content(50, 400_000))
    }
    #expect(fault?.kind == .noSpace)
    try store.commit(RecordKey(.meta, "small"), [1])
    system.limitRoom(.max)
    for number in 100..<120 {
      try store.commit(RecordKey(.body, "\(number)"), content(UInt64(number), 1 << 20))
    }
    #expect(little >= 6)
    #expect(try store.statistics().packs < little + 8)
    store.close()
    // A disk that is full again has no room to take up a pack whose end was given back.
    system.limitRoom(300 << 10)
    let again = try Store.open(folder.path, .init(), system)
    try again.commit(RecordKey(.body, "after"), content(7, 100_000))
    for (number, key) in keys.enumerated() {
      #expect(try again.bytes(key) == content(UInt64(number), 100_000))
    }
    #expect(try again.verify().isClean)
  }

  @Test(
    "checking a pack's records takes two system calls each (small: one) and one open file"
  )
  func checking() throws {
    let folder = try Folder()
    let first = try Store.open(folder.path, .init())
    for number in 0..<3 { try first.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 40_000)) }
    let small = RecordKey(.meta, "small")
    try first.commit(small, content(9, 3900))
    first.close()
    let system = FaultyCalls(.number(EMFILE), isLasting: true)
    let store = try Store.open(folder.path, .init(), system)
    #expect(try store.bytes(RecordKey(.meta, "0")) == content(0, 40_000))
    system.leaveOutChecks()
    system.arm(after: 4)
    #expect(try store.bytes(RecordKey(.meta, "1")) == content(1, 40_000))
    #expect(try store.bytes(RecordKey(.meta, "2")) == content(2, 40_000))
    #expect(system.failures == 0)
    system.arm(after: 1)
    #expect(try store.bytes(small) == content(9, 3900))
    #expect(system.failures == 0)
    system.disarm()
    func packsOpen() throws -> Int {
      try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter {
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
        return target?.contains(URL(fileURLWithPath: folder.path).lastPathComponent + "/packs/") == true
      }.count
    }
    #expect(try packsOpen() == 1)
    store.close()
    #expect(try packsOpen() == 0)
  }
}
