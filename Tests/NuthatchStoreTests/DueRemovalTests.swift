import CSystem
import Dispatch
import Glibc
import Synchronization
import Testing

@testable import NuthatchStore

@Suite("Removals that can't be done at once") struct DueRemovalTests {
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
    "a removal that waits for a lock hides its records at once and is done before the next commit",
    arguments: Way.allCases,
    [Store.Spill.eager, .pressure])
  func hides(_ way: Way, _ spill: Store.Spill) throws {
    let followed = Atomic(0)
    let store = try Store.open(folder.path, .init(spill: spill)) { (_, groups, removed) in
      let isRight = groups == way.groups && removed.contains { $0.key == Self.key("a") }
      followed.wrappingAdd(isRight ? 1 : 100, ordering: .relaxed)
    }
    #expect(try keep("a", [1], store) && keep("b", [2], store))
    let mark = try #require(try store.mark(Self.key("a")))
    let early = try #require(store.momentNow(Self.group("a")))
    let held = try HeldByte(folder, .index)
    let fault = store.removeOrNote(way.groups, way.keys)
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
    #expect(followed.load(ordering: .relaxed) == way.groups.count && !store.hasDueRemovals)
    #expect(try store.lookup(Self.key("a")) == nil && store.bytes(Self.key("b")) == [2])
    #expect(try keep("a", [4], store))
    #expect(try store.bytes(Self.key("a")) == [4])
    store.close()
    let other = try Store.open(folder.path)
    #expect(try other.bytes(Self.key("a")) == [4] && other.bytes(Self.key("b")) == [2])
  }

  @Test("a postponed removal is done by the next `moment`, `close` or `clear`", arguments: [0, 1, 2])
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

  @Test("a removal stays postponed until its `following` closure succeeds, and blocks no other key")
  func follows() throws {
    let isBroken = Atomic(true)
    let store = try Store.open(folder.path) { (_, _, _) throws(StoreFault) in
      if isBroken.load(ordering: .relaxed) { throw StoreFault(.io, "a test") }
    }
    #expect(try keep("a", [1], store))
    let fault = store.removeOrNote([Self.group("a")], [])
    #expect(fault?.kind == .io && store.hasDueRemovals)
    #expect(throws: StoreFault.self) { try store.doWhatIsDue() }
    #expect(try store.moment(Self.group("a")) == nil)
    // Removals and commits of other keys don't wait for it.
    #expect(store.removeOrNote([], [Self.key("c")]) == nil)
    #expect(try keep("b", [2], store) && keep("c", [3], store))
    #expect(try store.bytes(Self.key("c")) == [3] && store.lookup(Self.key("a")) == nil)
    isBroken.store(false, ordering: .relaxed)
    try store.doWhatIsDue()
    #expect(!store.hasDueRemovals)
  }

  /// A store that is to the other like that of another process.
  private func other(_ following: @escaping Store.Following = { _, _, _ in }) throws -> Store {
    try Store.open(folder.path, following: following)
  }

  @Test(
    "other stores don't find a record whose removal is postponed, and their next commit removes it",
    arguments: Way.allCases)
  func others(_ way: Way) throws {
    let store = try Store.open(folder.path)
    let followed = Atomic(0)
    let other = try other { (_, groups, removed) in
      #expect(groups == [Self.group("a")] && removed.map(\.key) == [Self.key("a")])
      followed.wrappingAdd(1, ordering: .relaxed)
    }
    #expect(try keep("a", [1], store) && keep("b", [2], store))
    // Once by the quick way.
    for _ in 0..<2 { #expect(try other.bytes(Self.key("a")) == [1]) }
    let mark = try #require(try other.mark(Self.key("a")))
    let early = try #require(other.momentNow(Self.group("a")))
    let held = try HeldByte(folder, .index)
    #expect(store.removeOrNote(way.groups, way.keys)?.kind == .busy)
    #expect(try other.lookup(Self.key("a")) == nil && other.mark(Self.key("a")) == nil)
    #expect(!other.isThere(Self.key("a")) && !other.isCurrent(mark, Self.key("a")))
    #expect(!other.isCurrent(early) && other.momentNow(Self.group("a")) == nil)
    #expect(try other.bytes(Self.key("b")) == [2] && other.momentNow(Self.group("b")) != nil)
    // The other store has no postponed removals of its own.
    #expect(!other.hasDueRemovals && !other.losesRemovals && !store.losesRemovals)
    _ = consume held
    #expect(try other.commit(answer: Self.key("a"), [3], asked: early) == nil)
    #expect(followed.load(ordering: .relaxed) == 1)
    #expect(try keep("a", [4], other) && other.bytes(Self.key("a")) == [4])
  }

  @Test("a postponed removal is seen and done by a store that is opened later")
  func outlives() throws {
    let dead = try other()
    #expect(try keep("a", [1], dead) && keep("b", [2], dead))
    let held = try HeldByte(folder, .index)
    for _ in 0..<3 { #expect(dead.removeOrNote([Self.group("a")], [])?.kind == .busy) }
    #expect(!dead.losesRemovals)
    let late = try Store.open(folder.path)
    #expect(try late.lookup(Self.key("a")) == nil && late.bytes(Self.key("b")) == [2])
    _ = consume held
    #expect(try keep("c", [3], late) && !late.disk.due.areAny)
    #expect(try late.lookup(Self.key("a")) == nil && late.bytes(Self.key("c")) == [3])
    #expect(try late.verify().damaged == 0)
    withExtendedLifetime(dead) {}
  }

  @Test("a clear does the postponed removals of other stores")
  func cleared() throws {
    let (store, other) = (try Store.open(folder.path), try other())
    #expect(try keep("a", [1], store))
    let held = try HeldByte(folder, .index)
    #expect(store.removeOrNote([Self.group("a")], [])?.kind == .busy)
    _ = consume held
    try other.clear()
    #expect(!other.disk.due.areAny)
    #expect(try keep("a", [2], other) && other.bytes(Self.key("a")) == [2])
  }

  @Test("a postponed removal is seen by all stores after the lock file was deleted and replaced")
  func deletedLock() throws {
    let (store, other) = (try Store.open(folder.path), try other())
    #expect(try keep("a", [1], store) && other.bytes(Self.key("a")) == [1])
    try folder.remove("locks")
    let new = try self.other()
    for user in [store, other, new] { try user.commit(RecordKey(.meta, "b"), [2]) }
    let held = try HeldByte(folder, .index)
    #expect(store.removeOrNote([Self.group("a")], [])?.kind == .busy)
    #expect(try other.lookup(Self.key("a")) == nil && new.lookup(Self.key("a")) == nil)
    _ = consume held
  }
}

@Suite("PostedRemovals, the table of postponed removals") final class PostedRemovalTests: @unchecked Sendable
{
  private let memory = UnsafeMutableRawPointer.allocate(byteCount: PostedRemovals.size, alignment: 8)
  private let posted: PostedRemovals

  init() {
    memset(memory, 0, PostedRemovals.size)
    posted = PostedRemovals(at: memory)
  }

  deinit { free(memory) }

  private func group(_ number: Int) -> RecordGroup {
    RecordGroup(low: UInt64(number), high: UInt64(number) << 12)
  }

  @Test("the table of posted removals holds 64 groups")
  func places() {
    for number in 1...64 { #expect(posted.post(group(number)) != nil) }
    #expect(posted.post(group(65)) == nil && posted.all.count == 64)
    // It has one.
    #expect(posted.post(group(3)) != nil && posted.all.count == 64)
    for post in posted.all { posted.takeBack(post) }
    #expect(!posted.areAny && posted.all.isEmpty)
    #expect(posted.post(group(65)) != nil && posted.contains { $0 == group(65) })
  }

  @Test("a removal that is posted again while it is being done stays posted")
  func again() throws {
    #expect(posted.post(group(1)) != nil)
    let seen = posted.all
    #expect(posted.post(group(1)) != nil)
    for post in seen { posted.takeBack(post) }
    #expect(posted.all.map(\.group) == [group(1)])
  }

  @Test("the table of posted removals mends cells that a killed process left half-written")
  func killed() {
    #expect(posted.post(group(1)) != nil)
    // The second place is taken, the third has its number but no bit, the fourth has its bits only.
    nhs_store64(memory + 8, 0b1111)
    nhs_store64(memory, 0b1001)
    nhs_store64(memory + 16 + 2 * 24, 7)
    #expect(posted.all.count == 2 && !posted.contains { $0 == group(2) })
    posted.mend()
    #expect(nhs_load64(memory) == 0b101 && nhs_load64(memory + 8) == 0b101)
  }

  @Test("threads post and take back removals at once, and none is left")
  func many() {
    DispatchQueue.concurrentPerform(iterations: 4) { [posted] thread in
      for round in 0..<2000 {
        let own = self.group(1 + thread * 1000 + round % 3)
        guard let token = posted.post(own) else { continue }
        _ = posted.contains { $0 == own }
        for post in posted.all where post.token == token { posted.takeBack(post) }
      }
    }
    #expect(!posted.areAny && nhs_load64(memory + 8) == 0)
  }
}
