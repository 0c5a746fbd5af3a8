import CSystem
import Glibc

/// The folder `outbox` of a cache's directory, held open, with its lock.
final class JournalFolder {
  static let name = "outbox"
  /// Bytes of the file `lock`.
  static let changing: Int64 = 0
  static let sending: Int64 = 1
  /// The first of those that stand for single records.
  static let firstRecord: Int64 = 1024

  let system: any SystemCalls
  let folder: Int32
  /// -1 where the file can only be read, or can't be made: then nothing is locked, and nothing is written.
  let lock: Int32
  private let epoch = nhs_fork_epoch()
  private let own = LockOwner.own
  /// Where the owner notes itself; nil where that can't be had, or written.
  private let note: FileMapping?
  private static let size = 64

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
      lock = try FileDoor.open(opened, "lock", O_RDWR | O_CREAT, system).0
    } catch {
      guard !makes, error.number == EROFS || error.number == EACCES else {
        system.close(opened)
        throw error
      }
      lock = -1
    }
    self.system = system
    folder = opened
    note = lock < 0 ? nil : try? Self.words(opened, system)
    guard lock >= 0 else { return }
    // A child that had it open would hold its dead parent's locks.
    _ = nhs_close_in_child(lock)
  }

  deinit {
    if let note { system.unmap(note) }
    system.close(folder)
    guard epoch == nhs_fork_epoch(), lock >= 0 else { return }
    nhs_keep_in_child(lock)
    system.close(lock)
  }

  /// Whether it can only be read.
  var isReading: Bool { lock < 0 }

  /// Notes that this process has the lock. Not by a system call: others would be told that the folder has changed.
  func noteOwner() {
    if let note { own.store(at: note.base) }
  }

  /// The process that has locked it last, for a person.
  var owner: String {
    note.map { LockOwner(at: $0.base).words } ?? LockOwner.unknown
  }

  /// The words of the file, by another opening of it: a forked child has its parent's mappings, and would keep the locks of this one.
  private static func words(_ folder: Int32, _ system: any SystemCalls) throws(SystemFault) -> FileMapping {
    let (fd, status) = try FileDoor.open(folder, "lock", O_RDWR, system)
    defer { system.close(fd) }
    try system.makeRoom(fd, size, status)
    return try system.map(fd, size, isWritable: true)
  }

  /// Sees to it that the folder's name would survive a loss of power, and the names of all that it lies in: whoever made
  /// them, for its sake perhaps, may have died before. Done before there is a log, which so says that it was.
  func settle(in directory: String) throws(SystemFault) {
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
    ((try? system.status(isReading ? folder : lock).links) ?? 1) == 0
  }

  func openFile(_ name: String, _ flags: Int32) throws(SystemFault) -> (Int32, FileStatus) {
    try FileDoor.open(folder, name, flags, system)
  }

  func remove(_ name: String) throws(SystemFault) {
    do { try system.unlink(folder, name) } catch  where error.number == ENOENT {}
  }
}
