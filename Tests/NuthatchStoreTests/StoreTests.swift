import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("Stores") struct StoreTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  @Test("a store returns a record and its shape, also after it is opened again")
  func keeps() throws {
    let key = RecordKey(.thumb, "a nut")
    let store = try Store.open(folder.path)
    #expect(try store.lookup(key) == nil)
    let shape = PayloadShape(form: 3, width: 20, height: 10)
    let made = try store.commit(key, shape: shape, content(1, 800))
    #expect(made.copied() == content(1, 800))
    #expect(UInt(bitPattern: made.unsafeBytes.baseAddress) % 16 == 0)
    for _ in 0..<3 {
      let lease = try #require(try store.lookup(key))
      #expect(lease.copied() == content(1, 800))
      #expect(lease.shape == shape)
    }
    store.close()
    let again = try Store.open(folder.path)
    #expect(try again.bytes(key) == content(1, 800))
    #expect(try again.lookup(key)?.shape == shape)
  }

  @Test("a store keeps kinds apart and takes payloads in parts, empty payloads and long keys")
  func kinds() throws {
    let store = try Store.open(folder.path)
    for (number, kind) in RecordKind.allCases.enumerated() {
      try store.commit(RecordKey(kind, "same"), content(UInt64(number), 100 + number))
    }
    for (number, kind) in RecordKind.allCases.enumerated() {
      #expect(try store.bytes(RecordKey(kind, "same")) == content(UInt64(number), 100 + number))
    }
    let parts = [content(7, 1000), [], content(8, 33)]
    try parts[0].withUnsafeBytes { first in
      try parts[2].withUnsafeBytes { last in
        _ = try store.commit(
          RecordKey(.body, "parts"), parts: [first, UnsafeRawBufferPointer(start: nil, count: 0), last])
      }
    }
    #expect(try store.bytes(RecordKey(.body, "parts")) == parts[0] + parts[2])
    try store.commit(RecordKey(.meta, "empty"), [])
    #expect(try store.bytes(RecordKey(.meta, "empty")) == [])
    let long = RecordKey(.meta, content(9, 65_535))
    try store.commit(long, [1])
    #expect(try store.bytes(long) == [1])
    for bad in [RecordKey(.meta, [UInt8]()), RecordKey(.meta, content(9, 65_536))] {
      #expect(throws: StoreFault.self) { try store.commit(bad, [1]) }
      #expect(try store.lookup(bad) == nil)
    }
  }

  @Test("a replaced or removed record doesn't come back when the index is made anew")
  func replaces() throws {
    let key = RecordKey(.meta, "key")
    let other = RecordKey(.meta, "other")
    var store = try Store.open(folder.path)
    try store.commit(key, [1])
    let old = try #require(try store.lookup(key))
    try store.commit(key, [2])
    try store.commit(other, [3])
    #expect(try store.bytes(key) == [2])
    #expect(old.copied() == [1])
    #expect(try store.remove(other))
    #expect(try !store.remove(other))
    #expect(try store.statistics().meta == 1)
    store.close()
    try folder.remove("index")
    store = try Store.open(folder.path)
    #expect(try store.bytes(key) == [2])
    #expect(try store.lookup(other) == nil)
    try store.remove(key)
    store.close()
    try folder.remove("index")
    store = try Store.open(folder.path)
    #expect(try store.lookup(key) == nil)
    #expect(try store.statistics().meta == 0)
  }

  @Test("a large record has a pack of its own")
  func large() throws {
    let store = try Store.open(folder.path)
    let key = RecordKey(.body, "large")
    let payload = content(5, 9 << 20)
    try store.commit(key, payload)
    try store.commit(RecordKey(.body, "small"), [1])
    #expect(try store.bytes(key) == payload)
    #expect(folder.files().count == 2)
    store.close()
    try folder.remove("index")
    let again = try Store.open(folder.path)
    #expect(try again.bytes(key) == payload)
    #expect(try again.verify().isClean)
    #expect(throws: StoreFault.self) {
      try again.commit(key, content(1, (4 << 20) + 1))
      try Store.open(try Folder().path, .init(diskBytes: 16 << 20)).commit(key, content(1, (4 << 20) + 1))
    }
  }

  @Test("a new pack skips numbers whose file names are taken", arguments: [100, 700_000])
  func numbers(_ size: Int) throws {
    let store = try Store.open(folder.path, .init(diskBytes: 8 << 20))
    for name in ["00000001.pack", "00000002.tmp"] {
      _ = FileManager.default.createFile(atPath: folder.path + "/packs/" + name, contents: Data([1, 2, 3]))
    }
    let key = RecordKey(.body, "k")
    try store.commit(key, content(1, size))
    #expect(try store.bytes(key) == content(1, size))
    // The .tmp file, which no process is writing, is deleted by then.
    #expect(folder.files() == ["00000001.pack", "00000003.pack"])
    #expect(try folder.read("packs/00000001.pack") == [1, 2, 3])
  }

  @Test("two handles on one directory share its records until each is closed")
  func shared() throws {
    let link = folder.path + "-link"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: folder.path)
    defer { try? FileManager.default.removeItem(atPath: link) }
    let one = try Store.open(folder.path)
    let two = try Store.open(link)
    try one.commit(RecordKey(.meta, "k"), [1])
    #expect(try two.bytes(RecordKey(.meta, "k")) == [1])
    try two.remove(RecordKey(.meta, "k"))
    #expect(try one.bytes(RecordKey(.meta, "k")) == nil)
    try one.commit(RecordKey(.meta, "k"), [1])
    one.close()
    #expect(throws: StoreFault.closed) { try one.lookup(RecordKey(.meta, "k")) }
    #expect(try two.bytes(RecordKey(.meta, "k")) == [1])
    two.close()
  }

  @Test("the disk limit is kept in the directory")
  func limit() throws {
    try Store.open(folder.path, .init(diskBytes: 64 << 20)).close()
    let store = try Store.open(folder.path)
    #expect(try store.statistics().diskLimit == 64 << 20)
    store.close()
    try folder.remove("limits")
    #expect(try Store.open(folder.path).statistics().diskLimit == 4 << 30)
  }

  @Test("a lease stays readable after a removal, a clear and a close")
  func leases() throws {
    let store = try Store.open(folder.path)
    let key = RecordKey(.thumb, "k")
    let lease = try store.commit(key, content(3, 5000))
    try store.remove(key)
    try store.clear()
    #expect(try store.lookup(key) == nil)
    #expect(try store.statistics().pinnedBytes > 0)
    #expect(folder.files().isEmpty)
    try store.commit(key, [1])
    #expect(try store.bytes(key) == [1])
    store.close()
    #expect(lease.copied() == content(3, 5000))
  }

  @Test("a store with few records takes little disk space, also over several openings")
  func small() throws {
    let store = try Store.open(folder.path)
    try store.commit(RecordKey(.body, "b"), content(1, 20_000))
    try store.commit(RecordKey(.meta, "m"), content(2, 500))
    try store.commit(RecordKey(.thumb, "t"), content(3, 8000))
    store.close()
    #expect(folder.allocated < 200_000)
    // The next one goes on in the same packs.
    for number in 0..<5 {
      let store = try Store.open(folder.path)
      try store.commit(RecordKey(.body, "b\(number)"), content(1, 20_000))
      store.close()
    }
    #expect(folder.files().count == 2)
    #expect(folder.allocated < 300_000)
  }

  @Test("forEach lists each record once and stops when it is told")
  func lists() throws {
    let store = try Store.open(folder.path)
    for number in 0..<100 { try store.commit(RecordKey(.meta, "\(number)"), content(UInt64(number), number)) }
    try store.commit(RecordKey(.body, "b"), [1])
    try store.remove(RecordKey(.meta, "50"))
    try store.commit(RecordKey(.meta, "51"), [1])
    var found: [RecordKey: [UInt8]] = [:]
    try store.forEach(.meta) { key, lease in
      #expect(found.updateValue(lease.copied(), forKey: key) == nil)
      return true
    }
    #expect(found.count == 99)
    #expect(found[RecordKey(.meta, "51")] == [1])
    #expect(found[RecordKey(.meta, "7")] == content(7, 7))
    var count = 0
    try store.forEach { _, _ in
      count += 1
      return count < 10
    }
    #expect(count == 10)
  }

  @Test("a store finds every record while its index grows and after removals")
  func grows() throws {
    let store = try Store.open(folder.path)
    let count = 20_000
    for number in 0..<count {
      try store.commit(RecordKey(.meta, "key \(number)"), content(UInt64(number), 24))
    }
    for number in 0..<count {
      #expect(try store.bytes(RecordKey(.meta, "key \(number)")) == content(UInt64(number), 24))
    }
    #expect(try store.statistics().meta == count)
    for number in 0..<count where number % 3 != 0 { try store.remove(RecordKey(.meta, "key \(number)")) }
    for number in 0..<count {
      #expect(try (store.lookup(RecordKey(.meta, "key \(number)")) != nil) == (number % 3 == 0))
    }
    store.close()
    try folder.remove("index")
    let again = try Store.open(folder.path)
    #expect(try again.statistics().meta == (count + 2) / 3)
    #expect(try again.verify().isClean)
  }
}
