import CSystem
import Glibc

/// The bytes of the file `lock` (docs/FORMAT.md, "Locks"), which keep processes apart, and the locks in front of them,
/// which keep this process's threads apart: to the kernel they are all one owner.
final class DirectoryLocks: Sendable {
  private enum Byte {
    static let index: Int64 = 0
    static let dropping: Int64 = 1
    static let users: Int64 = 2
  }

  private let system: any SystemCalls
  private let epoch = nhs_fork_epoch()
  private let indexLock = Lock()
  private let droppingLock = Lock()
  private let fd: Int32

  init(_ directory: StoreDirectory) throws(StoreFault) {
    system = directory.system
    fd = try Self.open(directory)
  }

  deinit {
    // In a forked child the descriptor has been closed already, and its number may be somebody else's.
    guard epoch == nhs_fork_epoch() else { return }
    // Unlocked first: a child that is forked off between the next two lines would keep what is locked.
    for byte in [Byte.index, Byte.dropping, Byte.users] { system.unlock(fd, byte) }
    nhs_keep_in_child(fd)
    system.close(fd)
  }

  private static func open(_ directory: StoreDirectory) throws(StoreFault) -> Int32 {
    do {
      let (fd, _) = try directory.openFile(directory.root, "lock", O_RDWR | O_CREAT)
      if nhs_close_in_child(fd) != 0 {
        directory.system.close(fd)
        throw StoreFault(.io, "too many stores are open")
      }
      return fd
    } catch let fault as SystemFault {
      throw StoreFault(fault, "opening the lock")
    } catch {
      throw StoreFault(.io, "too many stores are open")
    }
  }

  /// Does something as the only one who changes the index.
  func changingIndex<Result>(_ body: () throws(StoreFault) -> Result) throws(StoreFault) -> Result {
    try indexLock.with { () throws(StoreFault) -> Result in
      try doing("locking the index") { () throws(SystemFault) in try system.lock(fd, Byte.index, .exclusive) }
      defer { system.unlock(fd, Byte.index) }
      return try body()
    }
  }

  /// Does something as the only one who drops packs; not at all when somebody is at it already.
  func dropping(_ body: () throws(StoreFault) -> Void) throws(StoreFault) {
    var fault: StoreFault?
    _ = droppingLock.tryWith {
      do throws(SystemFault) {
        guard try system.tryLock(fd, Byte.dropping, .exclusive) else { return }
      } catch {
        fault = StoreFault(error, "locking the packs")
        return
      }
      defer { system.unlock(fd, Byte.dropping) }
      do throws(StoreFault) { try body() } catch { fault = error }
    }
    if let fault { throw fault }
  }

  /// Does something as the only one who drops packs, when it is this one's turn.
  func droppingInTurn(_ body: () throws(StoreFault) -> Void) throws(StoreFault) {
    try droppingLock.with { () throws(StoreFault) in
      try doing("locking the packs") { () throws(SystemFault) in
        try system.lock(fd, Byte.dropping, .exclusive)
      }
      defer { system.unlock(fd, Byte.dropping) }
      try body()
    }
  }

  /// Says that this process uses the directory, and whether it is the only one. To be called by the index's changer.
  func enter() throws(StoreFault) -> Bool {
    do {
      let isAlone = try system.tryLock(fd, Byte.users, .exclusive)
      // Turns the one into the other without a gap.
      try system.lock(fd, Byte.users, .shared)
      return isAlone
    } catch {
      throw StoreFault(error, "locking the directory")
    }
  }

  /// Says that this process doesn't use the directory any more.
  func leave() { system.unlock(fd, Byte.users) }
}
