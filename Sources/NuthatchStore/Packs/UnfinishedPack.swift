import CSystem
import Glibc

/// The file of a large record's pack while it is written, under a name that is no pack's. It is locked as long as somebody
/// writes it: who finds one that isn't knows that its writer was killed.
final class UnfinishedPack {
  let number: UInt32
  let fd: Int32
  private let directory: StoreDirectory
  private let epoch = nhs_fork_epoch()
  private var hasItsName = false

  /// Makes the file. To be called by the index's changer, so that nobody finds it before it is locked.
  init(_ directory: StoreDirectory, _ number: UInt32) throws(SystemFault) {
    self.directory = directory
    self.number = number
    fd = try directory.openFile(directory.packs, PackName.of(number, "tmp"), O_RDWR | O_CREAT | O_EXCL).0
    // What throws from here on has the file removed by `deinit`.
    guard nhs_close_in_child(fd) == 0 else { throw SystemFault(EMFILE) }
    guard try directory.system.tryLock(fd, 0, .exclusive) else { throw SystemFault(EAGAIN) }
  }

  deinit {
    guard epoch == nhs_fork_epoch() else { return }
    let system = directory.system
    if !hasItsName { do { try system.unlink(directory.packs, PackName.of(number, "tmp")) } catch {} }
    // Before a child that is forked off now could keep it.
    system.unlock(fd, 0)
    nhs_keep_in_child(fd)
    system.close(fd)
  }

  /// Makes a pack of it. `EEXIST` when there is one of this number.
  func finish() throws(SystemFault) {
    try directory.rename(PackName.of(number, "tmp"), toNew: PackName.of(number))
    hasItsName = true
  }
}
