import Testing

@testable import NuthatchStore

@Suite("Trims") struct TrimTests {
  let folder: Folder
  init() throws { folder = try Folder() }

  /// The records that a store has at first: how many MB, and how long they are.
  struct Case: CustomTestStringConvertible, Sendable {
    let megabytes: Int
    let lengths: ClosedRange<Int>
    let kinds: [RecordKind]
    var limit: Int?

    var testDescription: String { "\(megabytes) MB of \(kinds) with \(lengths) bytes, limit \(limit ?? 0)" }
  }

  static let cases = [
    Case(megabytes: 3, lengths: 100...400, kinds: [.thumb]),
    Case(megabytes: 3, lengths: 2_000...20_000, kinds: [.thumb]),
    Case(megabytes: 21, lengths: 5_000...15_000, kinds: [.thumb, .meta]),
    Case(megabytes: 21, lengths: 20_000...120_000, kinds: [.body, .thumb]),
    Case(megabytes: 21, lengths: 5_000...80_000, kinds: [.body], limit: 32 << 20),
    Case(megabytes: 60, lengths: 30_000...70_000, kinds: [.body, .thumb]),
    Case(megabytes: 60, lengths: 30_000...70_000, kinds: [.thumb], limit: 128 << 20),
    Case(megabytes: 100, lengths: 20_000...120_000, kinds: [.body]),
  ]

  @Test(
    "a trim leaves at most the bytes that it is told, hardly less, and drops the oldest records",
    arguments: cases)
  func amount(_ shape: Case) throws {
    let store = try Store.open(folder.path, .init(diskBytes: shape.limit))
    var dice = Dice(UInt64(shape.megabytes))
    var keys: [RecordKey] = []
    let bytes = content(1, shape.lengths.upperBound + 4096)
    var written = 0
    while written < shape.megabytes * 1_000_000 {
      let length = Int.random(in: shape.lengths, using: &dice)
      let key = RecordKey(shape.kinds[keys.count % shape.kinds.count], "\(keys.count)")
      let start = keys.count % 4096
      try store.commit(key, Array(bytes[start..<start + length]))
      keys.append(key)
      written += length
    }
    let sizes = [90, 64, 48, 33, 20, 15, 14, 9, 5, 3, 2, 1].map { $0 << 20 } + [4096, 0]
    for size in sizes {
      let before = try store.statistics().diskBytes
      try store.trim(to: size)
      let left = try store.statistics().diskBytes
      #expect(left <= max(size, 0))
      let wanted = min(size, before)
      // Large records can't fill a small room.
      if size >= 1 << 20 { #expect(Double(left) >= 0.85 * Double(wanted), "\(left) of \(size)") }
      #expect(left > 0 || size < 1 << 20)
      // Of each family the oldest have gone, and nothing but those.
      for family in [Family.bulk, .small] {
        let isThere = try keys.filter { $0.kind.family == family }.map { try store.lookup($0) != nil }
        // A lookup is a use. It doesn't change the order, since all records are looked up.
        let first = isThere.firstIndex(of: true) ?? isThere.endIndex
        let holes = isThere[first...].count { !$0 }
        #expect(holes <= 24, "\(holes) holes, \(size)")
      }
    }
    #expect(try store.statistics().diskBytes == 0)
    #expect(try store.verify().isClean)
  }

  @Test("a trim keeps used records before unused ones, and the order of the rest")
  func order() throws {
    let store = try Store.open(folder.path)
    let keys = (0..<1000).map { RecordKey(.thumb, "\($0)") }
    for (number, key) in keys.enumerated() { try store.commit(key, content(UInt64(number), 10_000)) }
    for key in keys[100..<200] { try store.touch(key) }
    try store.trim(to: 5_200_000)
    // Uses are used up by this.
    func present(_ range: Range<Int>) -> Int { keys[range].count { store.isThere($0) } }
    #expect(present(100..<200) == 100)
    #expect(present(0..<100) == 0 && present(200..<500) == 0)
    #expect(present(620..<1000) == 380)
    // What comes later is newer than all that stayed.
    let later = (0..<100).map { RecordKey(.thumb, "later \($0)") }
    for (number, key) in later.enumerated() { try store.commit(key, content(UInt64(number), 10_000)) }
    try store.trim(to: 2_100_000)
    #expect(later.count { store.isThere($0) } == 100)
    #expect(present(0..<880) == 0)
    #expect(present(910..<1000) == 90)
    for number in 910..<1000 { #expect(try store.bytes(keys[number]) == content(UInt64(number), 10_000)) }
    #expect(try store.verify().isClean)
  }

  @Test("records keep their order of age through a trim and an index that is made anew")
  func turns() throws {
    let limit = 4 << 30
    var store: Store? = try Store.open(folder.path, .init(diskBytes: limit))
    for number in 0..<150 { try store?.commit(RecordKey(.body, "\(number)"), content(1, 500_000)) }
    // Two packs: of the first one a part stays, in a pack with a higher number.
    try store?.trim(to: 40 << 20)
    store = nil
    try folder.remove("index")
    let again = try Store.open(folder.path)
    let there = (0..<150).filter { again.isThere(RecordKey(.body, "\($0)")) }
    #expect(there.first.map { there == Array($0..<150) } ?? false)
    try again.trim(to: 12 << 20)
    let left = (0..<150).filter { again.isThere(RecordKey(.body, "\($0)")) }
    #expect(left.first.map { $0 > 120 && left == Array($0..<150) } ?? false)
  }
}

@Suite("Disk use at the limit") struct OverflowTests {
  @Test(
    "a store that drops records for its limit uses at least 85 % of the limit",
    arguments: [RecordKind.thumb, .body], isSanitized ? [4 << 20] : [4 << 20, 16 << 20, 64 << 20])
  func use(_ kind: RecordKind, _ limit: Int) throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: limit))
    let bytes = content(1, 40_000)
    var least = 1.0
    var written = 0
    var number = 0
    while written < 2 * limit + limit / 2 {
      let length = 5_000 + number * 7919 % 25_000
      try store.commit(RecordKey(kind, "\(number)"), Array(bytes[..<length]))
      number += 1
      written += length
      let used = try store.statistics().diskBytes
      #expect(used <= limit)
      if written > limit + limit / 2 { least = min(least, Double(used) / Double(limit)) }
    }
    #expect(least >= 0.85, "\(least)")
  }
}
