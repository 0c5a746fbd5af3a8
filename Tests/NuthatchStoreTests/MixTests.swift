import Foundation
import Testing

@testable import NuthatchStore

/// Processes of several threads that do everything at once and are killed at any time.
@Suite("Killed processes with several threads", .serialized) struct MixTests {
  @Test(
    "killed processes with several threads give no wrong bytes and keep to the disk limit",
    arguments: [8 << 20, 96 << 20])
  func mix(_ limit: Int) throws {
    let folder = try Folder()
    let seed = newSeed()
    var dice = Dice(seed)
    try Store.open(folder.path, .init(diskBytes: limit)).close()
    for round in 1...crashRounds(4) {
      let note: Comment = "seed \(seed), round \(round)"
      let victims = try (0..<3).map {
        try Victim(["mix", folder.path, "\($0)", "\(seed % 1000 + UInt64(round))"])
      }
      usleep(UInt32.random(in: 50_000..<1_500_000, using: &dice))
      // The index is deleted while it is in use.
      if round % 3 == 0 { try? folder.remove("index") }
      usleep(UInt32.random(in: 0..<300_000, using: &dice))
      for victim in victims.shuffled(using: &dice) {
        #expect(victim.kill().isEmpty, note)
        #expect(victim.process.terminationStatus == SIGKILL, note)
      }
      let capacity = Limits(disk: limit).packCapacity
      #expect(folder.allocated <= limit + victims.count * 2 * capacity + (2 << 20), note)
      let begin = ContinuousClock.now
      let store = try Store.open(folder.path)
      #expect(ContinuousClock.now - begin < .seconds(60), note)
      // A process may die in the middle of one record of each family.
      #expect(try store.verify().damaged <= 2 * victims.count, note)
      let report = try store.verify()
      #expect(report.damaged == 0 && report.recovered == 0 && report.unreadable == 0, note)
      let statistics = try store.statistics()
      #expect(report.intact == statistics.meta + statistics.bodies + statistics.thumbs, note)
      #expect(folder.files().count == statistics.packs, note)
      store.close()
      // What the killed ones had reserved is given back.
      #expect(folder.allocated <= statistics.diskBytes + (2 << 20), note)
    }
  }
}
