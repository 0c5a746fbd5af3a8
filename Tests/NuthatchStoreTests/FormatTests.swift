import CSystem
import Foundation
import Testing

@testable import NuthatchStore

/// Compares the store with `support/store_format.py`, a reader and writer that knows docs/FORMAT.md only.
@Suite("The format of the directory (docs/FORMAT.md)") struct FormatTests {
  /// The properties of a record that both sides report.
  private struct Record: Hashable, Decodable {
    var kind: Int
    var key: String
    var form: Int
    var width: Int
    var height: Int
    var sequence: Int
    var length: Int
    var digest: String
  }

  private struct Reading: Decodable {
    var scanned: [Record]
    var named: [Record]?
    var limit: Int?
    var due: [String]
    var problems: [String]
  }

  @discardableResult
  private static func run(_ words: [String]) throws -> Data {
    let process = Process()
    let pipe = Pipe()
    let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("support/store_format.py")
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", script.path] + words
    process.standardOutput = pipe
    try process.run()
    let said = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(words)")
    return said
  }

  private static func read(_ folder: Folder) throws -> Reading {
    try JSONDecoder().decode(Reading.self, from: try run(["read", folder.path]))
  }

  private static func records(_ store: Store) throws -> Set<Record> {
    var found: Set<Record> = []
    try store.forEach { key, lease in
      let hex = key.bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
      found.insert(
        Record(
          kind: Int(key.kind.rawValue), key: hex, form: Int(lease.shape.form), width: Int(lease.shape.width),
          height: Int(lease.shape.height), sequence: Int(lease.sequence), length: lease.count,
          digest: lease.withBytes { String(nhs_hash64($0.baseAddress, $0.count, 4711)) }))
      return true
    }
    return found
  }

  @Test("a reader made from docs/FORMAT.md finds all records, the limit and the posted removals")
  func read() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: 256 << 20))
    var dice = Dice(11)
    for number in 0..<3000 {
      let key = RecordKey(RecordKind.allCases[number % 3], "key \(number % 2500)")
      let size = number % 50 == 0 ? 60_000 : Int.random(in: 0..<3000, using: &dice)
      let shape = PayloadShape(form: UInt8(number & 255), width: UInt32(number), height: 7)
      try store.commit(key, shape: shape, content(UInt64(number), size))
      if number % 7 == 0 { try store.remove(key) }
      if number % 11 == 0 { _ = try store.lookup(key) }
    }
    try store.commit(RecordKey(.body, content(1, 65_535)), content(2, 9 << 20))
    let kept = try Self.records(store)
    // Removals that are due, of which some were done.
    let groups = (1...64).map { RecordGroup(low: UInt64($0), high: 0xA << 56) }
    for group in groups { #expect(store.disk.due.posted?.post(group) != nil) }
    for post in store.disk.due.posted?.all ?? [] where post.group.low.isMultiple(of: 2) {
      store.disk.due.posted?.takeBack(post)
    }
    store.close()
    let reading = try Self.read(folder)
    #expect(reading.problems.isEmpty)
    #expect(reading.limit == 256 << 20)
    #expect(reading.due.count == 32 && reading.due.contains("0300000000000000000000000000000a"))
    #expect(kept.count > 2000)
    #expect(Set(reading.scanned) == kept)
    #expect(Set(reading.named ?? []) == kept)
  }

  @Test("packs that a writer made from docs/FORMAT.md are read and appended to")
  func write() throws {
    let folder = try Folder()
    try Self.run(["write", folder.path])
    let store = try Store.open(folder.path)
    #expect(try store.statistics().diskLimit == 77 << 20)
    #expect(try store.bytes(RecordKey(.meta, "key")) == Array("first".utf8))
    #expect(try store.lookup(RecordKey(.meta, "key"))?.shape == PayloadShape(form: 7, width: 40, height: 30))
    #expect(try store.bytes(RecordKey(.meta, "gone")) == nil)
    let long = RecordKey(.thumb, String(repeating: "k", count: 300))
    #expect(try store.bytes(long) == (0..<25_600).map { UInt8($0 & 255) })
    #expect(try store.bytes(RecordKey(.body, "key")) == [])
    let report = try store.verify()
    #expect(report.intact == 3 && report.damaged == 0 && report.gaps == 1)
    // The next ones go on behind them, and the next pack has a later number.
    try store.commit(RecordKey(.meta, "more"), content(1, 100))
    #expect(folder.files() == ["00000003.pack", "00000012.pack"])
    try store.commit(RecordKey(.meta, "more still"), content(1, 3 << 20))
    let numbers = folder.files().compactMap(PackName.number)
    #expect(numbers.count == 3 && numbers.contains { $0 > 12 && $0 <= 12 + 1 << 24 })
    store.close()
    #expect(try Self.read(folder).problems.isEmpty)
  }
}
