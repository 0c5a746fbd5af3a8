import Foundation
import Testing

@testable import NuthatchStore

@Suite("Stores whose index is overwritten at random", .serialized) struct HostileProcessTests {
  private static let limit = 8 << 20
  /// What the directory may take: the limit, a pack of each family for each process, and an index, the next one included.
  private static let most = 32 << 20

  private static let headWords = [
    IndexLayout.isReplaced, IndexLayout.drops, IndexLayout.session, IndexLayout.nextSequence,
    IndexLayout.nextPack, IndexLayout.limit, IndexLayout.clearedBefore, IndexLayout.counters,
    IndexLayout.counters + 8, IndexLayout.counters + 16, IndexLayout.counters + 24, IndexLayout.pendingState,
    IndexLayout.pendingSlot, IndexLayout.pendingEntry, IndexLayout.pendingUsed, IndexLayout.pendingCounters,
    IndexLayout.retiringHash, IndexLayout.retiringPack, IndexLayout.retiringOffset, IndexLayout.clears,
  ]
  private static let words: [UInt64] = [
    0, 1, 2, 3, 8, 64, 255, 4095, 1 << 20, 1 << 31, UInt64(UInt32.max), 1 << 32, 1 << 40, 1 << 46, 1 << 60,
    1 << 63, .max, .max - 7,
  ]

  /// Writes something to the index that is there, if there is one.
  private func alter(_ folder: Folder, _ dice: inout Dice) {
    let fd = open(folder.path + "/index", O_RDWR)
    guard fd >= 0 else { return }
    defer { close(fd) }
    var status = stat()
    guard fstat(fd, &status) == 0, status.st_size > 16 << 10 else { return }
    let slots = IndexLayout.tableStart + 256 * IndexLayout.entrySize
    let count = (Int(status.st_size) - slots) / IndexLayout.slotSize
    func slot() -> Int { slots + Int.random(in: 0..<count, using: &dice) * IndexLayout.slotSize }
    func put(_ word: UInt64, _ at: Int, _ size: Int = 8) {
      withUnsafeBytes(of: word) { _ = pwrite(fd, $0.baseAddress, size, off_t(at)) }
    }
    func load(_ at: Int) -> UInt64 {
      var word: UInt64 = 0
      _ = withUnsafeMutableBytes(of: &word) { pread(fd, $0.baseAddress, 8, off_t(at)) }
      return word
    }
    /// Returns a slot in use, or the first slot after 200 tries.
    func taken() -> Int {
      for _ in 0..<200 {
        let at = slot()
        if load(at + 16) >> 32 != 0 { return at }
      }
      return slots
    }
    func word() -> UInt64 {
      Bool.random(using: &dice) ? Self.words.randomElement(using: &dice) ?? 0 : dice.next()
    }
    switch Int.random(in: 0..<10, using: &dice) {
    case 0..<3:
      put(word(), Self.headWords.randomElement(using: &dice) ?? 0, Bool.random(using: &dice) ? 4 : 8)
    case 3..<5: put(word(), taken() + 4 * Int.random(in: 0..<8, using: &dice), 4)
    case 5:
      let (from, to) = (taken(), slot())
      for at in stride(from: 0, to: IndexLayout.slotSize, by: 8) { put(load(from + at), to + at) }
    case 6: put(load(taken() + 20), taken() + 20)
    case 7:
      let entry = IndexLayout.tableStart + Int.random(in: 0..<12, using: &dice) * IndexLayout.entrySize
      put(word(), entry + 4 * Int.random(in: 0..<8, using: &dice), 4)
    case 8:
      let from = taken()
      for at in stride(from: 0, to: IndexLayout.slotSize, by: 8) {
        put(load(from + at), IndexLayout.pendingImage + at)
      }
      put(.random(in: 0..<UInt64(count), using: &dice), IndexLayout.pendingSlot)
      put(.random(in: 0..<12, using: &dice), IndexLayout.pendingEntry)
      put(1, IndexLayout.pendingState, 4)
    default: put(word(), Int.random(in: 0..<Int(status.st_size) - 8, using: &dice))
    }
  }

  @Test("processes give no wrong bytes and fill no disk while their index is overwritten at random")
  func alterations() throws {
    let seed = newSeed()
    var dice = Dice(seed)
    for round in 1...crashRounds(2) {
      let note: Comment = "seed \(seed), round \(round)"
      let folder = try Folder()
      try Store.open(folder.path, .init(diskBytes: Self.limit)).close()
      let victims = try (0..<2).map {
        try Victim(["hostile", folder.path, "\($0)", "\(seed % 1000 &+ UInt64(round))"])
      }
      for victim in victims { #expect(victim.pipe.fileHandleForReading.availableData.count > 0, note) }
      var most = 0
      for _ in 0..<150 where most <= 4 * Self.most {
        usleep(UInt32.random(in: 0..<4000, using: &dice))
        for _ in 0..<Int.random(in: 1..<4, using: &dice) { alter(folder, &dice) }
        most = max(most, folder.allocated)
      }
      for victim in victims {
        #expect(victim.kill().isEmpty, note)
        #expect(victim.process.terminationStatus == SIGKILL, note)
      }
      #expect(most <= Self.most, note)
      let store = try Store.open(folder.path)
      _ = try store.verify()
      #expect(try store.verify().damaged == 0, note)
      let fresh = RecordKey(.meta, "fresh")
      try store.commit(fresh, [1, 2, 3])
      #expect(try store.bytes(fresh) == [1, 2, 3], note)
      store.close()
    }
  }
}
