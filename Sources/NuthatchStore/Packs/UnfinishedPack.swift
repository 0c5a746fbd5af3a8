import CSystem
import Glibc

/// The file of a large record's pack while it is written. It has a temporary name. Its writer keeps it locked: a file that isn't
/// locked was left by a killed writer.
final class UnfinishedPack {
  let number: UInt32
  let fd: Int32
  private let directory: StoreDirectory
  private let epoch = nhs_fork_epoch()
  private var hasItsName = false

  /// Creates the file. Call it with the index lock held, so that no process finds the file before it is locked.
  init(_ directory: StoreDirectory, _ number: UInt32) throws(SystemFault) {
    self.directory = directory
    self.number = number
    fd = try directory.openFile(directory.packs, PackName.of(number, "tmp"), O_RDWR | O_CREAT | O_EXCL).0
    // If one of the next lines throws, `deinit` deletes the file.
    guard nhs_close_in_child(fd) == 0 else { throw SystemFault(EMFILE) }
    guard try directory.system.tryLock(fd, 0, .exclusive) else { throw SystemFault(EAGAIN) }
  }

  deinit {
    guard epoch == nhs_fork_epoch() else { return }
    let system = directory.system
    if !hasItsName { do { try system.unlink(directory.packs, PackName.of(number, "tmp")) } catch {} }
    // Unlock before the close: a child that is forked now would keep the lock.
    system.unlock(fd, 0)
    nhs_keep_in_child(fd)
    system.close(fd)
  }

  /// Gives the file the name of a pack. Throws `EEXIST` if there is a pack with this number.
  func finish() throws(SystemFault) {
    try directory.rename(PackName.of(number, "tmp"), toNew: PackName.of(number))
    hasItsName = true
  }
}
