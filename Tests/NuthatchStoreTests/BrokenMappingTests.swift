import CSystem
import Foundation
import Synchronization
import Testing

@testable import NuthatchStore

/// Each touch of a mapped page behind the end of a truncated file raises SIGBUS, as a full or failing disk does.
@Suite("Truncation of a store's mapped files", .serialized)
struct BrokenMappingTests {
  private static let count = 24
  private static let magic: UInt32 = 0x0102_1994  // tmpfs: pages are written without a check for room

  let folder: Folder
  init() throws { folder = try Folder() }

  private static func key(_ number: Int) -> RecordKey { RecordKey(.body, "broken \(number)") }
  private static func payload(_ number: Int) -> [UInt8] { content(UInt64(number), 6000) }

  private func opened() throws -> Store {
    let store = try Store.open(folder.path, .init(), FaultyCalls(.number(EIO), fileSystem: Self.magic))
    for number in 0..<Self.count { try store.commit(Self.key(number), Self.payload(number)) }
    for number in 0..<Self.count { _ = try store.lookup(Self.key(number)) }
    return store
  }

  private func cut(_ name: String, to size: Int) throws {
    #expect(truncate(folder.path + "/" + name, off_t(size)) == 0)
  }

  /// Returns false only if the store finds wrong bytes.
  private func isRight(_ store: Store, _ number: Int) -> Bool {
    guard let lease = (try? store.lookup(Self.key(number))) ?? nil else { return true }
    let bytes = lease.copied()
    return bytes == Self.payload(number) || lease.isBroken
  }

  /// Expects the store to work again without being opened again.
  private func recovers(_ store: Store, _ note: Comment, finds: Bool = true) throws {
    eventually(note) { (try? store.commit(Self.key(100), Self.payload(100))) != nil }
    eventually(note) { (try? store.bytes(Self.key(100))) == Self.payload(100) }
    #expect((0..<Self.count).allSatisfy { isRight(store, $0) }, note)
    if finds {
      for number in 1..<Self.count {
        eventually(note) { (try? store.bytes(Self.key(number))) == Self.payload(number) }
      }
    }
    let other = try Store.open(folder.path)
    #expect(try other.bytes(Self.key(100)) == Self.payload(100), note)
    #expect(try other.verify().damaged == 0, note)
  }

  /// What a program does with a store.
  enum Step: CaseIterable, Sendable {
    case lookup, commit, touch, remove, clear, trim, verify, statistics, list, moment, answer, mark, recall
    case flush, open, relieve
  }

  private static let group = Array("group".utf8).withUnsafeBytes { RecordGroup($0) }

