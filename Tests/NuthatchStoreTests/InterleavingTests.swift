import Testing

@testable import NuthatchStore

/// Several users of a directory, each with everything of its own, as processes have it.
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

/// One does something in the middle of what another one does.
@Suite("In the middle of what another one does") struct InterleavingTests: SeveralUsers {
  private static let key = RecordKey(.meta, "key")
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("a record that is half written isn't taken for a damaged one", arguments: [false, true])
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

  @Test("a new index loses nothing that is half written")
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

  @Test("who only reads follows those who had to make a new index")
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

  @Test("a clear reaches also who can't open anything at the moment")
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

  @Test("no pack has a number that another one had, also after the index was deleted")
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
    "no record of another time is found when lock and index were both deleted, packs being there or not",
    arguments: [false, true])
  func numbersWithoutLock(_ leavesPack: Bool) throws {
    let (own, other) = (try user(), try user())
    let body = RecordKey(.body, "body")
    if leavesPack { try keep(body, [7], other) }
    let lease = try keep(Self.key, [1], own)
    #expect(bytes(Self.key, own) == [1])
    if leavesPack {
      // All but the first one, which somebody appends to.
      try own.trim(to: 0)
    } else {
      try other.clear()
    }
    for name in ["index", "locks"] { try folder.remove(name) }
    let third = try user()
    try keep(Self.key, [2], third)
    for _ in 0..<2 { #expect(bytes(Self.key, third) == [2]) }
    // It may have the world of before for a while, but nothing else than what is there now.
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

  @Test("a pack that is dropped while somebody verifies is no damage", arguments: [1, 2, 10, 11, 12, 20, 40])
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

  @Test("what is moved as a large record doesn't come back when it was removed meanwhile")
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

/// Records that are one process's only, and what others do to their keys.
@Suite("Records that are in memory only, in several processes") struct PrivateInterleavingTests: SeveralUsers
{
  private static let key = RecordKey(.meta, "key")
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("go when another one clears the directory", arguments: [false, true])
  func cleared(_ writes: Bool) throws {
    let (own, other) = (try user(spill: .pressure), try user())
    try keep(Self.key, [1], own)
    if writes { try own.flush() }
    try other.clear()
    #expect(bytes(Self.key, own) == nil)
    #expect(try own.statistics().memory.unwritten == 0)
    try own.flush()
    for user in [own, other] { #expect(bytes(Self.key, user) == nil) }
    // What comes afterwards stays.
    try keep(Self.key, [2], own)
    #expect(bytes(Self.key, own) == [2])
    try own.flush()
    #expect(bytes(Self.key, other) == [2])
    for user in [own, other] { user.finish() }
  }

  @Test("don't come back when another one cleared and this one hadn't looked yet")
  func clearedBeforeFlush() throws {
    let (own, other) = (try user(spill: .pressure), try user())
    try keep(Self.key, [1], own)
    try other.clear()
    try own.flush()
    for user in [own, other] { #expect(bytes(Self.key, user) == nil) }
    for user in [own, other] { user.finish() }
  }

  @Test("are earlier than what others keep later, also by a new index")
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

  @Test("never take the place of a later one, that can't be read at the moment")
  func unreadable() throws {
    let calls = FaultyCalls(.short)
    let (own, other) = (try user(calls, spill: .pressure), try user())
    // There is a pack of its own.
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
