import Foundation
import Testing

@testable import NuthatchStore

@Suite("Damaged directories") struct DamageTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private static let count = 200
  private static let bodies = 67

  private static func key(_ number: Int) -> RecordKey {
    RecordKey(RecordKind.allCases[number % 3], "key \(number)")
  }
  private static func bytes(_ number: Int) -> [UInt8] { content(UInt64(number), 40 + number * 37 % 3000) }

  private func fill() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    for number in 0..<Self.count { try store.commit(Self.key(number), Self.bytes(number)) }
    store.close()
  }

  /// How many records are there; the others must be misses.
  private func survivors(_ note: String) throws -> Int {
    let store = try Store.open(folder.path)
    defer { store.close() }
    var found = 0
    for number in 0..<Self.count {
      guard let bytes = try store.bytes(Self.key(number)) else { continue }
      #expect(bytes == Self.bytes(number), "\(note), record \(number)")
      found += 1
    }
    let fresh = RecordKey(.meta, "fresh")
    try store.commit(fresh, [1, 2, 3])
    #expect(try store.bytes(fresh) == [1, 2, 3], "\(note)")
    return found
  }

  @Test("bytes behind a pack's last record aren't damage")
  func rest() throws {
    let store = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    defer { store.close() }
    try store.commit(RecordKey(.meta, "a"), content(1, 100))
    let entry = try #require(store.disk.current.index?.packs.first)
    let name = "packs/" + PackName.of(entry.number)
    // By a writer that has gone, and while the pack is being written to.
    for isWritten in [true, false] {
      try folder.poke(name, at: entry.used, [UInt8](repeating: 0xAB, count: 20))
      if !isWritten { store.close() }
      let other = try Store.open(folder.path)
      defer { other.close() }
      #expect(try other.verify().isClean)
      #expect(try other.bytes(RecordKey(.meta, "a")) == content(1, 100))
    }
    let other = try Store.open(folder.path)
    defer { other.close() }
    try other.commit(RecordKey(.meta, "b"), content(2, 4))
    #expect(try other.verify().isClean)
    try folder.poke(name, at: entry.used - 120, [UInt8](repeating: 0xAB, count: 4))
    #expect(try !other.verify().isClean)
  }

  @Test("no record is lost if the index is missing, truncated, zeroed or of another version")
  func index() throws {
    try fill()
    #expect(try survivors("whole") == Self.count)
    let index = folder.path + "/index"
    let damages: [(String, () throws -> Void)] = [
      ("gone", { try self.folder.remove("index") }),
      ("cut", { truncate(index, 5000) }),
      ("empty", { truncate(index, 0) }),
      ("longer", { truncate(index, 50_000_000) }),
      ("other version", { try self.folder.poke("index", at: 8, [9]) }),
      ("other boot", { try self.folder.poke("index", at: 33, [1, 2, 3]) }),
      ("zeros", { try self.folder.poke("index", at: 0, [UInt8](repeating: 0, count: 200_000)) }),
    ]
    for (name, damage) in damages {
      try damage()
      #expect(try survivors(name) == Self.count, "\(name)")
    }
  }

  @Test(
    "a folder that has the name of a store's file is moved aside with its contents",
    arguments: ["index", "index.new", "limits", "limits.new"])
  func foreignFolder(_ name: String) throws {
    try fill()
    for round in 0..<2 {
      try? folder.remove(name)
      try FileManager.default.createDirectory(
        atPath: folder.path + "/" + name, withIntermediateDirectories: false)
      try Data([UInt8(round)]).write(to: URL(fileURLWithPath: folder.path + "/" + name + "/theirs"))
      if name == "index.new" { try folder.remove("index") }
      let store = try Store.open(folder.path, .init(diskBytes: (32 + round) << 20))
      #expect(try store.statistics().diskLimit == (32 + round) << 20)
      store.close()
      #expect(try survivors(name) == Self.count)
    }
    let kept = folder.files("").filter { $0.hasPrefix(name + ".") && $0 != name + ".new" }
    #expect(try Set(kept.map { try folder.read($0 + "/theirs") }) == [[0], [1]])
  }

  @Test("a flipped bit in a pack gives a miss, never wrong bytes")
  func packBits() throws {
    try fill()
    let seed = newSeed()
    var dice = Dice(seed)
    for round in 0..<40 {
      let name = "packs/" + (folder.files().randomElement(using: &dice) ?? "")
      let whole = try folder.read(name)
      let used = usedBytes(whole)
      let at = Int.random(in: 0..<used, using: &dice)
      try folder.poke(name, at: at, [whole[at] ^ (1 << UInt8.random(in: 0..<8, using: &dice))])
      let note = "seed \(seed), round \(round), \(name) at \(at)"
      if round % 2 == 0 { try folder.remove("index") }
      let found = try survivors(note)
      // A byte of a pack's header costs the pack, any other at most a record.
      #expect(found >= Self.count - (at < 64 ? Self.count : 1), "\(note)")
      let store = try Store.open(folder.path)
      _ = try store.verify()
      store.close()
      for file in folder.files() { try folder.remove("packs/" + file) }
      try folder.remove("index")
      try fill()
    }
  }

  @Test("a damaged index gives right bytes or misses, and verify reports no damaged record")
  func indexBits() throws {
    let seed = newSeed()
    var dice = Dice(seed)
    for round in 0..<40 {
      let folder = try DamageTests()
      try folder.fill()
      let size = try folder.folder.read("index").count
      for _ in 0..<20 {
        let at =
          Bool.random(using: &dice)
          ? Int.random(in: 64..<1000, using: &dice) : Int.random(in: 4096..<size, using: &dice)
        try folder.folder.poke("index", at: at, [UInt8.random(in: 0...255, using: &dice)])
      }
      let note = "seed \(seed), round \(round)"
      _ = try folder.survivors(note)
      let store = try Store.open(folder.folder.path)
      #expect(try store.verify().damaged == 0, "\(note)")
      store.close()
      try folder.folder.remove("index")
      _ = try folder.survivors(note + ", rebuilt")
    }
  }

  @Test("no pack is dropped if a damaged index says that it is larger than a pack can be", arguments: 0..<7)
  func used(_ byte: Int) throws {
    func key(_ number: Int) -> RecordKey { RecordKey(.meta, "\(number)") }
    let store = try Store.open(folder.path, .init(diskBytes: 32 << 20))
    for number in 0..<100 { try store.commit(key(number), content(UInt64(number), 100_000)) }
    store.close()
    let index = try folder.read("index")
    let places = (0..<256).map { IndexLayout.tableStart + $0 * IndexLayout.entrySize }
    let place = try #require(places.first { index[$0] == 3 })
    try folder.poke("index", at: place + 8 + byte, [index[place + 8 + byte] ^ 0x20])
    let again = try Store.open(folder.path)
    try again.commit(RecordKey(.meta, "new"), [1])
    #expect(try (0..<100).allSatisfy { try again.bytes(key($0)) == content(UInt64($0), 100_000) })
    #expect(try again.statistics().droppedPacks == 0)
    again.close()
  }

  @Test("records in memory are written even if a damaged index says that a later clear happened")
  func cleared() throws {
    try Store.open(folder.path).close()
    try folder.poke("index", at: IndexLayout.clearedBefore + 5, [0x20])
    let store = try Store.open(folder.path, .init(spill: .pressure))
    try store.commit(Self.key(1), Self.bytes(1))
    #expect(try store.bytes(Self.key(1)) == Self.bytes(1))
    store.close()
    let again = try Store.open(folder.path)
    #expect(try again.bytes(Self.key(1)) == Self.bytes(1))
    again.close()
  }

  @Test(
    "an index that can't be opened is replaced, and other stores go on with the new one",
    arguments: [EIO, EACCES])
  func index(_ reason: Int32) throws {
    try fill()
    let other = try Store.open(folder.path)
    let system = FaultyCalls(.short)
    system.refuseOpening("index", reason)
    let store = try Store.records(
      try StoreDirectory(folder.path, trusts: false, system), Store.Options(diskBytes: 16 << 20))
    for number in 0..<Self.count {
      #expect(store.lookup(Self.key(number))?.copied() == Self.bytes(number))
    }
    store.finish()
    // The store that had the old index goes on with the new one.
    try other.commit(Self.key(0), [1])
    #expect(try other.verify().isClean)
    other.close()
    #expect(try Store.open(folder.path).bytes(Self.key(0)) == [1])
  }

  @Test("records in other packs stay if a pack is missing, truncated, foreign or of another version")
  func packs() throws {
    try fill()
    let names = folder.files()
    #expect(names.count == 2)
    let small = "packs/" + (names.first ?? "")
    let whole = try folder.read(small)
    let used = usedBytes(whole)
    for isIndexThere in [true, false] {
      truncate(folder.path + "/" + small, off_t(used / 2))
      if !isIndexThere { try folder.remove("index") }
      #expect(try survivors("cut") > Self.bodies)
    }
    try folder.poke(small, at: 8, [9])
    #expect(try survivors("other version") == Self.bodies)
    #expect(folder.files().contains(names[0]))
    try folder.remove(small)
    #expect(try survivors("gone") == Self.bodies)
    let store = try Store.open(folder.path)
    #expect(try store.statistics().bodies == Self.bodies)
    store.close()
    _ = FileManager.default.createFile(
      atPath: folder.path + "/packs/00000077.pack", contents: Data(content(1, 10_000)))
    _ = FileManager.default.createFile(atPath: folder.path + "/packs/readme.txt", contents: Data([1]))
    _ = FileManager.default.createFile(atPath: folder.path + "/packs/00000078.tmp", contents: Data([1]))
    #expect(try survivors("foreign files") == Self.bodies)
    #expect(folder.files().contains("readme.txt"))
    #expect(!folder.files().contains("00000078.tmp"))
  }

  @Test("records in unreadable packs are removed and replaced, with few files opened")
  func unreadable() throws {
    try fill()
    for name in folder.files() {
      try folder.poke("packs/" + name, at: 0, [UInt8](repeating: 255, count: PackHeader.size))
    }
    let calls = FaultyCalls(.short)
    let store = try Store.records(
      try StoreDirectory(folder.path, trusts: false, calls), Store.Options(diskBytes: 16 << 20))
    let before = calls.openings
    for number in 0..<20 { _ = try store.remove(Self.key(number)) }
    for number in 0..<Self.count {
      try Self.bytes(number).withBytes { (bytes) throws(StoreFault) in
        _ = try store.commit(Self.key(number), PayloadShape(), [bytes])
      }
    }
    // Each commit once retried all retirements that had failed, which opened many more files.
    #expect(calls.openings - before < 20 * Self.count)
    for number in 0..<Self.count {
      #expect(store.lookup(Self.key(number)).map { Array($0.unsafeBytes) } == Self.bytes(number))
    }
  }

  @Test("packs that the index doesn't know are taken in")
  func unknownPacks() throws {
    try fill()
    let other = try Folder()
    for name in folder.files() {
      try FileManager.default.createDirectory(
        atPath: other.path + "/packs", withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: folder.path + "/packs/" + name, toPath: other.path + "/packs/" + name)
    }
    for name in folder.files() { try folder.remove("packs/" + name) }
    #expect(try survivors("gone") == 0)
    for name in folder.files() { try folder.remove("packs/" + name) }
    for name in other.files() {
      try FileManager.default.copyItem(
        atPath: other.path + "/packs/" + name, toPath: folder.path + "/packs/" + name)
    }
    #expect(try survivors("back") == Self.count)
  }

  @Test("a lookup of a damaged record doesn't pin its pack", arguments: [1, 3])
  func leftPacks(_ lookups: Int) throws {
    let key = RecordKey(.meta, "key")
    let first = try Store.open(folder.path, .init(diskBytes: 16 << 20))
    try first.commit(key, content(1, 5000))
    first.close()
    try folder.poke("packs/00000001.pack", at: 3000, [1, 2, 3])
    let store = try Store.open(folder.path)
    try store.commit(RecordKey(.meta, "other"), [1])
    for _ in 0..<lookups { #expect(try store.bytes(key) == nil) }
    try store.clear()
    #expect(try store.statistics().pinnedBytes == 0)
    store.close()
  }

  @Test("clear deletes packs but no folder that has a pack's name")
  func folderAsPack() throws {
    try fill()
    try FileManager.default.createDirectory(
      atPath: folder.path + "/packs/00000000.pack", withIntermediateDirectories: false)
    for name in ["00000001", "00000077"] {
      try? folder.remove("packs/\(name).pack")
      try FileManager.default.createDirectory(
        atPath: folder.path + "/packs/\(name).pack", withIntermediateDirectories: false)
    }
    let store = try Store.open(folder.path)
    #expect(folder.files().count > 3)
    try store.clear()
    #expect(folder.files() == ["00000000.pack", "00000001.pack", "00000077.pack"])
    for number in 0..<Self.count { #expect(try store.bytes(Self.key(number)) == nil) }
    store.close()
  }

  @Test("a store opens with a socket in place of its index or a pack")
  func sockets() throws {
    try fill()
    for name in ["index", "packs/00000001.pack"] {
      try folder.remove(name)
      let made = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      try #require(made >= 0)
      defer { close(made) }
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) {
        $0.copyBytes(from: Array("\(folder.path)/\(name)".utf8))
      }
      let status = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(made, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      #expect(status == 0)
      let found = try survivors(name)
      #expect(name == "index" ? found == Self.count : found > 0)
    }
  }

  @Test("no file of a store is read or written through a symbolic link")
  func links() throws {
    let outside = try Folder()
    let victim = outside.path + "/victim"
    let whole = content(1, 100_000)
    for name in [
      "limits", "limits.new", "index", "index.new", "locks", "packs/00000001.pack", "packs/00000001.tmp",
      "packs/00000002.pack", "packs/00000002.tmp", "packs",
    ] {
      for isFilled in [false, true] {
        let folder = try Folder()
        if isFilled { try Store.open(folder.path, .init(diskBytes: 16 << 20)).close() }
        _ = FileManager.default.createFile(atPath: victim, contents: Data(whole))
        mkdir(outside.path + "/folder", 0o700)
        mkdir(folder.path + "/packs", 0o700)
        try? folder.remove(name)
        symlink(name == "packs" ? outside.path + "/folder" : victim, folder.path + "/" + name)
        // A link in the place of the lock or of the folder is an error; elsewhere the store goes on without.
        let store = try? Store.open(folder.path, .init(diskBytes: 8 << 20))
        #expect((store == nil) == ["locks", "packs"].contains(name), "\(name)")
        for number in 0..<20 {
          _ = try? store?.commit(RecordKey(.meta, "\(number)"), content(2, number == 9 ? 1 << 20 : 5000))
        }
        if let store { #expect(try store.bytes(RecordKey(.meta, "0")) == content(2, 5000), "\(name)") }
        _ = try? store?.verify()
        try? store?.clear()
        store?.close()
        #expect(try outside.read("victim") == whole, "\(name)")
        #expect(outside.files("folder").isEmpty, "\(name)")
      }
    }
  }

  @Test("a directory that others can write to is refused, and symbolic links in it aren't followed")
  func permissions() throws {
    try fill()
    var status = stat()
    for name in ["index", "locks", "packs/" + (folder.files().first ?? "")] {
      #expect(stat(folder.path + "/" + name, &status) == 0)
      #expect(status.st_mode & 0o777 == 0o600)
    }
    #expect(stat(folder.path + "/packs", &status) == 0)
    #expect(status.st_mode & 0o777 == 0o700)
    chmod(folder.path, 0o777)
    let fault = #expect(throws: StoreFault.self) { try Store.open(folder.path) }
    #expect(fault?.kind == .denied)
    var trusting = Store.Options()
    trusting.trustsDirectory = true
    try Store.open(folder.path, trusting).close()
    chmod(folder.path, 0o700)
    if geteuid() == 0 {
      chown(folder.path, 1, 1)
      #expect(throws: StoreFault.self) { try Store.open(folder.path) }
      chown(folder.path, 0, 0)
    }
    for name in folder.files() {
      let path = folder.path + "/packs/" + name
      rename(path, path + ".real")
      symlink(path + ".real", path)
    }
    #expect(try survivors("linked packs") == 0)
    try folder.remove("locks")
    symlink("/etc/passwd", folder.path + "/locks")
    #expect(throws: StoreFault.self) { try Store.open(folder.path) }
  }
}
