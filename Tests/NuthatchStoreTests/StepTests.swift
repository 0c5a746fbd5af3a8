import Foundation
import Testing

@testable import NuthatchStore

/// A process that is killed after any number of the instructions of a commit, or of a removal, in a pack that is written
/// through memory: also between writing, publishing and retiring, where it makes no system call.
@Suite("Processes killed at an instruction", .serialized) struct StepTests {
  private static let limit = 1 << 30

  private static func filler(_ number: UInt64) -> [UInt8] {
    [UInt8](repeating: 9, count: number < 34 ? 60_000 : 8000)
  }

  private static func key(_ number: UInt64) -> RecordKey {
    RecordKey(RecordKind.allCases[Int(number % 3)], "key \(number)")
  }

  private static func small(_ key: UInt64, _ version: UInt64) -> [UInt8] {
    ([key, version] + (0..<100).map { key &* 77 &+ version &* 1001 &+ $0 }).withUnsafeBytes { Array($0) }
  }

  @Test(
    "a process killed at any instruction of a commit or removal has done all of it or nothing",
    .enabled(if: !isSanitized, "Sanitizers add far more instructions"),
    arguments: [("keep", 55_000), ("replace", 75_000), ("remove", 80_000), ("piece", 100_000)])
  func killed(_ what: String, _ steps: Int) throws {
    let seed = newSeed()
    var dice = Dice(seed)
    for round in 1...crashRounds(2) {
      let count = Int.random(in: 0..<steps, using: &dice)
      let note: Comment = "seed \(seed), round \(round): \(what), \(count) instructions"
      let folder = try Folder()
      // In every other round a store has the directory open all the while, so that no first opening repairs it.
      let witness = round % 2 == 0 ? try Store.open(folder.path, .init(diskBytes: Self.limit)) : nil
      let victim = try Victim(["steps", folder.path, what, "\(count)"])
      let said = victim.end()
      // On this machine no process may trace another one.
      if victim.process.terminationStatus == 5 { return }
      #expect(victim.process.terminationStatus == 0, note)
      let isDone = said.last?.hasPrefix("count") == true
      #expect(isDone || said.last == "killed", note)
      let store = try witness ?? Store.open(folder.path)
      try check(store, what, isDone, note)
      store.close()
      try folder.remove("index")
      let again = try Store.open(folder.path)
      try check(again, "", true, note)
      #expect(try again.verify().recovered == 0, note)
      let statistics = try again.statistics()
      #expect(try again.verify().intact == statistics.meta + statistics.bodies + statistics.thumbs, note)
    }
  }

  /// Looks at all records, and then replaces those that the killed process was writing.
  private func check(_ store: Store, _ what: String, _ isDone: Bool, _ note: Comment) throws {
    for number in 0..<42 as Range<UInt64> {
      #expect(try store.bytes(Self.key(1000 + number * 3)) == Self.filler(number), note)
    }
    for number in [7, 10, 13, 16] as [UInt64] {
      #expect(try store.bytes(Self.key(number)) == Self.small(number, 1), note)
    }
    let (old, new) = (try store.bytes(Self.key(4)), try store.bytes(Self.key(301)))
    let (first, second) = (Self.small(4, 1), Self.small(4, 2))
    switch what {
    case "remove": #expect(old == nil || (!isDone && old == first), note)
    case "replace": #expect(old == second || (!isDone && old == first), note)
    case "": #expect(old == Self.small(4, 3) && new == Self.small(301, 3), note)
    default:
      #expect(old == first, note)
      let wanted = what == "piece" ? Self.filler(40) : Self.small(301, 1)
      #expect(new == wanted || (!isDone && new == nil), note)
    }
    let report = try store.verify()
    // The header comes last: there is nothing torn to be found.
    #expect(report.damaged == 0 && report.unreadable == 0, note)
    for number in [4, 301] as [UInt64] {
      try store.commit(Self.key(number), Self.small(number, 3))
      #expect(try store.bytes(Self.key(number)) == Self.small(number, 3), note)
    }
  }
}
