import CSystem
import Glibc
import Testing

@testable import NuthatchStore

@Suite("Directories that can only be read") struct ReadOnlyTests {
  let folder: Folder
  let calls = FaultyCalls(.short)
  init() throws { folder = try Folder() }

  private static let count = 60
  private static func key(_ number: Int) -> RecordKey {
    RecordKey(RecordKind.allCases[number % 3], "key \(number)")
  }

  /// - Parameter visits: has the records looked up, so that the index says that they were checked.
  private func fill(visits: Bool = false) throws {
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20))
    for number in 0..<Self.count { try store.commit(Self.key(number), content(UInt64(number), 2000)) }
    if visits { try expectAll(store) }
    store.close()
  }

  private func openToRead(_ number: Int32 = EROFS, _ options: Store.Options = .init()) throws -> Store {
    calls.refuseWriting(number)
    return try Store.open(folder.path, options, calls)
  }

  private func expectAll(_ store: Store) throws {
    for number in 0..<Self.count {
      #expect(try store.bytes(Self.key(number)) == content(UInt64(number), 2000))
    }
  }

  /// The names of all files and what is in them.
  private func everything() throws -> [String: [UInt8]] {
    let names = folder.files("").filter { $0 != "packs" } + folder.files().map { "packs/" + $0 }
    return Dictionary(uniqueKeysWithValues: try names.map { ($0, try folder.read($0)) })
  }

  private func expectRefusal(_ body: () throws -> Void) {
    #expect { try body() } throws: { ($0 as? StoreFault)?.kind == .readOnly }
  }

  @Test(
    "a read-only directory gives all its records, and nothing is written to it",
    arguments: ["", "boot", "index", "locks", "all"], [EROFS, EACCES])
  func reading(_ missing: String, _ number: Int32) throws {
    try fill(visits: missing == "locks")
    switch missing {
    case "boot":
      // As it is after a restart of the machine.
      var head = Array(try folder.read("index").prefix(64))
      head[IndexLayout.boot] ^= 1
      head.withUnsafeMutableBytes {
        $0.store(nhs_hash64($0.baseAddress, IndexLayout.checksum, 0), at: IndexLayout.checksum)
      }
      try folder.poke("index", at: 0, head)
    case "all": for name in ["index", "locks", "lock", "limits"] { try folder.remove(name) }
    case "locks": for name in ["locks", "lock"] { try folder.remove(name) }
    case "": break
    default: try folder.remove(missing)
    }
    let before = try everything()
    let store = try openToRead(number, .init(diskBytes: 64 << 20, spill: .pressure))
    #expect(store.isReading)
    for _ in 0..<3 { try expectAll(store) }
    try store.stayLean()
    try expectAll(store)
    #expect(try store.lookup(RecordKey(.body, "another")) == nil)
    #expect(try store.touch(Self.key(1)))
    var seen = 0
    try store.forEach { _, _ in
      seen += 1
      return true
    }
    #expect(seen == Self.count)
    let report = try store.verify()
    #expect(report.isClean && report.intact == Self.count)
    let statistics = try store.statistics()
    #expect(statistics.bodies == Self.count / 3)
    #expect(statistics.diskLimit == (missing == "all" ? Limits.standard : 8 << 20))
    #expect(statistics.warning?.contains("only be read") == true)
    store.relieve(.critical)
    try expectAll(store)
    let group = [1, 2, 3].withBytes { RecordGroup($0) }
    #expect(try store.moment(group) == nil)
    #expect(store.momentNow(group) == nil)
    expectRefusal { try store.commit(Self.key(1), [1]) }
    expectRefusal { try store.commit(Self.key(1), shape: PayloadShape(), parts: []) }
    expectRefusal { try store.remove(Self.key(1)) }
    expectRefusal { _ = try store.remove([group], [Self.key(1)]) }
    expectRefusal { try store.clear() }
    expectRefusal { try store.trim(to: 0) }
    expectRefusal { try store.flush() }
    // A second handle with the same options, or without any, is no conflict.
    try Store.open(folder.path, .init(diskBytes: 64 << 20, spill: .pressure), calls).close()
    try Store.open(folder.path, .init(), calls).close()
    try expectAll(store)
    store.close()
    #expect(calls.refusedWrites == 0)
    #expect(try everything() == before)
    // A store that may write finds the directory as it was.
    let writable = try Store.open(folder.path)
    #expect(!writable.isReading)
    try expectAll(writable)
    #expect(try writable.verify().isClean)
  }

  @Test("a store on a read-only mount follows a writer that has the directory mounted otherwise")
  func following() throws {
    try fill()
    let writer = try Store.open(folder.path)
    let reader = try openToRead()
    try expectAll(reader)
    #expect(reader.disk !== writer.disk)
    try writer.commit(Self.key(1), [1, 2, 3])
    #expect(try reader.bytes(Self.key(1)) == [1, 2, 3])
    try writer.remove(Self.key(2))
    #expect(try reader.bytes(Self.key(2)) == nil)
    // So many that the index is replaced by a larger one.
    for number in 100..<4000 { try writer.commit(Self.key(number), content(UInt64(number), 100)) }
    for number in [100, 2000, 3999] {
      #expect(try reader.bytes(Self.key(number)) == content(UInt64(number), 100))
    }
    try writer.clear()
    for number in 0..<4000 { #expect(try reader.bytes(Self.key(number)) == nil) }
    try writer.commit(Self.key(5), [5])
    #expect(try reader.bytes(Self.key(5)) == [5])
    #expect(calls.refusedWrites == 0)
  }

  @Test("a store on a read-only mount with an index of its own doesn't find removed records")
  func removed() throws {
    try fill()
    let writer = try Store.open(folder.path)
    let name = folder.path + "/index"
    // The reader finds no index, and makes one in memory.
    #expect(rename(name, name + "-away") == 0)
    let reader = try openToRead()
    #expect(rename(name + "-away", name) == 0)
    try expectAll(reader)
    try writer.remove(Self.key(7))
    try writer.commit(Self.key(8), [8])
    #expect(try reader.bytes(Self.key(7)) == nil)
    #expect(try reader.bytes(Self.key(8)) != content(8, 2000))
    #expect(try reader.bytes(Self.key(9)) == content(9, 2000))
  }

  @Test("verify of a read-only directory reports damage and changes nothing", arguments: [true, false])
  func damage(_ hasIndex: Bool) throws {
    try fill()
    if !hasIndex { try folder.remove("index") }
    let name = "packs/" + folder.files()[0]
    // In the middle of a payload.
    try folder.poke(name, at: 1000, [1, 2, 3, 4])
    let before = try everything()
    let store = try openToRead()
    let report = try store.verify()
    #expect(report.damaged == 1)
    #expect(report.intact == Self.count - 1)
    #expect(try store.verify() == report)
    var missing = 0
    for number in 0..<Self.count where try store.bytes(Self.key(number)) == nil { missing += 1 }
    #expect(missing == 1)
    store.close()
    #expect(try everything() == before)
    #expect(calls.refusedWrites == 0)
  }

  @Test("opening throws `readOnly` if a read-only directory is empty, `denied` if others may write to it")
  func refused() throws {
    // It is empty.
    expectRefusal { _ = try openToRead() }
    #expect(folder.files("").isEmpty)
    try fill()
    #expect(chmod(folder.path, 0o777) == 0)
    #expect { try openToRead() } throws: { ($0 as? StoreFault)?.kind == .denied }
    #expect(chmod(folder.path, 0o755) == 0)
    try openToRead().close()
  }

  @Test("threads read all records of a read-only directory at once") func threads() async throws {
    try fill()
    try folder.remove("index")
    let store = try openToRead()
    await withTaskGroup(of: Int.self) { group in
      for thread in 0..<8 {
        group.addTask {
          var wrong = 0
          for round in 0..<500 {
            let number = (round * 7 + thread) % Self.count
            if (try? store.bytes(Self.key(number))) != content(UInt64(number), 2000) { wrong += 1 }
          }
          return wrong
        }
      }
      for await wrong in group { #expect(wrong == 0) }
    }
  }

  @Test("a read-only directory of version 0.1 gives its records") func earlier() throws {
    try fill()
    for name in folder.files().map({ "packs/" + $0 }) {
      var head = Array(try folder.read(name).prefix(64))
      head.withUnsafeMutableBytes {
        $0.store(PackHeader.earlierVersion, at: 8)
        $0.store(nhs_hash64($0.baseAddress, 56, 0), at: 56)
      }
      try folder.poke(name, at: 0, head)
    }
    for name in ["index", "locks", "lock"] { try folder.remove(name) }
    let store = try openToRead()
    try expectAll(store)
    #expect(store.hasEarlierAnswers)
  }
}

@Suite("Outboxes that can only be read") struct ReadOnlyOutboxTests {
  final class Reader: JournalReader {
    var payloads: [[UInt8]] = []
    func begin() { payloads = [] }
    func take(_ payload: UnsafeRawBufferPointer, at place: JournalPlace) { payloads.append(Array(payload)) }
    var wanted: [JournalPlace] { [] }
    var wantedBytes: Int64 { 0 }
    var bodies: Set<String> { [] }
  }

  @Test(
    "a read-only outbox shows its records, and gives no lease and takes no record",
    arguments: ["whole", "torn", "without a lock"])
  func reading(_ state: String) throws {
    let folder = try Folder()
    let (first, second) = (Reader(), Reader())
    let journal = Journal(folder.path, first)
    _ = try journal.changing(makes: true) { (journal) throws(StoreFault) in
      try journal.append([1])
      try journal.append([2, 2])
    }
    let size = try folder.read("outbox/log").count
    // What a kill leaves of a third one.
    if state == "torn" { try folder.poke("outbox/log", at: size, [1, 2, 3]) }
    if state == "without a lock" { try folder.remove("outbox/lock") }
    let before = try folder.read("outbox/log")
    let calls = FaultyCalls(.short)
    calls.refuseWriting()
    let reading = Journal(folder.path, second, calls)
    for _ in 0..<2 {
      let count = try reading.changing(makes: false) { _ in second.payloads.count }
      #expect(count == 2)
      #expect(second.payloads == [[1], [2, 2]])
    }
    let isFree = try reading.changing(makes: false) { (journal) throws(StoreFault) in
      try journal.locks.isLeaseFree()
    }
    #expect(isFree == true)
    #expect(try !reading.tryLease())
    #expect { try reading.changing(makes: true) { _ in } } throws: {
      ($0 as? StoreFault)?.kind == .readOnly
    }
    #expect {
      try reading.changing(makes: false) { (journal) throws(StoreFault) in _ = try journal.append([3]) }
    } throws: {
      ($0 as? StoreFault)?.kind == .readOnly
    }
    #expect(try folder.read("outbox/log") == before)
    #expect(folder.files("outbox").filter { $0.hasPrefix("damaged") }.isEmpty)
  }
}
