import CSystem
import NuthatchBase
import Synchronization

/// The locks on bytes of the file `locks` (docs/FORMAT.md, "Locks"), which exclude other processes. To the kernel all threads of
/// a process are one owner. So a thread first takes a lock of this process, which excludes the other threads.
final class DirectoryLocks: Sendable {
  enum Byte: Int64, CaseIterable {
    case index = 0
    case dropping = 1
    case users = 2
  }

  private let directory: StoreDirectory
  private let system: any SystemCalls
  private let indexLock = WordLock()
  private let droppingLock = WordLock()
  /// The file whose bytes are locked.
  let file: LockFile
  /// A wait for another process's lock that timed out.
  private final class Hold: Sendable {
    /// When the wait began (monotonic clock, ns); 0: no wait has timed out.
    let since = Atomic<Int64>(0)
  }
  private let holdOfIndex = Hold()
  private let holdOfDropping = Hold()

  init(_ directory: StoreDirectory) throws(StoreFault) {
    self.directory = directory
    system = directory.system
    file = try LockFile(directory)
  }

  /// Runs `body` with the lock for changing the index.
  ///
  /// - Throws: `busy`.
  func changingIndex<Result>(
    _ body: (LockFile) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try indexLock.withLock(orThrow: busy(.index)) { () throws(StoreFault) -> Result in
      try lock(.index)
      defer { system.unlock(file.fd, Byte.index.rawValue) }
      return try body(file)
    }
  }

  /// Locks a byte for this process and notes the owner in the file. Call it with this process's lock for the byte held.
  private func lock(_ byte: Byte) throws(StoreFault) {
    let hold = byte == .dropping ? holdOfDropping : holdOfIndex
    let isFree = try explaining(byte == .dropping ? "can't lock the packs" : "can't lock the index") {
      () throws(SystemFault) -> Bool in
      if try system.tryLock(file.fd, byte.rawValue, .exclusive) { return true }
      // After a wait for that process has timed out, commits don't wait for it again.
      if WaitLimit.isOfCommit, hold.since.load(ordering: .relaxed) != 0 { return false }
      let begin = nhs_monotonic_ns()
      if try system.lock(file.fd, byte.rawValue, .exclusive, until: WaitLimit.deadline()) { return true }
      _ = hold.since.compareExchange(expected: 0, desired: begin, ordering: .relaxed)
      return false
    }
    guard isFree else { throw busy(byte) }
    if hold.since.load(ordering: .relaxed) != 0 { hold.since.store(0, ordering: .relaxed) }
    file.noteOwner(of: byte)
  }

  /// The process that holds a lock since a wait for it timed out, and for how many nanoseconds. Nil if there is none.
  var holder: (name: String, nanoseconds: Int64)? { holder(of: .index) ?? holder(of: .dropping) }

  private func holder(of byte: Byte) -> (name: String, nanoseconds: Int64)? {
    let hold = byte == .dropping ? holdOfDropping : holdOfIndex
    guard hold.since.load(ordering: .relaxed) != 0 else { return nil }
    // If a thread holds this process's lock for the byte, it waits for the byte or has locked it. Then don't unlock the byte here.
    func look() {
      // If locking fails for another reason, the byte isn't held.
      guard (try? system.tryLock(file.fd, byte.rawValue, .exclusive)) ?? true else { return }
      system.unlock(file.fd, byte.rawValue)
      hold.since.store(0, ordering: .relaxed)
    }
    _ = byte == .dropping ? droppingLock.withLockIfFree(look) : indexLock.withLockIfFree(look)
    let since = hold.since.load(ordering: .relaxed)
    return since == 0 ? nil : (file.owner(of: byte), nhs_monotonic_ns() &- since)
  }

  /// Returns the error for a lock that isn't free in time.
  func busy(_ byte: Byte) -> StoreFault {
    let what = byte == .dropping ? "deleting packs" : "changing the index"
    return StoreFault(
      .busy, "\(file.owner(of: byte)) has been \(what) for too long; if it is stopped, continue or end it")
  }

  /// Returns whether the index lock is free, or gets free within this time.
  func areFree(within nanoseconds: Int64) throws(StoreFault) -> Bool {
    try explaining("can't lock the index") { () throws(SystemFault) in
      let limit = min(nhs_monotonic_ns() &+ nanoseconds, WaitLimit.deadline())
      guard try system.lock(file.fd, Byte.index.rawValue, .exclusive, until: limit) else { return false }
      system.unlock(file.fd, Byte.index.rawValue)
      return true
    }
  }

  /// Registers this process as a user of the directory, without the index lock. Returns false if the first user is still opening
  /// the directory, or if there is no other user and `isFirst` is false.
  func join(isFirst: Bool = false) throws(SystemFault) -> Bool {
    if !isFirst, try system.tryLock(file.fd, Byte.users.rawValue, .exclusive) {
      system.unlock(file.fd, Byte.users.rawValue)
      return false
    }
    return try system.tryLock(file.fd, Byte.users.rawValue, .shared)
  }

  /// Runs `body` with the lock for dropping packs.
  ///
  /// - Throws: `busy`.
  func dropping(_ body: () throws(StoreFault) -> Void) throws(StoreFault) {
    try droppingLock.withLock(orThrow: busy(.dropping)) { () throws(StoreFault) in
      try lock(.dropping)
      defer { system.unlock(file.fd, Byte.dropping.rawValue) }
      try body()
    }
  }

  /// Registers this process as a user of the directory. Returns whether it is the only one. Call it with the index lock held.
  func enter() throws(StoreFault) -> Bool {
    let isAlone = try explaining("can't lock the directory") { () throws(SystemFault) -> Bool? in
      let isAlone = try system.tryLock(file.fd, Byte.users.rawValue, .exclusive)
      // Turns the exclusive lock into a shared one without a gap.
      let isShared = try system.lock(file.fd, Byte.users.rawValue, .shared, until: WaitLimit.deadline())
      return isShared ? isAlone : nil
    }
    guard let isAlone else { throw busy(.users) }
    return isAlone
  }

  /// Unregisters this process as a user of the directory.
  func leave() {
    guard !directory.isReading else { return }
    system.unlock(file.fd, Byte.users.rawValue)
  }
}
