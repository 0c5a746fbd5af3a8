import Testing

@testable import NuthatchStore

/// Several stores on one directory that share no memory, like stores of different processes.
protocol SeveralUsers {
  var folder: Folder { get }
}

extension SeveralUsers {
  func user(
    _ calls: any SystemCalls = LinuxCalls(), spill: Store.Spill = .eager
  ) throws -> Store {
    try Store.open(
      folder.path, Store.Options(diskBytes: 64 << 20, memoryBytes: 1 << 20, spill: spill), calls)
  }

  @discardableResult
  func keep(_ key: RecordKey, _ bytes: [UInt8], _ user: Store) throws -> Lease {
    try user.commit(key, bytes)
  }

  func bytes(_ key: RecordKey, _ user: Store) -> [UInt8]? { (try? user.bytes(key)) ?? nil }
}

@Suite("Operations of several stores that interleave") struct InterleavingTests: SeveralUsers {
  private static let key = RecordKey(.meta, "key")
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("verify doesn't count a record as damaged that another store is writing", arguments: [false, true])
  func halfWritten(_ isReplacing: Bool) throws {
    let calls = FaultyCalls(.short)
    let (own, other) = (try user(calls), try user())
    try keep(RecordKey(.meta, "first"), [0], own)
    if isReplacing { try keep(Self.key, [1], own) }
    let wasThere = Counter()
    calls.interfereHalfway(100_000) {
      wasThere.add()
      do { #expect(try other.verify().isClean) } catch { Issue.record(error) }
    }
    try keep(Self.key, content(2, 100_000), own)
    #expect(wasThere.count == 1)
    for user in [own, other] { #expect(bytes(Self.key, user) == content(2, 100_000)) }
    #expect(try other.verify().intact == 2)
    for user in [own, other] { user.finish() }
  }

  @Test("a record that is being written isn't lost when another store makes a new index")
  func newIndex() throws {
    let calls = FaultyCalls(.short)
    let own = try user(calls)
    try keep(Self.key, [1], own)
    let wasThere = Counter()
    calls.interfereHalfway(100_000) {
      wasThere.add()
      do {
        try folder.remove("index")
        let other = try user()
        #expect(bytes(Self.key, other) == [1])
        other.finish()
      } catch { Issue.record(error) }
    }
    try keep(Self.key, content(2, 100_000), own)
    #expect(wasThere.count == 1)
    #expect(bytes(Self.key, own) == content(2, 100_000))
    #expect(try own.verify().isClean)
    #expect(try own.statistics().meta == 1)
    own.finish()
  }

  @Test("a store that only reads follows to the index that another store made")
  func readers() throws {
    let (own, reader) = (try user(), try user())
    try keep(Self.key, [1], own)
    #expect(bytes(Self.key, reader) == [1])
    try folder.remove("index")
    let other = try user()
    let later = RecordKey(.meta, "later")
    try keep(later, [2], other)
    #expect(bytes(later, reader) == [2])
    try other.clear()
    #expect(bytes(Self.key, reader) == nil)
    #expect(try reader.statistics().meta == 0)
    for user in [own, reader, other] { user.finish() }
  }

  @Test("a clear reaches a store that can't open any file at that moment")
  func clearedWithoutFiles() throws {
    let calls = FaultyCalls(.number(24), isLasting: true)
    let (own, other) = (try user(calls), try user())
    try keep(Self.key, [1], own)
    #expect(bytes(Self.key, own) == [1])
    try other.clear()
    calls.arm(after: 0)
    #expect(bytes(Self.key, own) == nil)
    calls.disarm()
    #expect(bytes(Self.key, own) == nil)
    try keep(Self.key, [2], other)
    #expect(bytes(Self.key, own) == [2])
    for user in [own, other] { user.finish() }
  }

  @Test("no pack gets an earlier pack's number, even after the index was deleted")
  func numbers() throws {
    let (own, other) = (try user(), try user())
    let lease = try keep(Self.key, [1], own)
    #expect(folder.files() == ["00000001.pack"])
    try other.clear()
    try folder.remove("index")
    let third = try user()
    try keep(Self.key, [2], third)
    #expect(!folder.files().contains("00000001.pack"))
    let mine = RecordKey(.meta, "mine")
    try keep(mine, [3], own)
    for user in [own, other, third] {
      #expect(bytes(Self.key, user) == [2])
      #expect(bytes(mine, user) == [3])
    }
    #expect(lease.copied() == [1])
    for user in [own, other, third] { user.finish() }
  }

  @Test(
    "no store finds an earlier record of a key after both lock and index were deleted",
    arguments: [false, true])
  func numbersWithoutLock(_ leavesPack: Bool) throws {
    let (own, other) = (try user(), try user())
    let body = RecordKey(.body, "body")
    if leavesPack { try keep(body, [7], other) }
    let lease = try keep(Self.key, [1], own)
    #expect(bytes(Self.key, own) == [1])
    if leavesPack {
      // Drops all packs but the first one, which another store appends to.
      try own.trim(to: 0)
    } else {
      try other.clear()
    }
    for name in ["index", "locks"] { try folder.remove(name) }
    let third = try user()
    try keep(Self.key, [2], third)
    for _ in 0..<2 { #expect(bytes(Self.key, third) == [2]) }
    // The store may still have the deleted index for a while, but must not find an earlier record.
    let found = bytes(Self.key, own)
    #expect(found == nil || found == [2])
    own.current.lookForDeletion()
    let mine = RecordKey(.meta, "mine")
    try keep(mine, [3], own)
    for user in [own, other, third] {
      user.current.lookForDeletion()
      try keep(RecordKey(.meta, "sync"), [4], user)
      #expect(bytes(Self.key, user) == [2])
      #expect(bytes(mine, user) == [3])
      if leavesPack { #expect(bytes(body, user) == [7]) }
    }
    #expect(lease.copied() == [1])
    #expect(try third.verify().isClean)
    for user in [own, other, third] { user.finish() }
  }

  @Test(
    "a pack that another store drops during a verify isn't reported as damaged",
    arguments: [1, 2, 10, 11, 12, 20, 40])
  func verifying(_ count: Int) throws {
    let calls = FaultyCalls(.number(5))
    let (own, other) = (try user(calls), try user())
    for number in 0..<30 { try keep(RecordKey(.body, "\(number)"), content(UInt64(number), 100_000), other) }
    let drop: @Sendable () -> Void = {
      do { try other.trim(to: 0) } catch { Issue.record(error) }
    }
    calls.interfere(atRead: count, drop)
    let report = try own.verify()
    #expect(report.isClean)
    #expect(report.intact < 30)
    for user in [own, other] { user.finish() }
  }

  @Test("a large record that was removed doesn't come back when it is moved")
  func movedLarge() throws {
    let own = try user()
    let key = RecordKey(.body, "large")
    let payload = content(1, 700_000)
    try keep(key, payload, own)
    let found = try #require(own.index?.find(key.hash))
    let location = found.slot.location
    let record = try #require(own.disk.openPacks.pin(location.pack)?.pack.record(at: location.offset))
    #expect(try own.remove(key))
    let lease = try payload.withBytes { (bytes) throws(StoreFault) in
      try own.disk.write(
        key, PayloadShape(), [bytes], sequence: record.header.sequence, replacing: .moved(location))
    }
    #expect(lease == nil)
    #expect(bytes(key, own) == nil)
    #expect(try own.verify().intact == 0)
    own.finish()
  }
}

@Suite("Records in memory only, with several stores on the directory")
struct PrivateInterleavingTests: SeveralUsers {
  private static let key = RecordKey(.meta, "key")
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("a clear by another store removes records that are in memory only", arguments: [false, true])
  func cleared(_ writes: Bool) throws {
    let (own, other) = (try user(spill: .pressure), try user())
    try keep(Self.key, [1], own)
    if writes { try own.flush() }
    try other.clear()
    #expect(bytes(Self.key, own) == nil)
    #expect(try own.statistics().memory.unwritten == 0)
    try own.flush()
    for user in [own, other] { #expect(bytes(Self.key, user) == nil) }
    // Records that are kept after the clear stay.
    try keep(Self.key, [2], own)
    #expect(bytes(Self.key, own) == [2])
    try own.flush()
    #expect(bytes(Self.key, other) == [2])
    for user in [own, other] { user.finish() }
  }

  @Test("a flush after another store's clear doesn't bring records in memory back")
  func clearedBeforeFlush() throws {
    let (own, other) = (try user(spill: .pressure), try user())
    try keep(Self.key, [1], own)
    try other.clear()
    try own.flush()
    for user in [own, other] { #expect(bytes(Self.key, user) == nil) }
    for user in [own, other] { user.finish() }
  }

  @Test("a flush doesn't replace a later record that another store kept, even with a new index")
  func order() throws {
    let own = try user(spill: .pressure)
    for number in 0..<200 { try keep(RecordKey(.meta, "\(number)"), [0], own) }
    try keep(Self.key, [1], own)
    try folder.remove("index")
    let other = try user()
    try keep(Self.key, [2], other)
    try own.flush()
    for user in [own, other] { #expect(bytes(Self.key, user) == [2]) }
    for user in [own, other] { user.finish() }
  }

  @Test("a flush throws while a later record of the key can't be read, and doesn't replace it")
  func unreadable() throws {
    let calls = FaultyCalls(.short)
    let (own, other) = (try user(calls, spill: .pressure), try user())
    // The store then has a pack of its own.
    _ = try own.commit(RecordKey(.meta, "another"), [])
    try keep(Self.key, [1], own)
    try keep(Self.key, [2], other)
    calls.failMaps(40)
    #expect(throws: StoreFault.self) { try own.flush() }
    calls.failMaps(0)
    try own.flush()
    for user in [own, other] { #expect(bytes(Self.key, user) == [2]) }
    for user in [own, other] { user.finish() }
  }
}
