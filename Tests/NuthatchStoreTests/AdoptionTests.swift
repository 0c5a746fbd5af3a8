import CSystem
import Glibc
import Testing

@testable import NuthatchStore

/// Several stores on one directory. Some end without a close, like killed processes: their locks are free, and what they
/// had begun stays unfinished.
@Suite("Recovery from killed writers") struct AdoptionTests {
  private static let key = RecordKey(.meta, "key")
  let folder: Folder
  init() throws { folder = try Folder() }

  private func user(_ calls: any SystemCalls = LinuxCalls()) throws -> any RecordStore {
    try Store.records(
      try StoreDirectory(folder.path, trusts: false, calls), Store.Options(diskBytes: 8 << 20))
  }

  @discardableResult
  private func keep(_ key: RecordKey, _ bytes: [UInt8], _ user: any RecordStore) throws -> Lease {
    try bytes.withBytes { (bytes) throws(StoreFault) in try user.commit(key, PayloadShape(), [bytes]) }
  }

  /// Appends a record without publishing it, like a writer that is killed before.
  private func append(
    _ key: RecordKey, _ bytes: [UInt8], sequence: UInt64? = nil, isTorn: Bool = false, _ user: any RecordStore
  ) throws {
    let sequence = sequence ?? user.index?.takeSequence() ?? 0
    try bytes.withBytes { (bytes) throws in
      let checksum = nhs_hash64(bytes.baseAddress, bytes.count, 0)
      let header = RecordHeader(
        kind: key.kind, shape: PayloadShape(), keyLength: key.bytes.count, hash: key.hash,
        sequence: sequence, payloadLength: bytes.count, payloadChecksum: isTorn ? ~checksum : checksum)
      let appender = user.disk.appenders[key.kind.family.place]
      let writer = try #require(
        try appender.writer(with: key.bytes.count + bytes.count + 256, for: header, mayExceed: false))
      let end = try key.bytes.withBytes { (name) throws(SystemFault) in
        try writer.append(header, key: name, [bytes]).end
      }
      // A second one goes behind it.
      writer.advance(to: end)
    }
  }

  private func expect(
    _ bytes: [UInt8]?, of key: RecordKey = Self.key, _ user: any RecordStore, _ note: Comment
  ) {
    #expect(user.lookup(key)?.copied() == bytes, note)
  }

  /// Expects these bytes of `key`, now and after the index was rebuilt.
  private func expectForGood(_ bytes: [UInt8]?, _ user: any RecordStore, _ note: Comment) throws {
    expect(bytes, user, note)
    #expect(try user.verify().isClean, note)
    #expect(try user.verify().intact == user.statistics().meta + user.statistics().bodies, note)
    user.finish()
    try folder.remove("index")
    let later = try self.user()
    expect(bytes, later, note)
    #expect(try later.verify().isClean, note)
    later.finish()
  }

  @Test("the next writer appends to a killed writer's pack, behind its last record")
  func pack() throws {
    do {
      let dead = try user()
      for number in 0..<20 { try keep(RecordKey(.meta, "\(number)"), content(UInt64(number), 3000), dead) }
    }
    let user = try user()
    try keep(Self.key, [1], user)
    #expect(folder.files() == ["00000001.pack"])
    for number in 0..<20 {
      expect(content(UInt64(number), 3000), of: RecordKey(.meta, "\(number)"), user, "dead")
    }
    try expectForGood([1], user, "after one")
  }

  @Test("unfinished pack files of killed writers are deleted, those of live writers stay", arguments: 0..<12)
  func unfinished(_ count: Int) throws {
    let user = try user()
    try keep(Self.key, [1], user)
    do {
      let calls = FaultyCalls(.number(5), isLasting: true)
      let dead = try self.user(calls)
      calls.arm(after: count)
      #expect(throws: StoreFault.self) {
        try keep(RecordKey(.body, "large"), content(1, 1_000_000), dead)
      }
    }
    // One that is being made at the same time stays.
    let (other, file) = try user.disk.changer.changing { (index) throws(StoreFault) in
      let number = index.takePackNumber() ?? 0
      return (
        number,
        try explaining("making") { () throws(SystemFault) in try UnfinishedPack(user.disk.directory, number) }
      )
    }
    for number in 0..<20 { try keep(RecordKey(.meta, "\(number)"), content(1, 10_000), user) }
    #expect(folder.files().filter { $0.hasSuffix(".tmp") } == [PackName.of(other, "tmp")])
    withExtendedLifetime(file) {}
  }

  @Test(
    "a complete record that a killed writer didn't publish is published by the next writer",
    arguments: [false, true], [false, true])
  func complete(_ isReplacing: Bool, _ isWitnessed: Bool) throws {
    // A store that stays open, so that `user` isn't the first one to open the directory.
    let witness = isWitnessed ? try user() : nil
    do {
      let dead = try user()
      try keep(RecordKey(.meta, "first"), [0], dead)
      if isReplacing { try keep(Self.key, [1], dead) }
      try append(Self.key, content(2, 5000), dead)
    }
    if let witness { expect(isReplacing ? [1] : nil, witness, "before anybody looked") }
    let user = try witness ?? user()
    if !isWitnessed { expect(content(2, 5000), user, "opened") }
    try keep(RecordKey(.meta, "next"), [3], user)
    try expectForGood(content(2, 5000), user, "taken in")
  }

  @Test("a killed writer's torn records and its second copy of a published record are retired")
  func torn() throws {
    do {
      let dead = try user()
      try keep(Self.key, [1], dead)
      let sequence = try #require(dead.lookup(Self.key)).sequence
      try append(Self.key, [1], sequence: sequence, dead)
      try append(Self.key, content(2, 5000), isTorn: true, dead)
      try append(RecordKey(.meta, "other"), content(3, 5000), isTorn: true, dead)
    }
    let user = try user()
    try keep(RecordKey(.meta, "next"), [3], user)
    expect(nil, of: RecordKey(.meta, "other"), user, "half written")
    #expect(user.statistics().meta == 2)
    try expectForGood([1], user, "the one that was kept")
  }

  @Test(
    "a killed writer's unpublished record doesn't come back after its key was removed",
    arguments: [false, true], [false, true])
  func removed(_ isWitnessed: Bool, _ isSecond: Bool) throws {
    let witness = isWitnessed ? try user() : nil
    do {
      let dead = try user()
      try keep(RecordKey(.meta, "first"), [0], dead)
      if isSecond {
        // The one before it couldn't be published, and was retired.
        let other = RecordKey(.meta, "other")
        let location = Location(
          pack: 1, offset: try #require(dead.disk.appenders[Family.small.place].writer).end)
        try append(other, [1], dead)
        dead.disk.retired.add(location, other.hash)
      }
      try append(Self.key, [2], dead)
    }
    let user = try witness ?? user()
    _ = try user.remove(Self.key)
    try keep(RecordKey(.meta, "next"), [3], user)
    try expectForGood(nil, user, "removed")
  }

  @Test(
    "an answer that a killed writer appended but didn't publish is never found",
    arguments: [false, true])
  func answer(_ isRemoved: Bool) throws {
    let group = Array("group".utf8).withUnsafeBytes { RecordGroup($0) }
    let key = RecordKey(group, [1, 2])
    let user = try user()
    do {
      let dead = try self.user()
      try keep(RecordKey(.meta, "first"), [0], dead)
      try append(key, [2], dead)
      if isRemoved { _ = try user.remove([group], []) }
    }
    try keep(RecordKey(.meta, "next"), [3], user)
    for look in 0..<2 {
      if look == 1 { _ = try user.verify() }
      expect(nil, of: key, user, "look \(look)")
    }
    user.finish()
    let later = try self.user()
    expect(nil, of: key, later, "opened anew")
    #expect(try later.verify().isClean)
    later.finish()
  }

  @Test("an unpublished record is gone if its pack was deleted before the index dropped the pack")
  func droppedHalfway() throws {
    let user = try user()
    do {
      let dead = try self.user()
      try keep(RecordKey(.meta, "first"), [0], dead)
      try append(Self.key, [2], dead)
    }
    expect([0], of: RecordKey(.meta, "first"), user, "mapped")
    try folder.remove("packs/00000001.pack")
    #expect(try !user.remove(Self.key))
    _ = try user.remove(RecordKey(.meta, "first"))
    try keep(RecordKey(.meta, "next"), [3], user)
    try expectForGood(nil, user, "dropped")
  }

  @Test("a killed writer's pack that can't be mapped for a while keeps its records", arguments: 1...3)
  func unmapped(_ count: Int) throws {
    do {
      let dead = try user()
      try keep(RecordKey(.meta, "first"), content(1, 3000), dead)
      try append(Self.key, content(2, 3000), dead)
    }
    let calls = FaultyCalls(.short)
    let user = try user(calls)
    calls.failMaps(count)
    let next = RecordKey(.meta, "next")
    // Mapping the new pack may fail as well, which is an error; the next attempt isn't.
    if (try? keep(next, [3], user)) == nil { try keep(next, [3], user) }
    calls.failMaps(0)
    expect([3], of: next, user, "\(count)")
    expect(content(1, 3000), of: RecordKey(.meta, "first"), user, "\(count)")
    #expect(user.lookup(Self.key)?.copied() ?? content(2, 3000) == content(2, 3000))
    user.finish()
    try folder.remove("index")
    let later = try self.user()
    for (key, bytes) in [(Self.key, content(2, 3000)), (next, [3])] {
      expect(bytes, of: key, later, "\(count)")
    }
    #expect(try later.verify().isClean)
    later.finish()
  }

  @Test(
    "a large record has its old or new bytes when its writer was killed, even if mappings fail",
    arguments: 0..<30)
  func large(_ count: Int) throws {
    let key = RecordKey(.body, "large")
    let (old, new) = (content(1, 600_000), content(2, 700_000))
    for failing in 0...4 {
      let folder = try AdoptionTests()
      let note: Comment = "after \(count) calls, \(failing) mappings fail"
      do {
        let calls = FaultyCalls(.number(EIO), isLasting: true)
        let dead = try folder.user(calls)
        try folder.keep(key, old, dead)
        calls.arm(after: count)
        _ = try? folder.keep(key, new, dead)
      }
      let calls = FaultyCalls(.short)
      calls.failMaps(failing)
      let user = try folder.user(calls)
      let found = user.lookup(key)?.copied()
      #expect(found == nil || found == old || found == new, note)
      calls.failMaps(0)
      #expect(user.lookup(key)?.copied() == old || user.lookup(key)?.copied() == new, note)
      #expect(try user.verify().damaged == 0, note)
      #expect(try user.remove(key), note)
      user.finish()
      try folder.folder.remove("index")
      let later = try folder.user()
      #expect(later.lookup(key) == nil, note)
      #expect(try later.verify().intact == 0, note)
      later.finish()
    }
  }

  /// The call after a killed writer.
  enum Look: CaseIterable {
    /// The first store opens the directory. In the other cases a store has it open all the while.
    case open
    case keep, verify, trim
  }

  @Test("diskBytes counts a killed writer's large pack that the index doesn't know", arguments: Look.allCases)
  func counted(_ look: Look) throws {
    let key = RecordKey(.body, "large")
    // The pack has its name, and the table of packs says that nothing is in it: the state that this test is about.
    var wereUnknown = 0
    for count in 0..<30 {
      let directory = try AdoptionTests()
      let note: Comment = "\(look), after \(count) calls"
      let witness = look == .open ? nil : try directory.user()
      do {
        let calls = FaultyCalls(.number(EIO), isLasting: true)
        let dead = try directory.user(calls)
        calls.arm(after: count)
        _ = try? directory.keep(key, content(1, 700_000), dead)
        if directory.folder.files().contains(where: { $0.hasSuffix(".pack") }),
          dead.statistics().diskBytes < 5000
        {
          wereUnknown += 1
        }
      }
      let user = try witness ?? directory.user()
      switch look {
      case .open: break
      case .keep: try directory.keep(RecordKey(.meta, "next"), [3], user)
      case .verify: #expect(try user.verify().isClean, note)
      case .trim:
        try user.trim(to: 100_000)
        #expect(directory.folder.files().isEmpty, note)
      }
      let statistics = user.statistics()
      // What this process has reserved for records to come isn't counted.
      user.finish()
      #expect(directory.packBytes <= statistics.diskBytes, note)
      // To verify is to look at packs only.
      #expect(look == .verify || !directory.folder.files().contains { $0.hasSuffix(".tmp") }, note)
      let later = try directory.user()
      #expect(directory.folder.files().count == later.statistics().packs, note)
      var listed = 0
      try later.forEach(.body) { found, _ in
        #expect(found == key, note)
        listed += 1
        return true
      }
      #expect(listed == later.statistics().bodies, note)
      #expect(try later.verify().isClean, note)
      later.finish()
    }
    #expect(wereUnknown > 0)
  }

  /// What the packs take on the disk.
  private var packBytes: Int {
    folder.files().filter { $0.hasSuffix(".pack") }.reduce(0) {
      var status = stat()
      return stat(folder.path + "/packs/" + $1, &status) == 0 ? $0 + Int(status.st_blocks) * 512 : $0
    }
  }

  @Test("while no file can be mapped every record is a miss and commits throw; later all are found")
  func nothingMapped() throws {
    let first = try Store.open(folder.path, .init(diskBytes: 8 << 20))
    for number in 0..<30 { try first.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), 3000)) }
    first.close()
    for isIndexThere in [true, false] {
      if !isIndexThere { try folder.remove("index") }
      let calls = FaultyCalls(.short)
      if !isIndexThere { calls.failMaps(.max) }
      let store = try Store.open(folder.path, .init(), calls)
      calls.failMaps(.max)
      for number in 0..<30 { #expect(try store.bytes(RecordKey(.meta, "\(number)")) == nil) }
      #expect(throws: StoreFault.self) { try store.commit(RecordKey(.meta, "new"), [1]) }
      #expect(throws: StoreFault.self) { try store.commit(RecordKey(.meta, "large"), content(1, 700_000)) }
      #expect(try store.verify().unreadable == folder.files().count)
      try store.forEach { _, _ in
        Issue.record("there is nothing to be found")
        return true
      }
      calls.failMaps(0)
      try store.commit(RecordKey(.meta, "new"), [1])
      #expect(try store.bytes(RecordKey(.meta, "new")) == [1])
      store.close()
      let again = try Store.open(folder.path)
      for number in 0..<30 {
        #expect(try again.bytes(RecordKey(.meta, "\(number)")) == content(UInt64(number), 3000))
      }
      #expect(try again.bytes(RecordKey(.meta, "large")) == nil)
      again.close()
    }
  }
}
