import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("Files of another version") struct VersionTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  private static let limit = 8 << 20
  private static func key(_ number: Int) -> RecordKey {
    RecordKey(RecordKind.allCases[number % 3], "key \(number)")
  }

  private func fill() throws {
    let store = try Store.open(folder.path, .init(diskBytes: Self.limit))
    for number in 0..<60 { try store.commit(Self.key(number), content(UInt64(number), 2000)) }
    store.close()
  }

  private func found(_ store: Store) throws -> Int {
    var found = 0
    for number in 0..<60 {
      guard let bytes = try store.bytes(Self.key(number)) else { continue }
      #expect(bytes == content(UInt64(number), 2000))
      found += 1
    }
    return found
  }

  /// Makes a file say that it is of this version, as a program would that has it: with the right checksum.
  private func say(_ version: UInt32, _ name: String) throws {
    var head = Array(try folder.read(name).prefix(64))
    head.withUnsafeMutableBytes {
      $0.store(version, at: 8)
      $0.store(nhs_hash64($0.baseAddress, 56, 0), at: 56)
    }
    try folder.poke(name, at: 0, head)
  }

  @Test(
    "packs of another version are left alone until a clear, and whole for a program that knows them",
    arguments: [1, 4, 9] as [UInt32])
  func packs(_ version: UInt32) throws {
    try fill()
    let names = folder.files().map { "packs/" + $0 }
    // A program of that version has written its index, too.
    for name in names { try say(version, name) }
    try say(99, "index")
    let before = try names.map(folder.read)
    for isIndexThere in [true, false] {
      if !isIndexThere { try folder.remove("index") }
      let store = try Store.open(folder.path)
      #expect(try found(store) == 0)
      #expect(try store.verify().unreadable == names.count)
      // Their records aren't this version's, nor are their numbers free.
      for number in 100..<400 { try store.commit(Self.key(number), content(UInt64(number), 50_000)) }
      #expect(try store.bytes(Self.key(399)) == content(399, 50_000))
      #expect(try store.statistics().droppedPacks > 0)
      try store.trim(to: 0)
      store.close()
      #expect(try names.map(folder.read) == before)
    }
    // A program that knows the version finds all records.
    for name in names { try say(PackHeader.version, name) }
    let store = try Store.open(folder.path)
    #expect(try found(store) == 60)
    for name in names { try say(version, name) }
    // A clear deletes packs of any version.
    try store.clear()
    #expect(folder.files().isEmpty)
  }

  @Test(
    "an index of another version is made anew, and a limits file of another version is ignored",
    arguments: [1, 3, 9] as [UInt32])
  func others(_ version: UInt32) throws {
    try fill()
    try say(version, "index")
    var store = try Store.open(folder.path)
    #expect(try found(store) == 60)
    #expect(try store.statistics().diskLimit == Self.limit)
    store.close()
    #expect(try folder.read("index")[8] == UInt8(IndexLayout.version))
    try say(version == 1 ? 2 : version, "limits")
    let before = try folder.read("limits")
    try folder.remove("index")
    store = try Store.open(folder.path)
    #expect(try store.statistics().diskLimit == 4 << 30)
    #expect(try found(store) == 60)
    store.close()
    #expect(try folder.read("limits") == before)
  }
}
