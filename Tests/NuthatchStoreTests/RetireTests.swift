import Dispatch
import Foundation
import Testing

@testable import NuthatchStore

/// Removed and replaced records must not come back: by no index that is made anew, and by no look through the packs.
@Suite("What was removed or replaced") struct RetireTests {
  private static let key = RecordKey(.meta, "key")

  /// One of several processes, as it were.
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

  /// That the key is removed for good, and that the index knows what there is.
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

  @Test("stays away when the process that did it died in the middle", arguments: 0..<40)
  func death(_ count: Int) throws {
    let folder = try Folder()
    do {
      let calls = FaultyCalls(.number(5), isLasting: true)
      let user = try Self.user(folder, calls)
      try Self.keep(Self.key, [1], user)
      // From now on it does nothing that anybody sees.
      calls.arm(after: count)
      try? Self.keep(Self.key, [2], user)
    }
    try Self.expectGone(Self.key, folder, "after \(count) calls")
  }

  @Test(
    "stays away when the process that moved it died in the middle",
    arguments: Array(stride(from: 100, to: 500, by: 4)))
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

  @Test("stays away when it was removed while somebody moved it, who died then")
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
          do { #expect(try other.remove(Self.key)) } catch { Issue.record(error) }
          isRemoved.signal()
        }
        // It may have to wait for the end of the other one; if it hasn't, this is more than it needs.
        Thread.sleep(forTimeInterval: 1)
        // The rest of the copy is written, and nothing more is done.
        calls.arm(after: 1)
      }
      for number in 0..<300 {
        guard (try? Self.keep(RecordKey(.meta, "\(number)"), filler, user)) != nil else { break }
      }
      #expect(calls.failures > 0)
    }
    isRemoved.wait()
    // Goes on in the pack that was left behind.
    try Self.keep(RecordKey(.meta, "after"), [1], other)
    #expect(other.lookup(Self.key) == nil)
    other.finish()
    try Self.expectGone(Self.key, folder, "afterwards")
  }

  @Test("isn't found again by who looks through the packs meanwhile", arguments: 1..<8)
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

  @Test("isn't found again when somebody removes what has just replaced it", arguments: 1..<8)
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
