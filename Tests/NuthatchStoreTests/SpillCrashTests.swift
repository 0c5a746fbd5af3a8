import Foundation
import Testing

@testable import NuthatchStore

/// Processes that keep records in memory and are killed, forked, or told to give memory up.
@Suite("Processes with records in memory", .serialized) struct SpillCrashTests {
  private static func key(_ number: UInt64) -> RecordKey {
    RecordKey(RecordKind.allCases[Int(number % 3)], "key \(number)")
  }

  @Test("a process killed by SIGKILL loses no record that it had flushed, and leaves nothing torn")
  func killed() throws {
    let folder = try Folder()
    let seed = newSeed()
    var dice = Dice(seed)
    var promises = 0
    let usual = crashRounds(10)
    // If no process has flushed anything before its kill, later rounds wait longer and longer.
    for round in 1...usual + 50 where round <= usual || promises == 0 {
      let note: Comment = "seed \(seed), round \(round)"
      let victim = try Victim(["spill", folder.path])
      usleep(UInt32.random(in: 30_000..<200_000, using: &dice) * UInt32(max(1, round - usual + 1)))
      var flushed: [UInt64: UInt64] = [:]
      for line in victim.kill() {
        let words = line.split(separator: " ").compactMap { UInt64($0) }
        if words.count == 2 { flushed[words[0]] = words[1] }
      }
      #expect(victim.process.terminationStatus == SIGKILL, note)
      promises += flushed.count
      let store = try Store.open(folder.path)
      for (number, version) in flushed {
        let found = try store.lookup(Self.key(number))?.withBytes {
          $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        }
        // The last line may be cut; a number that is cut is a smaller one.
        #expect(found ?? 0 >= version, "\(note), key \(number)")
      }
      #expect(try store.verify().damaged <= 1, note)
      #expect(try store.verify().damaged == 0, note)
      try store.clear()
      store.close()
    }
    #expect(promises > 0)
  }

  @Test("the child of a fork has no part in its parent's records in memory, and may have its own")
  func forked() throws {
    let victim = try Victim(["forks", try Folder().path], forks: true)
    let said = try victim.pipe.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) }
    victim.process.waitUntilExit()
    #expect(said == "done\n")
    #expect(victim.process.terminationStatus == 0)
  }

  @Test("memory pressure gives at least nine tenths of the private bytes back to the system")
  func resident() throws {
    let victim = try Victim(["memory", try Folder().path])
    let said =
      try victim.pipe.fileHandleForReading.readToEnd().map { String(decoding: $0, as: UTF8.self) } ?? ""
    victim.process.waitUntilExit()
    #expect(victim.process.terminationStatus == 0, "\(said)")
    let words = said.split { $0 == " " || $0 == "\n" }.compactMap { Int($0) }
    try #require(words.count == 3, "\(said)")
    #expect(words[2] > 40_000)
    // Sanitizers keep what was freed.
    if !isSanitized {
      #expect(words[0] - words[1] > words[2] * 9 / 10, "KiB before, after, private: \(said)")
    }
  }
}
