import Glibc
import Testing

@testable import NuthatchStore

/// `checksAlways`: a disk may change bytes without a word after they were checked.
@Suite("Stores with checksAlways") struct CheckedBytesTests {
  private static let count = 4
  let folder: Folder
  init() throws { folder = try Folder() }

  private static func key(_ number: Int) -> RecordKey { RecordKey(.body, "checked \(number)") }
  private static func payload(_ number: Int) -> [UInt8] { content(UInt64(number), 9000) }

  private func opened(_ checksAlways: Bool?) throws -> Store {
    try Store.open(folder.path, .init(diskBytes: 4 << 20, checksAlways: checksAlways))
  }

  private func change(_ number: Int) throws {
    let name = "packs/" + (try #require(folder.files().first))
    let (bytes, payload) = (try folder.read(name), Self.payload(number))
    let at = try #require(
      (0..<bytes.count - payload.count).first { bytes[$0..<$0 + payload.count].elementsEqual(payload) })
    try folder.poke(name, at: at + 5000, [payload[5000] ^ 1])
  }

  @Test("checksAlways turns a record whose bytes changed on disk into a miss, in this store only")
  func always() throws {
    let (store, other) = (try opened(true), try opened(false))
    for number in 0..<Self.count { try store.commit(Self.key(number), Self.payload(number)) }
    let held = try #require(try store.lookup(Self.key(1)))
    #expect(try store.keep(Self.key(2), #require(try store.lookup(Self.key(2)))))
    for number in 0..<Self.count { #expect(try other.lookup(Self.key(number)) != nil) }
    for number in 1...2 { try change(number) }
    for number in 1...2 { #expect(try store.lookup(Self.key(number)) == nil) }
    // What is in memory is a copy.
    #expect(try store.recall(Self.key(2))?.copied() == Self.payload(2))
    for number in [0, 3] { #expect(try store.lookup(Self.key(number))?.copied() == Self.payload(number)) }
    #expect(held.copied() == Self.payload(1) && !held.isBroken)
    // What was checked once is believed for the rest of the session.
    #expect(try other.lookup(Self.key(1))?.copied() != Self.payload(1))
    #expect(!other.disk.locks.file.hasLosses && !other.disk.openPacks.trust.isOver)
  }

  @Test("a store with checksAlways tells other stores when a write fails")
  func losses() throws {
    let calls = FaultyCalls(.number(EIO))
    let store = try Store.open(folder.path, .init(checksAlways: true), calls)
    let other = try opened(nil)
    try store.commit(Self.key(0), Self.payload(0))
    #expect(try other.lookup(Self.key(0)) != nil && !other.disk.openPacks.trust.isOver)
    calls.failWrites(1)
    try store.commit(Self.key(1), Self.payload(1))
    #expect(try other.lookup(Self.key(0)) != nil && other.disk.openPacks.trust.isOver)
  }

  @Test("checksAlways outlives the directory's deletion; opening it with checksAlways off is a conflict")
  func deleted() throws {
    let store = try opened(true)
    try store.commit(Self.key(0), Self.payload(0))
    #expect(try store.conflict(with: .init(checksAlways: false)) == "check_bytes")
    #expect(
      try store.conflict(with: .init(checksAlways: true)) == nil && store.conflict(with: .init()) == nil)
    for name in ["packs", "index", "locks"] { try folder.remove(name) }
    store.current.lookForDeletion()
    try store.commit(Self.key(0), Self.payload(0))
    #expect(try store.lookup(Self.key(0)) != nil)
    try change(0)
    #expect(try store.lookup(Self.key(0)) == nil && store.checksAlways)
  }
}
