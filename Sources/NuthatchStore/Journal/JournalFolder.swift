import Glibc

/// The folder `outbox` of a cache's directory, held open, with its lock.
final class JournalFolder {
  static let name = "outbox"

  let folder: Int32
  let locks: JournalLocks
  let system: any SystemCalls
  private let directory: String

  /// Nil when there is none and none is to be made.
  init?(in directory: String, makes: Bool, _ system: any SystemCalls) throws(SystemFault) {
    let path = directory + "/" + Self.name
    let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW
    var opened: Int32 = -1
    do throws(SystemFault) {
      opened = try system.open(AT_FDCWD, path, flags)
    } catch  where error.number == ENOENT {
      guard makes else { return nil }
      do { try system.makeDirectory(AT_FDCWD, path) } catch  where error.number == EEXIST {}
      opened = try system.open(AT_FDCWD, path, flags)
    }
    do throws(SystemFault) {
      let status = try system.status(opened)
      if let flaw = FileDoor.flaw(owner: status.owner, mode: status.mode) {
        throw SystemFault(EINVAL, unsafe: "\(Self.name) \(flaw)")
      }
      locks = try JournalLocks(opened, mayBeReading: !makes, system)
    } catch {
      system.close(opened)
      throw error
    }
    self.system = system
    self.directory = directory
    folder = opened
  }

  deinit { system.close(folder) }

  /// Sees to it that the folder's name would survive a loss of power, and the names of all that it lies in: whoever made
  /// them, for its sake perhaps, may have died before. Done before there is a log, which so says that it was.
  func settle() throws(SystemFault) {
    var path = directory
    var last: FileStatus?
    while true {
      let fd: Int32
      do throws(SystemFault) {
        fd = try system.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)
      } catch {
        // What this user can't read, others have made.
        if path != directory, error.number == EACCES { return }
        throw error
      }
      defer { system.close(fd) }
      let status = try system.status(fd)
      if let last, last.inode == status.inode, last.device == status.device { return }
      do throws(SystemFault) {
        try system.sync(fd)
      } catch {
        // Not every file system knows how.
        guard path != directory, [EINVAL, EROFS, EBADF].contains(error.number) else { throw error }
      }
      last = status
      path += "/.."
    }
  }

  /// Whether somebody removed it under our hands.
  var isGone: Bool {
    // What can't be looked at is still there, as far as anybody knows.
    ((try? system.status(locks.isReading ? folder : locks.file).links) ?? 1) == 0
  }

  func openFile(_ name: String, _ flags: Int32) throws(SystemFault) -> (fd: Int32, status: FileStatus) {
    try FileDoor.open(folder, name, flags, system)
  }

  /// Waits until its names would survive a loss of power.
  func sync() throws(SystemFault) { try system.sync(folder) }

  func names() throws(SystemFault) -> [String] { try system.names(folder) }

  func remove(_ name: String) throws(SystemFault) {
    do { try system.unlink(folder, name) } catch  where error.number == ENOENT {}
  }
}
