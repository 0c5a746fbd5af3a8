import Glibc

/// The folder `outbox` of a cache directory, open, with its locks.
final class JournalFolder {
  static let name = "outbox"

  let folder: Int32
  let locks: JournalLocks
  let system: any SystemCalls
  private let directory: String

  /// Opens the folder. Returns nil if there is none and `makes` is false.
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

  /// Makes the names of this folder and of all folders above it survive a loss of power. The process that created them may have
  /// ended before it did so. Call it before the log is created: an existing log shows that it was done.
  func syncNames() throws(SystemFault) {
    var path = directory
    var last: FileStatus?
    while true {
      let fd: Int32
      do throws(SystemFault) {
        fd = try system.open(AT_FDCWD, path, O_RDONLY | O_DIRECTORY)
      } catch {
        // A folder that this user can't read was not created for the outbox.
        if path != directory, error.number == EACCES { return }
        throw error
      }
      defer { system.close(fd) }
      let status = try system.status(fd)
      if let last, last.inode == status.inode, last.device == status.device { return }
      do throws(SystemFault) {
        try system.sync(fd)
      } catch {
        // Not every file system can sync a folder.
        guard path != directory, [EINVAL, EROFS, EBADF].contains(error.number) else { throw error }
      }
      last = status
      path += "/.."
    }
  }

  /// Whether the folder or its lock file was deleted.
  var isGone: Bool {
    // If this can't be checked, assume that it exists.
    ((try? system.status(locks.isReading ? folder : locks.file).links) ?? 1) == 0
  }

  func openFile(_ name: String, _ flags: Int32) throws(SystemFault) -> (fd: Int32, status: FileStatus) {
    try FileDoor.open(folder, name, flags, system)
  }

  /// Waits until the names of files in the folder are on the disk.
  func sync() throws(SystemFault) { try system.sync(folder) }

  func names() throws(SystemFault) -> [String] { try system.names(folder) }

  func remove(_ name: String) throws(SystemFault) {
    do { try system.unlink(folder, name) } catch  where error.number == ENOENT {}
  }
}
