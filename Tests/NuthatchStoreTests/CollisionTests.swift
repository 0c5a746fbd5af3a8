import CSystem
import Foundation
import Testing

@testable import NuthatchStore

@Suite("Keys with the same home slot in the index") struct CollisionTests {
  /// What a store has to hold, and to have counted since it was opened.
  private struct Model {
    struct Value {
      var version: UInt64
      var size: Int
      var bytes: [UInt8] { content(version, size) }
    }

    var values: [RecordKey: Value] = [:]
    var commits = 0

    func count(_ kind: RecordKind) -> Int { values.keys.reduce(0) { $1.kind == kind ? $0 + 1 : $0 } }
    var bytes: Int { values.values.reduce(0) { $0 + $1.size } }
  }

  private static let keys =
    CollidingKeys.metas.prefix(80) + CollidingKeys.bodies.prefix(60) + CollidingKeys.thumbs.prefix(60)

  /// One pack of each family is what they fill.
  private static let options = Store.Options(diskBytes: 64 << 20)

  private func compare(_ store: Store, _ model: Model, _ note: Comment) throws {
    let statistics = try store.statistics()
    #expect(statistics.meta == model.count(.meta), note)
    #expect(statistics.bodies == model.count(.body), note)
    #expect(statistics.thumbs == model.count(.thumb), note)
    #expect(statistics.commits == model.commits, note)
    #expect(statistics.droppedPacks == 0, note)
  }

  private func verify(_ store: Store, _ model: Model, _ note: Comment) throws {
    let report = try store.verify()
    #expect(report.isClean, note)
    #expect(report.intact == model.values.count, note)
    #expect(report.bytes == model.bytes, note)
  }

  @Test(
    "a store of colliding keys matches a dictionary after random operations, with exact counts",
    arguments: 0..<modelRuns(3))
  func model(_ run: Int) throws {
    let seed = newSeed() &+ UInt64(run)
    var dice = Dice(seed)
    let folder = try Folder()
    var store = try Store.open(folder.path, Self.options)
    var model = Model()
    let keys = Self.keys
    let home = try #require(store.disk.current.index?.place(of: keys[0].hash))
    #expect(keys.count == 200 && keys.allSatisfy { store.disk.current.index?.place(of: $0.hash) == home })
    for step in 0..<600 {
      let note: Comment = "seed \(seed), step \(step)"
      let key = keys.randomElement(using: &dice) ?? keys[0]
      switch Int.random(in: 0..<200, using: &dice) {
      case 0..<90:
        let value = Model.Value(version: dice.next(), size: Int.random(in: 0..<3000, using: &dice))
        try store.commit(key, value.bytes)
        model.values[key] = value
        model.commits += 1
      case 90..<120:
        #expect(try store.remove(key) == (model.values.removeValue(forKey: key) != nil), note)
      case 120..<130:
        #expect(try store.touch(key) == (model.values[key] != nil), note)
      case 130..<134:
        store.close()
        if Bool.random(using: &dice) { try? folder.remove("index") }
        store = try Store.open(folder.path)
        model.commits = 0
      case 134:
        // The index is deleted while it is in use.
        try? folder.remove("index")
      case 135:
        try store.clear()
        model.values = [:]
      case 136..<138:
        // Drops all packs that no other store appends to, which are all.
        try store.trim(to: 0)
        let dropped = try store.statistics().droppedRecords
        #expect(dropped == model.values.count, note)
        store.close()
        store = try Store.open(folder.path)
        (model.values, model) = ([:], Model())
      case 138..<140: try verify(store, model, note)
      default:
        let lease = try store.lookup(key)
        #expect(lease?.copied() == model.values[key]?.bytes, note)
      }
      if step % 20 == 0 { try compare(store, model, note) }
    }
    for key in keys {
      let lease = try store.lookup(key)
      #expect(lease?.copied() == model.values[key]?.bytes, "seed \(seed)")
    }
    try compare(store, model, "seed \(seed)")
    try verify(store, model, "seed \(seed)")
    store.close()
  }

  // MARK: - More than there can be room for

  private static let reach = IndexLayout.maxProbeLength
  private static func bytes(_ number: Int) -> [UInt8] { content(UInt64(number), 8) }
  /// What an index may take that has room for so few records.
  private static let most = (1 << 17) * IndexLayout.slotSize + (64 << 10)

  @Test("colliding keys beyond the longest probe are refused, other keys aren't")
  func refused() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, Self.options)
    let keys = CollidingKeys.metas
    var refused: [Int] = []
    for (number, key) in keys.enumerated() {
      do { try store.commit(key, Self.bytes(number)) } catch { refused.append(number) }
    }
    #expect(refused == Array(Self.reach..<keys.count))
    for number in 0..<50 { try store.commit(RecordKey(.meta, "other \(number)"), Self.bytes(number)) }
    func check(_ store: Store, _ note: Comment) throws {
      for (number, key) in keys.enumerated() {
        #expect(try store.bytes(key) == (number < Self.reach ? Self.bytes(number) : nil), note)
      }
      for number in 0..<50 {
        #expect(try store.bytes(RecordKey(.meta, "other \(number)")) == Self.bytes(number), note)
      }
      #expect(try store.verify().isClean, note)
      #expect(try folder.read("index").count <= Self.most, note)
    }
    try check(store, "at once")
    store.close()
    try folder.remove("index")
    let again = try Store.open(folder.path)
    try check(again, "from the packs")
    // A removal makes room for another key.
    #expect(try again.remove(keys[0]))
    try again.commit(keys[keys.count - 1], [1, 2, 3])
    #expect(try again.bytes(keys[keys.count - 1]) == [1, 2, 3])
    again.close()
  }

  @Test(
    "packs with more colliding keys than an index can hold neither bloat it nor block new records",
    arguments: [false, true])
  func packs(_ isIndexThere: Bool) throws {
    let (folder, other) = (try Folder(), try Folder())
    let keys = CollidingKeys.metas
    func fill(_ folder: Folder, _ part: Range<Int>, isSecond: Bool) throws {
      let store = try Store.open(folder.path, Self.options)
      if isSecond {
        // So that its packs have numbers that the others haven't.
        try store.commit(keys[0], [1])
        try store.clear()
      }
      for number in part { try store.commit(keys[number], Self.bytes(number)) }
      if !isSecond { try store.commit(RecordKey(.meta, "other"), [7]) }
      store.close()
    }
    try fill(folder, 0..<keys.count / 2, isSecond: false)
    try fill(other, keys.count / 2..<keys.count, isSecond: true)
    for name in other.files() {
      try FileManager.default.copyItem(
        atPath: other.path + "/packs/" + name, toPath: folder.path + "/packs/" + name)
    }
    if !isIndexThere { try folder.remove("index") }
    func check(_ note: Comment) throws {
      let store = try Store.open(folder.path)
      var found = 0
      for (number, key) in keys.enumerated() {
        guard let bytes = try store.bytes(key) else { continue }
        #expect(bytes == Self.bytes(number), note)
        found += 1
      }
      // The place of the other one may be among them.
      #expect((Self.reach - 1...Self.reach).contains(found), note)
      let report = try store.verify()
      #expect(report.isClean, "\(note), \(report)")
      try store.commit(RecordKey(.meta, "new"), [8])
      #expect(try store.bytes(RecordKey(.meta, "new")) == [8], note)
      #expect(try folder.read("index").count <= Self.most, note)
      store.close()
    }
    try check("at first")
    try folder.remove("index")
    try check("once more")
  }
}
