import CSystem
import NuthatchBase
import Synchronization

/// The bytes of the file `locks` (docs/FORMAT.md, "Locks"), which keep processes apart, and the locks in front of them,
/// which keep this process's threads apart: to the kernel they are all one owner.
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
  /// A lock of another process for which this one has waited in vain.
  private final class Hold: Sendable {
    /// When the wait began, on the monotonic clock; 0 for none.
    let since = Atomic<Int64>(0)
  }
  private let holdOfIndex = Hold()
  private let holdOfDropping = Hold()

  init(_ directory: StoreDirectory) throws(StoreFault) {
    self.directory = directory
    system = directory.system
    file = try LockFile(directory)
  }

  /// Does something as the only one who changes the index.
  ///
  /// - Throws: `busy`.
  func changingIndex<Result>(
    _ body: (LockFile) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try indexLock.patiently(busy(.index)) { () throws(StoreFault) -> Result in
      try lock(.index)
      defer { system.unlock(file.fd, Byte.index.rawValue) }
      return try body(file)
    }
  }

  /// Locks a byte for this process, and notes its name. To be called with the lock in front of it.
  private func lock(_ byte: Byte) throws(StoreFault) {
    let hold = byte == .dropping ? holdOfDropping : holdOfIndex
    let isFree = try doing(byte == .dropping ? "locking the packs" : "locking the index") {
      () throws(SystemFault) -> Bool in
      if try system.tryLock(file.fd, byte.rawValue, .exclusive) { return true }
      // A writer has waited before, in vain: it doesn't make each further record late.
      if Patience.isOfWriter, hold.since.load(ordering: .relaxed) != 0 { return false }
      let begin = nhs_monotonic_ns()
      if try system.lock(file.fd, byte.rawValue, .exclusive, until: Patience.deadline()) { return true }
      _ = hold.since.compareExchange(expected: 0, desired: begin, ordering: .relaxed)
      return false
    }
    guard isFree else { throw busy(byte) }
    if hold.since.load(ordering: .relaxed) != 0 { hold.since.store(0, ordering: .relaxed) }
    file.noteOwner(of: byte)
  }

  /// The process that has held a lock since a wait for it ended in vain, and for how many nanoseconds. Nil when there is none.
  var holder: (name: String, nanoseconds: Int64)? { holder(of: .index) ?? holder(of: .dropping) }

  private func holder(of byte: Byte) -> (name: String, nanoseconds: Int64)? {
    let hold = byte == .dropping ? holdOfDropping : holdOfIndex
    guard hold.since.load(ordering: .relaxed) != 0 else { return nil }
    // A thread that has the lock in front waits for the byte, or has it: then it must not be unlocked here.
    func look() {
      // What can't be locked for another reason is not held.
      guard (try? system.tryLock(file.fd, byte.rawValue, .exclusive)) ?? true else { return }
      system.unlock(file.fd, byte.rawValue)
      hold.since.store(0, ordering: .relaxed)
    }
    _ = byte == .dropping ? droppingLock.withLockIfFree(look) : indexLock.withLockIfFree(look)
    let since = hold.since.load(ordering: .relaxed)
    return since == 0 ? nil : (file.owner(of: byte), nhs_monotonic_ns() &- since)
  }

  /// What to say when a lock isn't free in time.
  func busy(_ byte: Byte) -> StoreFault {
    let what = byte == .dropping ? "dropping packs" : "changing the index"
    return StoreFault(.busy, "\(file.owner(of: byte)) has been \(what) for too long; is it stopped?")
  }

  /// Whether the index's lock is free, or gets free in this time.
  func areFree(within nanoseconds: Int64) throws(StoreFault) -> Bool {
    try doing("locking the index") { () throws(SystemFault) in
      let limit = min(nhs_monotonic_ns() &+ nanoseconds, Patience.deadline())
      guard try system.lock(file.fd, Byte.index.rawValue, .exclusive, until: limit) else { return false }
      system.unlock(file.fd, Byte.index.rawValue)
      return true
    }
  }

  /// Says, without the index's lock, that this process uses the directory. False when no other process does, or the first
  /// one is only beginning to; but not for who may be the first.
  func join(isFirst: Bool = false) throws(SystemFault) -> Bool {
    if !isFirst, try system.tryLock(file.fd, Byte.users.rawValue, .exclusive) {
      system.unlock(file.fd, Byte.users.rawValue)
      return false
    }
    return try system.tryLock(file.fd, Byte.users.rawValue, .shared)
  }

  /// Does something as the only one who drops packs, in its turn.
  ///
  /// - Throws: `busy`.
  func dropping(_ body: () throws(StoreFault) -> Void) throws(StoreFault) {
    try droppingLock.patiently(busy(.dropping)) { () throws(StoreFault) in
      try lock(.dropping)
      defer { system.unlock(file.fd, Byte.dropping.rawValue) }
      try body()
    }
  }

  /// Says that this process uses the directory, and whether it is the only one. To be called by the index's changer.
  func enter() throws(StoreFault) -> Bool {
    let isAlone = try doing("locking the directory") { () throws(SystemFault) -> Bool? in
      let isAlone = try system.tryLock(file.fd, Byte.users.rawValue, .exclusive)
      // Turns the one into the other without a gap.
      let isShared = try system.lock(file.fd, Byte.users.rawValue, .shared, until: Patience.deadline())
      return isShared ? isAlone : nil
    }
    guard let isAlone else { throw busy(.users) }
    return isAlone
  }

  /// Says that this process doesn't use the directory any more.
  func leave() {
    guard !directory.isReading else { return }
    system.unlock(file.fd, Byte.users.rawValue)
  }
}
