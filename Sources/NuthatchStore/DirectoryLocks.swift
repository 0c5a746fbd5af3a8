import CSystem
import Glibc
import Synchronization

/// The bytes of the file `lock` (docs/FORMAT.md, "Locks"), which keep processes apart, and the locks in front of them,
/// which keep this process's threads apart: to the kernel they are all one owner.
final class DirectoryLocks: @unchecked Sendable {
  enum Byte: Int64, CaseIterable {
    case index = 0
    case dropping = 1
    case users = 2
  }

  private let directory: StoreDirectory
  private let system: any SystemCalls
  private let indexLock = Lock()
  private let droppingLock = Lock()
  // Guards `current`, which is changed by the index's changer only.
  private let fileLock = Lock()
  private var current: LockFile
  /// Since when, on the monotonic clock, an owner has held the index's lock for which was waited in vain; 0 for none.
  private let heldSince = Atomic<Int64>(0)
  // Readers may look at them at this moment.
  private var former: [LockWords] = []

  init(_ directory: StoreDirectory) throws(StoreFault) {
    self.directory = directory
    system = directory.system
    current = try LockFile(directory)
  }

  /// The file whose bytes are locked.
  var file: LockFile { fileLock.with { current } }

  /// Does something as the only one who changes the index.
  ///
  /// - Throws: `busy`.
  func changingIndex<Result>(
    _ body: (LockFile) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try indexLock.patiently(busy(.index)) { () throws(StoreFault) -> Result in
      let file = current
      try lockIndex(file)
      defer {
        system.unlock(file.fd, Byte.index.rawValue)
        if current !== file { system.unlock(current.fd, Byte.index.rawValue) }
      }
      return try body(file)
    }
  }

  private func lockIndex(_ file: LockFile) throws(StoreFault) {
    let isFree = try doing("locking the index") { () throws(SystemFault) -> Bool in
      if try system.tryLock(file.fd, Byte.index.rawValue, .exclusive) { return true }
      // A writer has waited before, in vain: it doesn't make each further record late.
      if Patience.isOfWriter, heldSince.load(ordering: .relaxed) != 0 { return false }
      let begin = nhs_monotonic_ns()
      if try system.lock(file.fd, Byte.index.rawValue, .exclusive, until: Patience.deadline()) { return true }
      _ = heldSince.compareExchange(expected: 0, desired: begin, ordering: .relaxed)
      return false
    }
    guard isFree else { throw busy(.index) }
    if heldSince.load(ordering: .relaxed) != 0 { heldSince.store(0, ordering: .relaxed) }
    file.noteOwner()
  }

  /// The process that has held the index's lock since a wait for it ended in vain, and for how many nanoseconds. Nil when it
  /// is free.
  var holder: (name: String, nanoseconds: Int64)? {
    let since = heldSince.load(ordering: .relaxed)
    guard since != 0 else { return nil }
    let file = file
    // What can't be locked for another reason is not held.
    let isFree = (try? system.tryLock(file.fd, Byte.index.rawValue, .exclusive)) ?? true
    guard !isFree else {
      system.unlock(file.fd, Byte.index.rawValue)
      heldSince.store(0, ordering: .relaxed)
      return nil
    }
    return (file.owner, nhs_monotonic_ns() &- since)
  }

  /// What to say when a lock isn't free in time.
  func busy(_ byte: Byte) -> StoreFault {
    let what = byte == .dropping ? "dropping packs" : "changing the index"
    return StoreFault(.busy, "\(file.owner) has been \(what) for too long; is it stopped?")
  }

  /// Says, without the index's lock, that this process uses the directory. False when no other process does, or the first
  /// one is only beginning to.
  func join() throws(SystemFault) -> Bool {
    let fd = file.fd
    if try system.tryLock(fd, Byte.users.rawValue, .exclusive) {
      system.unlock(fd, Byte.users.rawValue)
      return false
    }
    return try system.tryLock(fd, Byte.users.rawValue, .shared)
  }

  /// Goes over to the file that has the name now, should somebody have deleted the one in use. For the index's changer,
  /// who is that then by the new file.
  func follow() throws(StoreFault) -> LockFile {
    guard current.isDeleted else { return current }
    let made = try LockFile(directory)
    try lockIndex(made)
    let hasJoined = try doing("locking the directory") { () throws(SystemFault) in
      try system.lock(made.fd, Byte.users.rawValue, .shared, until: Patience.deadline())
    }
    guard hasJoined else { throw busy(.users) }
    former.append(current.words)
    fileLock.with { current = made }
    return made
  }

  /// Does something as the only one who drops packs; not at all when somebody is at it already.
  func dropping(_ body: () throws(StoreFault) -> Void) throws(StoreFault) {
    var fault: StoreFault?
    _ = droppingLock.tryWith {
      // Kept, since the descriptor may be given to another file when nobody keeps this one.
      let file = file
      let fd = file.fd
      do throws(SystemFault) {
        guard try system.tryLock(fd, Byte.dropping.rawValue, .exclusive) else { return }
      } catch {
        fault = StoreFault(error, "locking the packs")
        return
      }
      defer { withExtendedLifetime(file) { system.unlock(fd, Byte.dropping.rawValue) } }
      do throws(StoreFault) { try body() } catch { fault = error }
    }
    if let fault { throw fault }
  }

  /// Does something as the only one who drops packs, when it is this one's turn.
  func droppingInTurn(_ body: () throws(StoreFault) -> Void) throws(StoreFault) {
    try droppingLock.patiently(busy(.dropping)) { () throws(StoreFault) in
      let file = file
      let isFree = try doing("locking the packs") { () throws(SystemFault) in
        try system.lock(file.fd, Byte.dropping.rawValue, .exclusive, until: Patience.deadline())
      }
      guard isFree else { throw busy(.dropping) }
      defer { system.unlock(file.fd, Byte.dropping.rawValue) }
      try body()
    }
  }

  /// Says that this process uses the directory, and whether it is the only one. To be called by the index's changer.
  func enter() throws(StoreFault) -> Bool {
    let fd = file.fd
    let isAlone = try doing("locking the directory") { () throws(SystemFault) -> Bool? in
      let isAlone = try system.tryLock(fd, Byte.users.rawValue, .exclusive)
      // Turns the one into the other without a gap.
      let isShared = try system.lock(fd, Byte.users.rawValue, .shared, until: Patience.deadline())
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