  private func take(_ step: Step, _ store: Store) throws {
    switch step {
    case .lookup: for number in 0..<Self.count { #expect(isRight(store, number)) }
    case .commit: _ = try store.commit(Self.key(0), Self.payload(0))
    case .touch: _ = try store.touch(Self.key(0))
    case .remove: _ = try store.remove(Self.key(0))
    case .clear: try store.clear()
    case .trim: try store.trim(to: 0)
    case .verify: _ = try store.verify()
    case .statistics: _ = try store.statistics()
    case .list:
      try store.forEach { _, lease in
        _ = lease.copied()
        return true
      }
    case .moment: _ = try store.moment(Self.group)
    case .answer:
      if let moment = store.momentNow(Self.group) {
        _ = try store.commit(answer: RecordKey(Self.group, [1]), [1, 2, 3], asked: moment)
      }
    case .mark: _ = try store.mark(Self.key(0))
    case .recall: _ = try store.recall(Self.key(0))
    case .flush: try store.flush()
    case .open: _ = try Store.open(folder.path).lookup(Self.key(0))
    case .relieve: store.relieve(.critical)
    }
  }

  @Test("a store works again after its index was truncated", arguments: Step.allCases, [0, 4096, 40960])
  func index(_ step: Step, _ size: Int) throws {
    let store = try opened()
    try cut("index", to: size)
    var isDone = true
    do { try take(step, store) } catch { isDone = false }
    switch step {
    case .remove where isDone: #expect(try store.lookup(Self.key(0)) == nil)
    case .clear where isDone:
      for number in 0..<Self.count { #expect(try store.lookup(Self.key(number)) == nil) }
    default: break
    }
    let isEmptied = step == .clear || step == .trim
    try recovers(store, "\(step), cut to \(size)", finds: !isEmptied)
    // What was removed stays away, also from an index that is made anew.
    if isDone, step == .remove || step == .clear {
      store.close()
      try folder.remove("index")
      #expect(try Store.open(folder.path).lookup(Self.key(0)) == nil)
    }
  }

  @Test("a store works again after its lock file was truncated", arguments: Step.allCases)
  func lock(_ step: Step) throws {
    let store = try opened()
    try cut("locks", to: 0)
    try? take(step, store)
    try recovers(store, "\(step)", finds: step != .clear && step != .trim)
  }

  @Test(
    "a store works after a pack was truncated, and finds the records when the bytes are back",
    arguments: Step.allCases)
  func packs(_ step: Step) throws {
    let store = try opened()
    let name = "packs/" + (try #require(folder.files().first))
    let bytes = try folder.read(name)
    try cut(name, to: 0)
    try? take(step, store)
    #expect((0..<Self.count).allSatisfy { isRight(store, $0) })
    guard step != .clear, step != .trim else { return try recovers(store, "\(step)", finds: false) }
    // `verify` and some others may have given up what wasn't there.
    try cut(name, to: bytes.count)
    try folder.poke(name, at: 0, bytes)
    eventually("\(step)") {
      _ = try? store.verify()
      return (1..<Self.count).allSatisfy { (try? store.bytes(Self.key($0))) == Self.payload($0) }
    }
    if step == .remove { #expect((0..<Self.count).allSatisfy { isRight(store, $0) }) }
  }

  @Test("a lease on a truncated pack is marked as broken and isn't returned again")
  func leases() throws {
    let store = try opened()
    let held = try #require(try store.lookup(Self.key(5)))
    try store.keep(Self.key(5), held)
    try cut("packs/" + (try #require(folder.files().first)), to: 0)
    #expect(!held.isBroken)
    #expect(held.copied().contains { $0 != 0 } == false)
    #expect(held.isBroken)
    #expect(held.reading { $0.count } == nil)
    #expect(try store.lookup(Self.key(5)) == nil)
    eventually("forgotten") { ((try? store.recall(Self.key(5))) ?? nil) == nil }
  }

  @Test("a truncated index confirms no moment and gives out no sequence and no pack number")
  func moments() throws {
    let store = try opened()
    let moment = try #require(store.momentNow(Self.group))
    #expect(store.isCurrent(moment))
    let index = try #require(store.disk.current.index)
    try cut("index", to: 0)
    #expect(!index.isCurrent(moment))
    #expect(index.isBroken)
    #expect(index.moment(Self.group, nil, number: 1) == nil)
    #expect(index.takeSequence() == 0)
    #expect(index.takePackNumber() == nil)
    #expect(!index.countRemoval(of: Self.group))
    #expect(index.remove(Self.key(0).hash) == .absent)
    #expect(!store.isCurrent(moment))
    #expect(store.momentNow(Self.group) == nil)
    // The index can't tell any more whether the group was removed meanwhile.
    #expect((try? store.commit(answer: RecordKey(Self.group, [1]), [1], asked: moment)) ?? nil == nil)
    try recovers(store, "afterwards")
    #expect(try #require(try store.moment(Self.group)).clears != moment.clears)
  }

  @Test("a change that breaks midway is left to the next holder of the index lock, as after a kill")
  func pending() throws {
    // btrfs, where each page is asked for before it is written.
    let calls = FaultyCalls(.number(EIO), fileSystem: 0x9123_683E)
    func user(_ calls: any SystemCalls) throws -> any RecordStore {
      try Store.records(try StoreDirectory(folder.path, trusts: false, calls), Store.Options())
    }
    let (own, other) = (try user(calls), try user(LinuxCalls()))
    func keep(_ number: Int, _ user: any RecordStore) throws {
      _ = try Self.payload(number).withBytes { (bytes) throws(StoreFault) in
        try user.commit(Self.key(number), PayloadShape(), [bytes])
      }
    }
    try keep(0, own)
    try keep(1, other)
    let index = try #require(own.index)
    let start = index.slots - index.base
    let bytes = try folder.read("index")
    // When all is said to be writable, the slots go: what is going to be is written down, and then can't be done.
    let path = folder.path + "/index"
    calls.interfere(populating: index.entry(0)) { truncate(path, off_t(start)) }
    #expect(throws: StoreFault.self) { try keep(2, own) }
    #expect(index.isBroken)
    #expect(own.lookup(Self.key(2)) == nil)
    try cut("index", to: bytes.count)
    try folder.poke("index", at: start, Array(bytes[start...]))
    try keep(3, other)
    // As after a kill it may be there; what the index names is there in any case.
    #expect(other.lookup(Self.key(2))?.copied() == Self.payload(2))
    eventually("the other's") { (try? keep(4, own)) != nil }
    for user in [own, other] {
      for number in 0..<5 {
        #expect(user.lookup(Self.key(number))?.copied() == Self.payload(number), "\(number)")
      }
    }
    #expect(own.index?.identity == other.index?.identity)
    own.finish()
    other.finish()
  }

  @Test("a record is written by system calls if the pack's mapped window was truncated")
  func window() throws {
    let calls = FaultyCalls(.number(EIO), fileSystem: 0x5846_5342)
    let store = try Store.open(folder.path, .init(diskBytes: 256 << 20), calls)
    // Into the second window's piece.
    for number in 0..<600 { try store.commit(Self.key(number), content(UInt64(number), 8000)) }
    let name = "packs/" + (try #require(folder.files().first))
    let size = try folder.read(name).count
    try cut(name, to: 4 << 20)
    let lease = try? store.commit(Self.key(1000), content(1000, 8000))
    #expect(lease != nil)
    eventually("kept") { (try? store.bytes(Self.key(1000))) == content(1000, 8000) }
    for number in 0..<450 { #expect(try store.bytes(Self.key(number)) == content(UInt64(number), 8000)) }
    try cut(name, to: size)
    store.close()
    #expect(try Store.open(folder.path).bytes(Self.key(1000)) == content(1000, 8000))
  }

  @Test("a store tries to read an unreadable index again at most every 100 ms")
  func pace() throws {
    let calls = FaultyCalls(.number(EIO), fileSystem: Self.magic)
    let store = try Store.open(folder.path, .init(), calls)
    for number in 0..<Self.count { try store.commit(Self.key(number), Self.payload(number)) }
    calls.refuseOpening("index", EIO)
    try cut("index", to: 0)
    #expect(try store.lookup(Self.key(0)) == nil)
    let (openings, begin) = (calls.openings, ContinuousClock.now)
    for _ in 0..<20_000 { _ = try store.lookup(Self.key(0)) }
    let most = Int((ContinuousClock.now - begin) / .milliseconds(100)) + 2
    // Each look opens the lock, the index, or both.
    #expect(calls.openings - openings <= 4 * most)
  }

  @Test("threads read no wrong bytes and don't crash while index and lock files shrink and grow")
  func threads() throws {
    let store = try opened()
    let isOver = Atomic(false)
    let wrong = Atomic(0)
    var dice = Dice(newSeed())
    let names = ["index", "locks"]
    let thread = { @Sendable (number: Int) in
      var dice = Dice(UInt64(number))
      while !isOver.load(ordering: .relaxed) {
        let record = Int(dice.next() % UInt64(Self.count))
        switch dice.next() % 12 {
        case 0: _ = try? store.commit(Self.key(record), Self.payload(record))
        case 1: _ = try? store.moment(Self.group)
        case 2 where number == 1: _ = try? store.remove(Self.key(record))
        default:
          if !self.isRight(store, record) { wrong.wrappingAdd(1, ordering: .relaxed) }
        }
      }
    }
    let done = DispatchGroup()
    for number in 1...3 {
      DispatchQueue.global().async(group: done) { thread(number) }
    }
    for _ in 0..<60 {
      let name = names[Int(dice.next() % UInt64(names.count))]
      let fd = open(folder.path + "/" + name, O_RDWR)
      guard fd >= 0, let bytes = try? folder.read(name) else { continue }
      ftruncate(fd, off_t(dice.next() % 3) * 4096)
      usleep(10_000)
      // The same file, even if another one has its name by now.
      if dice.next() % 2 == 0 { pwrite(fd, bytes, bytes.count, 0) }
      close(fd)
      usleep(10_000)
    }
    isOver.store(true, ordering: .relaxed)
    done.wait()
    #expect(wrong.load(ordering: .relaxed) == 0)
    try recovers(store, "afterwards", finds: false)
  }
}
