import Foundation
import Testing

@testable import NuthatchStore

@Suite("The disk limit") struct LimitTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test(
    "stores that keep one record each and close stay within the disk limit", arguments: [100_000, 700_000])
  func shortLived(_ size: Int) throws {
    let limit = 4 << 20
    for number in 0..<(15_000_000 / size) {
      let store = try Store.open(folder.path, .init(diskBytes: limit))
      try store.commit(RecordKey(.thumb, "\(number)"), content(UInt64(number), size))
      #expect(folder.allocated <= limit + 2 * store.disk.current.limits.packCapacity, "\(number)")
      #expect(try store.bytes(RecordKey(.thumb, "\(number)")) == content(UInt64(number), size))
      store.close()
    }
    #expect(folder.allocated <= limit)
    #expect(try Store.open(folder.path).verify().isClean)
  }

  @Test("a changed disk limit applies to all open stores and is kept in the directory")
  func shared() throws {
    func user(_ limit: Int?) throws -> any RecordStore {
      try Store.records(
        try StoreDirectory(folder.path, trusts: false, LinuxCalls()), Store.Options(diskBytes: limit))
    }
    func keep(_ number: Int, _ user: any RecordStore) throws {
      let bytes = content(UInt64(number), 100_000)
      _ = try bytes.withBytes { (bytes) throws(StoreFault) in
        try user.commit(RecordKey(.thumb, "\(number)"), PayloadShape(), [bytes])
      }
    }
    let own = try user(32 << 20)
    for number in 0..<200 { try keep(number, own) }
    #expect(own.statistics().diskBytes > 19 << 20)
    let other = try user(8 << 20)
    #expect(own.statistics().diskLimit == 8 << 20)
    // The next commits of the first store make room.
    for number in 200..<205 { try keep(number, own) }
    #expect(own.statistics().diskBytes <= 9 << 20)
    let third = try user(nil)
    #expect(third.statistics().diskLimit == 8 << 20)
    for user in [own, other, third] { user.finish() }
    #expect(try Store.open(folder.path).statistics().diskLimit == 8 << 20)
  }

  @Test("processes that write exceed the disk limit by at most one pack of each family each")
  func writers() throws {
    let limit = 4 << 20
    let store = try Store.open(folder.path, .init(diskBytes: limit))
    let capacity = store.disk.current.limits.packCapacity
    let victims = try (0..<4).map { try Victim(["write", folder.path, "\($0)", "1"]) }
    var most = 0
    // Until much more has been written than there may be.
    while (folder.files().last.flatMap(PackName.number) ?? 0) < 600 {
      most = max(most, folder.allocated)
      usleep(500)
    }
    for victim in victims { #expect(victim.kill().allSatisfy { !$0.contains("fault") }) }
    #expect(victims.allSatisfy { $0.process.terminationStatus == SIGKILL })
    #expect(most > limit / 2)
    // The index, its successor and records with packs of their own are among them.
    #expect(most <= limit + 4 * 2 * capacity)
    // What the killed ones had reserved goes with the next record.
    try store.commit(RecordKey(.meta, "mine"), content(1, capacity / 4))
    #expect(folder.allocated <= limit + 2 * capacity)
    #expect(try store.verify().damaged <= 4)
  }

  @Test("the first hit of a record changes one word of the index; later hits write nothing")
  func hits() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20))
    let keys = (0..<50).map { RecordKey(.thumb, "\($0)") }
    for (number, key) in keys.enumerated() { try store.commit(key, content(UInt64(number), 500)) }
    let before = try folder.read("index")
    for key in keys { _ = try store.lookup(key) }
    let after = try folder.read("index")
    // One word of a slot each, the last one.
    let changed = Set(zip(before, after).enumerated().filter { $1.0 != $1.1 }.map { $0.offset / 4 })
    #expect(changed.count == keys.count && changed.allSatisfy { $0 % 8 == 7 && $0 >= 1024 })
    let index = try #require(store.disk.current.index)
    let lock = UnsafeMutableRawPointer(mutating: store.disk.locks.file.indexWord - 8)
    // A write to these pages ends this process from now on.
    #expect(mprotect(index.base, index.length, PROT_READ) == 0 && mprotect(lock, 4096, PROT_READ) == 0)
    for _ in 0..<20 {
      for (number, key) in keys.enumerated() {
        #expect(try store.bytes(key) == content(UInt64(number), 500))
        #expect(try store.touch(key))
        #expect(try store.mark(key) != nil)
      }
      #expect(try store.lookup(RecordKey(.thumb, "none")) == nil)
    }
    #expect(
      mprotect(index.base, index.length, PROT_READ | PROT_WRITE) == 0
        && mprotect(lock, 4096, PROT_READ | PROT_WRITE) == 0)
  }
}
