import Dispatch
import Foundation
import Testing

@testable import NuthatchStore

/// Removed and replaced records must not come back when the index is made anew or the packs are verified.
@Suite("Removed and replaced records") struct RetireTests {
  private static let key = RecordKey(.meta, "key")

  /// A store that shares no memory with the others, like a store of another process.
  private static func user(_ folder: Folder, _ calls: any SystemCalls = LinuxCalls()) throws
    -> any RecordStore
  {
    var options = Store.Options()
    options.diskBytes = 8 << 20
    return try Store.records(try StoreDirectory(folder.path, trusts: false, calls), options)
  }

  private static func keep(_ key: RecordKey, _ bytes: [UInt8], _ user: any RecordStore) throws {
    _ = try bytes.withBytes { (bytes) throws(StoreFault) in try user.commit(key, PayloadShape(), [bytes]) }
  }

  /// Expects the key to stay removed, and the index to match the packs.
  private static func expectGone(_ key: RecordKey, _ folder: Folder, _ note: Comment) throws {
    let user = try user(folder)
    #expect(try user.remove(key) || user.lookup(key) == nil, note)
    #expect(user.lookup(key) == nil, note)
    _ = try user.verify()
    #expect(user.lookup(key) == nil, note)
    #expect(try user.verify().intact == user.statistics().meta + user.statistics().bodies, note)
    user.finish()
    try folder.remove("index")
    let later = try Self.user(folder)
    #expect(later.lookup(key) == nil, note)
    #expect(try later.verify().recovered == 0, note)
    later.finish()
  }

  @Test("a removed record stays gone, whichever system call the last writer died at", arguments: 0..<40)
  func death(_ count: Int) throws {
    let folder = try Folder()
    do {
      let calls = FaultyCalls(.number(5), isLasting: true)
      let user = try Self.user(folder, calls)
      try Self.keep(Self.key, [1], user)
      // From now on its system calls fail, so that others see nothing of it.
      calls.arm(after: count)
      try? Self.keep(Self.key, [2], user)
    }
    try Self.expectGone(Self.key, folder, "after \(count) calls")
  }

  @Test(
    "a removed record stays gone, whichever system call a process that moved it died at",
    arguments: Array(stride(from: 100, to: 500, by: isSanitized ? 36 : 4)))
  func deathOfTheMover(_ count: Int) throws {
    let folder = try Folder()
    let filler = content(1, 60_000)
    do {
      let calls = FaultyCalls(.number(5), isLasting: true)
      let user = try Self.user(folder, calls)
      try Self.keep(Self.key, [1], user)
      for number in 0..<120 { try Self.keep(RecordKey(.meta, "\(number)"), filler, user) }
      #expect(user.touch(Self.key))
      func place() -> Location? { user.index?.find(Self.key.hash)?.slot.location }
      let before = place()
      calls.arm(after: count)
      // The oldest pack goes, and what was used moves out of it.
      for number in 120..<150 {
        guard (try? Self.keep(RecordKey(.meta, "\(number)"), filler, user)) != nil else { break }
      }
      // Before it has moved anything, and after.
      if count == 100 { #expect(place() == before) }
      if count == 496 { #expect(place() != before) }
    }
    try Self.expectGone(Self.key, folder, "after \(count) calls")
  }

  @Test("a record stays gone that was removed while a process that then died moved it")
  func deathOfTheMoverLater() throws {
    let folder = try Folder()
    let other = try Self.user(folder)
    // Shorter, so that only the copy is met halfway.
    let filler = content(1, 40_000)
    let isRemoved = DispatchSemaphore(value: 0)
    do {
      let calls = FaultyCalls(.number(5), isLasting: true)
      let user = try Self.user(folder, calls)
      try Self.keep(Self.key, content(2, 50_000), user)
      #expect(user.touch(Self.key))
      calls.interfereHalfway(50_000) {
        Thread.detachNewThread {
          do {
            // The mover may have its locks for longer than a removal waits by itself.
            let wasThere = try WaitLimit.applying(600_000_000_000) { () throws(StoreFault) in
              try other.remove(Self.key)
            }
            #expect(wasThere)
          } catch { Issue.record(error) }
          isRemoved.signal()
        }
        // The removal may have to wait for the end of the move.
        if isRemoved.wait(timeout: .now() + 1) == .success { isRemoved.signal() }
        // The rest of the copy is written, and nothing more is done.
        calls.arm(after: 1)
      }
      for number in 0..<300 {
        guard (try? Self.keep(RecordKey(.meta, "\(number)"), filler, user)) != nil else { break }
      }
      #expect(calls.failures > 0)
    }
    isRemoved.wait()
    // This commit appends to the pack that was left behind.
    try Self.keep(RecordKey(.meta, "after"), [1], other)
    #expect(other.lookup(Self.key) == nil)
    other.finish()
    try Self.expectGone(Self.key, folder, "afterwards")
  }

  @Test("a verify during a removal doesn't bring the record back", arguments: 1..<8)
  func verifying(_ count: Int) throws {
    let folder = try Folder()
    let calls = FaultyCalls(.number(5))
    let (own, other) = (try Self.user(folder, calls), try Self.user(folder))
    try Self.keep(Self.key, [1], own)
    calls.interfere(at: count) {
      do { _ = try other.verify() } catch { Issue.record(error) }
    }
    #expect(try own.remove(Self.key))
    for user in [own, other] { #expect(user.lookup(Self.key) == nil) }
    #expect(own.statistics().meta == 0)
    for user in [own, other] { user.finish() }
    try Self.expectGone(Self.key, folder, "at \(count)")
  }

  @Test("a record that another store removes while it is being replaced doesn't come back", arguments: 1..<8)
  func removing(_ count: Int) throws {
    let folder = try Folder()
    let calls = FaultyCalls(.number(5))
    let (own, other) = (try Self.user(folder, calls), try Self.user(folder))
    try Self.keep(Self.key, [1], own)
    calls.interfere(at: count) {
      do {
        _ = try other.remove(Self.key)
        _ = try other.verify()
        #expect(other.lookup(Self.key) == nil)
      } catch { Issue.record(error) }
    }
    try Self.keep(Self.key, [2], own)
    #expect(own.statistics().meta == (try own.verify()).intact)
    for user in [own, other] { user.finish() }
    try Self.expectGone(Self.key, folder, "at \(count)")
  }
}
