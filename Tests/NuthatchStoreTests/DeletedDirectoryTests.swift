import CSystem
import Foundation
import NuthatchBase
import Testing

@testable import NuthatchStore

/// A person deletes the directory of an open store to make room.
@Suite("Directories that are deleted while a store has them open") struct DeletedDirectoryTests {
  private static let (a, b) = (RecordKey(.meta, "a"), RecordKey(.meta, "b"))
  private let parent: Folder
  private let path: String

  init() throws {
    parent = try Folder()
    path = parent.path + "/cache"
  }

  /// Deletes it, and lets the store notice.
  private func delete(under store: Store) throws {
    try parent.remove("cache")
    store.current.lookForDeletion()
  }

  /// A store, and another one that has made the directory again and keeps the same key there.
  private func madeByOther(_ options: Store.Options = .init()) throws -> (Store, Store) {
    let store = try Store.open(path, options)
    try store.commit(Self.a, [1])
    try parent.remove("cache")
    let other = try Store.open(path)
    try other.commit(Self.a, [2])
    store.current.lookForDeletion()
    return (store, other)
  }

  private func descriptors() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
  }

  @Test(
    "a commit recreates a deleted directory with the same limit", arguments: [Store.Spill.eager, .pressure])
  func madeAgain(_ spill: Store.Spill) throws {
    let store = try Store.open(path, Store.Options(diskBytes: 5 << 20, memoryBytes: 1 << 20, spill: spill))
    let lease = try store.commit(Self.a, [1])
    try delete(under: store)
    #expect(!parent.files("").contains("cache"))
    try store.commit(Self.b, [2])
    #expect(try store.bytes(Self.b) == [2])
    #expect(lease.copied() == [1])
    try store.flush()
    let other = try Store.open(path)
    #expect(try other.bytes(Self.b) == [2])
    // As for the directory before.
    #expect(try other.statistics().diskLimit == 5 << 20)
    #expect(try store.verify().isClean)
  }

  @Test(
    "a commit that can't create a pack notices that the directory was deleted",
    arguments: [Store.Spill.eager, .pressure])
  func unnoticed(_ spill: Store.Spill) throws {
    let store = try Store.open(path, Store.Options(memoryBytes: 1 << 20, spill: spill))
    try parent.remove("cache")
    for key in [Self.a, RecordKey(.body, "b")] {
      try store.commit(key, [1])
      #expect(try store.bytes(key) == [1])
    }
    try store.flush()
    let other = try Store.open(path)
    #expect(try other.bytes(Self.a) == [1])
  }

  @Test("a writer whose pack was deleted recreates the directory and keeps its records there")
  func appending() throws {
    let store = try Store.open(path)
    try store.commit(Self.a, [1])
    try parent.remove("cache")
    // Nothing else looks.
    repeat { try store.commit(Self.b, [2]) } while parent.files("cache").isEmpty
    #expect(try Store.open(path).bytes(Self.b) == [2])
  }

  @Test("a store that ends recreates a deleted directory for the records in memory")
  func atEnd() throws {
    let store = try Store.open(path, Store.Options(memoryBytes: 1 << 20, spill: .pressure))
    try store.commit(Self.a, [1])
    try parent.remove("cache")
    try store.flushAtEnd()
    store.close()
    #expect(try Store.open(path).bytes(Self.a) == [1])
  }

  @Test("a directory that another store has recreated keeps that store's limit")
  func limits() throws {
    let (store, other) = try madeByOther(Store.Options(diskBytes: 5 << 20))
    eventually("the other's") { (try? store.bytes(Self.a)) == [2] }
    try store.commit(Self.b, [3])
    #expect(try other.statistics().diskLimit == Limits.standard)
  }

  @Test("a lookup doesn't recreate a deleted directory or block on a pipe in place of its lock file")
  func pipe() throws {
    let store = try Store.open(path)
    try store.commit(Self.a, [1])
    try delete(under: store)
    #expect(mkdir(path, 0o700) == 0 && mkfifo(path + "/locks", 0o600) == 0)
    for _ in 0..<3 { #expect(try store.bytes(Self.a) == nil) }
    #expect(parent.files("cache") == ["locks"])
    // Others take the pipe for what it is.
    #expect(throws: StoreFault.self) { try store.commit(Self.b, [2]) }
    try parent.remove("cache")
    try store.commit(Self.b, [2])
    #expect(try store.bytes(Self.b) == [2])
  }

  @Test(
    "a store goes on with the new lock file after the old one was moved or deleted", arguments: [false, true])
  func moved(_ isMoved: Bool) throws {
    let (store, old) = (try Store.open(path), path + "/locks")
    try store.commit(Self.a, [1])
    if isMoved { #expect(rename(old, path + "/x") == 0) } else { #expect(unlink(old) == 0) }
    let other = try Store.open(path)
    try other.commit(Self.b, [2])
    try store.commit(RecordKey(.meta, "c"), [3])
    for store in [store, other] {
      for (name, value) in [("a", 1), ("b", 2), ("c", 3)] as [(String, UInt8)] {
        #expect(try store.bytes(RecordKey(.meta, name)) == [value])
      }
    }
    #expect(store.index?.identity == other.index?.identity)
  }

  @Test("a removal and a clear recreate a deleted directory")
  func change() throws {
    let store = try Store.open(path)
    try store.commit(Self.a, [1])
    try parent.remove("cache")
    #expect(try !store.remove(Self.a))
    #expect(parent.files("cache").contains("packs"))
    #expect(try store.bytes(Self.a) == nil)
    try parent.remove("cache")
    try store.clear()
    #expect(parent.files("cache").contains("packs"))
  }

  @Test("a lookup and a close don't recreate a deleted directory")
  func looks() throws {
    let store = try Store.open(path)
    try store.commit(Self.a, [1])
    try delete(under: store)
    #expect(try store.bytes(Self.a) == nil)
    #expect(!store.isThere(Self.b))
    store.close()
    #expect(!parent.files("").contains("cache"))
  }

  @Test("a lookup finds the records that another store keeps in the recreated directory")
  func others() throws {
    let (store, other) = try madeByOther()
    eventually("the other's") { (try? store.bytes(Self.a)) == [2] }
    // They share removals from then on.
    let group = Array("g".utf8).withUnsafeBytes { RecordGroup($0) }
    let asked = try #require(try store.moment(group))
    _ = try other.remove([group])
    #expect(try store.commit(answer: RecordKey(group, [0]), [1], asked: asked) == nil)
  }

  @Test("an answer that was asked for before the directory was deleted isn't kept")
  func asked() throws {
    let store = try Store.open(path)
    let group = Array("g".utf8).withUnsafeBytes { RecordGroup($0) }
    let asked = try #require(store.momentNow(group))
    try delete(under: store)
    #expect(store.momentNow(group) == nil)
    #expect(try store.commit(answer: RecordKey(group, [0]), [1], asked: asked) == nil)
    let again = try #require(store.momentNow(group))
    #expect(try store.commit(answer: RecordKey(group, [0]), [1], asked: again) != nil)
  }

  @Test("repeated deletions of a directory leak no descriptor and no mapping")
  func leaves() throws {
    let store = try Store.open(path)
    var counts: [Int] = []
    for number in 0..<20 {
      try store.commit(Self.a, content(UInt64(number), 5000))
      #expect(try store.bytes(Self.a) == content(UInt64(number), 5000))
      counts.append(try descriptors())
      try delete(under: store)
    }
    // Other tests open files meanwhile, but not three for each of these.
    #expect((counts.last ?? .max) < (counts.first ?? 0) + 40, "\(counts)")
    let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
    #expect(maps.split(separator: "\n").filter { $0.contains(path) && $0.contains("/packs/") }.isEmpty)
  }

  @Test("a commit throws while a deleted directory can't be recreated, and works afterwards")
  func parentIsGone() throws {
    let store = try Store.open(path)
    try store.commit(Self.a, [1])
    try delete(under: store)
    let away = parent.path + "-away"
    try FileManager.default.moveItem(atPath: parent.path, toPath: away)
    #expect {
      try store.commit(Self.b, [2])
    } throws: {
      let fault = $0 as? StoreFault
      return fault?.kind == .io && fault?.message.contains("deleted") == true
        && fault?.message.contains(path) == true
    }
    #expect(try store.lookup(Self.b) == nil)
    try FileManager.default.moveItem(atPath: away, toPath: parent.path)
    try store.commit(Self.b, [2])
    #expect(try store.bytes(Self.b) == [2])
  }

  @Test("a flush writes records in memory to the recreated directory")
  func memory() throws {
    let store = try Store.open(path, Store.Options(memoryBytes: 1 << 20, spill: .pressure))
    let first = try store.commit(Self.a, [1]).sequence
    try delete(under: store)
    let second = try store.commit(Self.b, [2]).sequence
    #expect(second > first)
    try store.flush()
    let other = try Store.open(path)
    for (key, value) in [(Self.a, 1), (Self.b, 2)] as [(RecordKey, UInt8)] {
      #expect(try other.bytes(key) == [value])
    }
  }

  @Test("threads read and write on while the directory is deleted again and again")
  func threads() throws {
    let store = try Store.open(path)
    let isDone = Counter()
    inThreads(4) { thread in
      if thread == 0 {
        for _ in 0..<30 {
          try? parent.remove("cache")
          store.current.lookForDeletion()
          usleep(2000)
        }
        isDone.add()
        return
      }
      var dice = Dice(UInt64(thread))
      while isDone.count == 0 {
        let number = UInt64.random(in: 0..<20, using: &dice)
        let key = RecordKey(.body, "\(number)")
        do {
          if Bool.random(using: &dice) {
            try store.commit(key, content(number, 3000))
          } else if let bytes = try store.bytes(key) {
            #expect(bytes == content(number, 3000))
          }
        } catch {
          // Deleted again between two steps of making it, or of going over to it.
          #expect((error as? StoreFault)?.kind == .io, "\(error)")
        }
      }
    }
    try store.commit(Self.a, [1])
    #expect(try store.bytes(Self.a) == [1])
    #expect(try store.verify().isClean)
  }
}
