import Synchronization
import Testing

@testable import NuthatchStore

@Suite("A removal that can't be done now") struct DueRemovalTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  fileprivate static func group(_ name: String) -> RecordGroup {
    Array(name.utf8).withUnsafeBytes { RecordGroup($0) }
  }

  fileprivate static func key(_ name: String) -> RecordKey { RecordKey(group(name), [0] + Array(name.utf8)) }

  private func keep(_ name: String, _ payload: [UInt8], _ store: Store) throws -> Bool {
    let asked = try #require(try store.moment(Self.group(name)))
    return try store.commit(answer: Self.key(name), payload, asked: asked) != nil
  }

  /// Ways to say what is to be removed.
  enum Way: CaseIterable, Sendable {
    case group, key

    var groups: [RecordGroup] { self == .group ? [DueRemovalTests.group("a")] : [] }
    var keys: [RecordKey] { self == .key ? [DueRemovalTests.key("a")] : [] }
  }

  @Test(
    "hides what it takes out, and is done before anything else is kept", arguments: Way.allCases,
    [Store.Spill.eager, .pressure])
  func hides(_ way: Way, _ spill: Store.Spill) throws {
    let store = try Store.open(folder.path, .init(spill: spill))
    #expect(try keep("a", [1], store) && keep("b", [2], store))
    let mark = try #require(try store.mark(Self.key("a")))
    let early = try #require(store.momentNow(Self.group("a")))
    let followed = Atomic(0)
    let held = try HeldByte(folder, .index)
    let fault = store.removeOrNote(way.groups, way.keys) { (_, removed) in
      followed.wrappingAdd(removed.contains { $0.key == Self.key("a") } ? 1 : 100, ordering: .relaxed)
    }
    #expect(fault?.kind == .busy && store.hasDueRemovals)
    #expect(try store.lookup(Self.key("a")) == nil && store.mark(Self.key("a")) == nil)
    #expect(!store.isThere(Self.key("a")) && !store.isCurrent(mark, Self.key("a")))
    #expect(!store.isCurrent(early) && store.momentNow(Self.group("a")) == nil)
    #expect(try store.moment(Self.group("a")) == nil)
    #expect(try store.bytes(Self.key("b")) == [2] && store.momentNow(Self.group("b")) != nil)
    #expect(followed.load(ordering: .relaxed) == 0)
    _ = consume held
    // What was asked for before doesn't come back.
    #expect(try store.commit(answer: Self.key("a"), [3], asked: early) == nil)
    #expect(followed.load(ordering: .relaxed) == 1 && !store.hasDueRemovals)
    #expect(try store.lookup(Self.key("a")) == nil && store.bytes(Self.key("b")) == [2])
    #expect(try keep("a", [4], store))
    #expect(try store.bytes(Self.key("a")) == [4])
    store.close()
    let other = try Store.open(folder.path)
    #expect(try other.bytes(Self.key("a")) == [4] && other.bytes(Self.key("b")) == [2])
  }

  @Test("is done by the next question, by a close, and by a clear", arguments: [0, 1, 2])
  func ends(_ end: Int) throws {
    let store = try Store.open(folder.path)
    #expect(try keep("a", [1], store))
    do {
      let held = try HeldByte(folder, .index)
      #expect(store.removeOrNote([Self.group("a")], [])?.kind == .busy)
      // Once more the same is one removal.
      #expect(store.removeOrNote([Self.group("a")], [])?.kind == .busy)
      _ = consume held
    }
    switch end {
    case 0: #expect(try store.moment(Self.group("a")) != nil)
    case 1: store.close()
    default: try store.clear()
    }
    #expect(!store.hasDueRemovals)
    #expect(try Store.open(folder.path).lookup(Self.key("a")) == nil)
  }

  @Test("stays due until what follows it can be done, too")
  func follows() throws {
    let store = try Store.open(folder.path)
    #expect(try keep("a", [1], store))
    let isBroken = Atomic(true)
    let fault = store.removeOrNote([Self.group("a")], []) { (_, _) throws(StoreFault) in
      if isBroken.load(ordering: .relaxed) { throw StoreFault(.io, "a test") }
    }
    #expect(fault?.kind == .io && store.hasDueRemovals)
    #expect(throws: StoreFault.self) { try store.doWhatIsDue() }
    #expect(try store.moment(Self.group("a")) == nil)
    // It is in nobody else's way.
    #expect(store.removeOrNote([], [Self.key("c")]) == nil)
    #expect(try keep("b", [2], store) && keep("c", [3], store))
    #expect(try store.bytes(Self.key("c")) == [3] && store.lookup(Self.key("a")) == nil)
    isBroken.store(false, ordering: .relaxed)
    try store.doWhatIsDue()
    #expect(!store.hasDueRemovals)
  }
}
