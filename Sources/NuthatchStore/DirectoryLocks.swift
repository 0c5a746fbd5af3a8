import CSystem
import Glibc

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
  func changingIndex<Result>(
    _ body: (LockFile) throws(StoreFault) -> Result
  ) throws(StoreFault) -> Result {
    try indexLock.with { () throws(StoreFault) -> Result in
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
    try doing("locking the index") { () throws(SystemFault) in
      try system.lock(file.fd, Byte.index.rawValue, .exclusive)
    }
  }

  /// Goes over to the file that has the name now, should somebody have deleted the one in use. For the index's changer,
  /// who is that then by the new file.
  func follow() throws(StoreFault) -> LockFile {
    guard current.isDeleted else { return current }
    let made = try LockFile(directory)
    try lockIndex(made)
    try doing("locking the directory") { () throws(SystemFault) in
      try system.lock(made.fd, Byte.users.rawValue, .shared)
    }
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
    try droppingLock.with { () throws(StoreFault) in
      let file = file
      try doing("locking the packs") { () throws(SystemFault) in
        try system.lock(file.fd, Byte.dropping.rawValue, .exclusive)
      }
      defer { system.unlock(file.fd, Byte.dropping.rawValue) }
      try body()
    }
  }

  /// Says that this process uses the directory, and whether it is the only one. To be called by the index's changer.
  func enter() throws(StoreFault) -> Bool {
    let fd = file.fd
    do {
      let isAlone = try system.tryLock(fd, Byte.users.rawValue, .exclusive)
      // Turns the one into the other without a gap.
      try system.lock(fd, Byte.users.rawValue, .shared)
      return isAlone
    } catch {
      throw StoreFault(error, "locking the directory")
    }
  }

  /// Says that this process doesn't use the directory any more.
  func leave() { system.unlock(file.fd, Byte.users.rawValue) }
}
