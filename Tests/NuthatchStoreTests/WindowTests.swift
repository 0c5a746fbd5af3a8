import CSystem
import Foundation
import Testing

@testable import NuthatchStore

/// Packs of which more than the first two mebibytes are written: through memory, where the file system is made for it.
@Suite("Packs that are written through mapped memory") struct WindowTests {
  /// Packs of 16 MiB: one window of four pieces, and one of three.
  private static let limit = 1 << 30

  private static func key(_ number: Int) -> RecordKey { RecordKey(.body, "window \(number)") }

  /// The first payloads are large, the later ones small. Only a small record opens a piece.
  private static func payload(_ number: Int) -> [UInt8] {
    content(UInt64(number), number < 34 ? 60_000 : 8000)
  }

  /// Up to shortly before the first piece.
  private static func begin(_ store: Store) throws -> Int {
    for number in 0..<40 { try store.commit(key(number), payload(number)) }
    return 40
  }

  private static func check(_ store: Store, _ numbers: Range<Int>, _ note: Comment) throws {
    for number in numbers {
      #expect(
        try store.lookup(key(number))?.copied() == payload(number), "\(note), record \(number)")
    }
  }

  @Test("a pack written through mapped memory has every record of every size, also without the index")
  func whole() throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(EIO))
    let store = try Store.open(folder.path, .init(diskBytes: Self.limit), system)
    var dice = Dice(9)
    // Also pieces of several parts, none, and ones that are written by system calls in between.
    let sizes = (0..<1600).map { _ in
      Int.random(in: 0..<(dice.next() % 200 == 0 ? 700_000 : 8500), using: &dice)
    }
    for (number, size) in sizes.enumerated() {
      let bytes = content(UInt64(number), size)
      try bytes.withUnsafeBytes {
        let middle = size / 3
        try store.commit(
          Self.key(number),
          parts: [
            UnsafeRawBufferPointer(rebasing: $0[..<middle]), UnsafeRawBufferPointer(start: nil, count: 0),
            UnsafeRawBufferPointer(rebasing: $0[middle...]),
          ])
      }
    }
    func check(_ store: Store, _ note: Comment) throws {
      for (number, size) in sizes.enumerated() {
        let isIt = try store.lookup(Self.key(number))?.copied() == content(UInt64(number), size)
        #expect(isIt, "\(note), record \(number)")
      }
    }
    try check(store, "written")
    let kind = try LinuxCalls().fileSystem(store.disk.directory.root)
    // One for the index, and pieces.
    #expect(FileSystems.givesLargePages(kind) == (system.populations > 3))
    store.close()
    try check(try Store.open(folder.path), "opened again")
    try folder.remove("index")
    let again = try Store.open(folder.path)
    try check(again, "without the index")
    let report = try again.verify()
    #expect(report.intact == sizes.count && report.damaged == 0)
  }

  @Test(
    "a writer goes on by system calls when a call that maps its pack fails",
    arguments: isSanitized ? [EIO] : [EIO, ENOSPC, EINVAL, ENOMEM])
  func failing(_ number: Int32) throws {
    for grace in 0..<80 {
      let folder = try Folder()
      let system = FaultyCalls(.number(number))
      let store = try Store.open(folder.path, .init(diskBytes: Self.limit), system)
      let begun = try Self.begin(store)
      system.arm(after: grace)
      var kept: Set<Int> = []
      for number in begun..<begun + 12 {
        if (try? store.commit(Self.key(number), Self.payload(number))) != nil {
          kept.insert(number)
        }
      }
      let isOver = system.failures == 0
      system.disarm()
      let note: Comment = "call \(grace) of \(number)"
      #expect(kept.count >= 11, note)
      for number in kept { try Self.check(store, number..<number + 1, note) }
      try Self.check(store, 0..<begun, note)
      store.close()
      if isOver { return }
    }
    Issue.record("there is no end of system calls")
  }

  @Test(
    "no kept record is lost when a writer's system calls fail for good, also under memory pressure",
    arguments: isSanitized ? [EIO] : [EIO, ENOSPC, EINVAL, ENOMEM, EMFILE], [false, true])
  func failingForGood(_ number: Int32, isMemoryWanted: Bool) throws {
    for grace in 0..<80 {
      let folder = try Folder()
      let system = FaultyCalls(.number(number), isLasting: true)
      let store = try Store.open(folder.path, .init(diskBytes: Self.limit), system)
      let begun = try Self.begin(store)
      system.arm(after: grace)
      var kept: Set<Int> = []
      for number in begun..<begun + 12 {
        // The window goes. What comes next can't be written, and the pack is given up.
        if isMemoryWanted, number == begun + 6 { store.relieve(.critical) }
        if (try? store.commit(Self.key(number), Self.payload(number))) != nil {
          kept.insert(number)
        }
      }
      system.disarm()
      let note: Comment = "call \(grace) of \(number)"
      let isOver = system.failures == 0
      // A record that was kept is there at once, and one that couldn't be kept can be kept now.
      for number in begun..<begun + 12 where !kept.contains(number) {
        #expect(try store.bytes(Self.key(number)) == nil, note)
        try store.commit(Self.key(number), Self.payload(number))
      }
      try Self.check(store, 0..<begun + 12, note)
      #expect(try store.verify().damaged == 0, note)
      store.close()
      if isOver { return }
    }
    Issue.record("there is no end of system calls")
  }

  @Test("large records don't map a pack for writing")
  func large() throws {
    let folder = try Folder()
    let system = FaultyCalls(.number(EIO))
    let store = try Store.open(folder.path, .init(diskBytes: Self.limit), system)
    let before = system.populations
    for number in 0..<100 { try store.commit(Self.key(number), content(UInt64(number), 60_000)) }
    #expect(system.populations == before)
  }

  @Test("leases stay right while other threads close a writer's mapped memory")
  func threads() throws {
    let folder = try Folder()
    let wrong = Counter()
    let store = try Store.open(folder.path, .init(diskBytes: 512 << 20))
    // Held across everything, also across closing.
    let held = try (0..<50).map { number in
      (number, try store.commit(Self.key(number), Self.payload(number)))
    }
    inThreads(5) { thread in
      do {
        let own = try Store.open(folder.path)
        var leases: [(Int, Lease)] = []
        for step in 0..<250 {
          switch thread {
          case 0, 1:
            let number = (thread + 1) * 1000 + step % 90
            leases.append((number, try own.commit(Self.key(number), Self.payload(number))))
            if leases.count > 20 { leases.removeFirst() }
          case 2:
            if step % 10 == 0 { own.relieve(.critical) } else { try own.stayLean() }
          case 3:
            let number = (step % 2 + 1) * 1000 + step % 90
            if let lease = try own.lookup(Self.key(number)) { leases.append((number, lease)) }
            if step % 100 == 99 { try own.trim(to: 8 << 20) }
          default:
            // Another handle: closing it ends nothing of the others.
            let other = try Store.open(folder.path)
            _ = try other.lookup(Self.key(1000 + step % 90))
            other.close()
          }
        }
        own.close()
        for (number, lease) in leases where lease.copied() != Self.payload(number) {
          wrong.add()
        }
      } catch {
        wrong.add()
      }
    }
    store.close()
    for (number, lease) in held where lease.copied() != Self.payload(number) { wrong.add() }
    #expect(wrong.count == 0)
    #expect(try Store.open(folder.path).verify().damaged == 0)
  }

  @Test("a closed pack gives back unwritten room, and the next store appends to it")
  func closed() throws {
    let folder = try Folder()
    let store = try Store.open(folder.path, .init(diskBytes: Self.limit))
    let count = try Self.begin(store) + 4
    for number in count - 4..<count { try store.commit(Self.key(number), Self.payload(number)) }
    store.close()
    #expect(folder.allocated < 4 << 20)
    let again = try Store.open(folder.path)
    for number in count..<count + 60 {
      try again.commit(Self.key(number), Self.payload(number))
    }
    try Self.check(again, 0..<count + 60, "gone on")
    #expect(folder.files().count == 1)
  }

  @Test("packs are written through memory on XFS and recent ext4, not on btrfs or tmpfs")
  func kinds() {
    #expect(FileSystems.givesLargePages(0xEF53, kernel: 0x6_0010))
    #expect(!FileSystems.givesLargePages(0xEF53, kernel: 0x6_0001))
    #expect(FileSystems.givesLargePages(0x5846_5342, kernel: 0x7_0000))
    #expect(!FileSystems.givesLargePages(0x9123_683E, kernel: 0x7_0000))
    #expect(!FileSystems.givesLargePages(0x0102_1994, kernel: 0x7_0000))
    #expect(nhs_kernel_version() > 0x4_0000)
  }
}
