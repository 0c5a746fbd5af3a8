import Glibc

/// Opens files that another user may have put there, after checking them (docs/DECISIONS.md, "Files of other users").
package enum FileDoor {
  /// Opens a file that Nuthatch made: a plain file of this user with one name, no link, and not writable by others.
  ///
  /// - Parameters:
  ///   - keepsOthersOut: whether the folder keeps other users out. Then the file's mode may allow others to write.
  /// - Throws: `SystemFault`; `unsafe` says why the file isn't such a file.
  package static func open(
    _ path: String, _ flags: Int32, keepsOthersOut: Bool = false
  ) throws(SystemFault) -> Int32 {
    try open(AT_FDCWD, path, flags, LinuxCalls(), ignoring: keepsOthersOut ? .mode : .nothing).0
  }

  /// The properties of a file that aren't checked.
  enum Leniency { case nothing, mode, ownerAndMode, names }

  static func open(
    _ directory: Int32, _ name: String, _ flags: Int32, _ system: any SystemCalls,
    ignoring leniency: Leniency = .nothing
  ) throws(SystemFault) -> (Int32, FileStatus) {
    let fd: Int32
    // O_NONBLOCK, so that a pipe of that name can't block.
    do throws(SystemFault) { fd = try system.open(directory, name, flags | O_NOFOLLOW | O_NONBLOCK) } catch {
      switch error.number {
      case ELOOP: throw SystemFault(ELOOP, unsafe: "\(name) is a symbolic link")
      // The file is a socket.
      case ENXIO: throw SystemFault(EINVAL, unsafe: "\(name) is not a regular file")
      default: throw error
      }
    }
    do throws(SystemFault) {
      let status = try system.status(fd)
      if let flaw = flaw(status, leniency) { throw SystemFault(EINVAL, unsafe: "\(name) \(flaw)") }
      return (fd, status)
    } catch {
      system.close(fd)
      throw error
    }
  }

  private static func flaw(_ status: FileStatus, _ leniency: Leniency) -> String? {
    guard status.isFile else { return "is not a regular file" }
    guard status.links <= 1 || leniency == .names else { return "has more than one name (a hard link)" }
    guard leniency != .ownerAndMode else { return nil }
    return flaw(owner: status.owner, mode: leniency == .mode ? 0 : status.mode)
  }

  /// Returns why another user may have changed a file or folder; nil if only this user can change it.
  static func flaw(owner: UInt32, mode: UInt32) -> String? {
    guard owner == geteuid() else { return "belongs to another user" }
    return mode & 0o022 == 0 ? nil : "is writable for other users (run chmod go-w)"
  }

  /// Returns whether a folder belongs to this user and no other user may create or rename files in it.
  package static func isOurs(folder path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && flaw(owner: status.st_uid, mode: status.st_mode) == nil
  }

  /// Returns whether the file with this name is the open one.
  package static func has(_ name: String, _ descriptor: Int32) -> Bool {
    var (own, named) = (stat(), stat())
    return fstat(descriptor, &own) == 0 && lstat(name, &named) == 0 && own.st_ino == named.st_ino
      && own.st_dev == named.st_dev
  }
}
