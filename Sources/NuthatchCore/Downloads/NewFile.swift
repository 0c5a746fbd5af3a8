import Glibc
import NuthatchStore

/// A file that gets its name when it is complete. Until then it has none, or, where the file system knows no such files, a
/// hidden one; dropped before that, it leaves nothing.
package final class NewFile {
  package let descriptor: Int32
  let target: String
  /// What messages call it.
  private let path: String
  private var name: String?
  private var isSettled = false
  /// What a new file's mode is there; nil when that is still to be found out.
  private var newMode: mode_t?

  /// - Parameter followsLinks: whether what symbolic links mean is replaced, not they.
  package init(for path: String, followsLinks: Bool = true) throws(NuthatchError) {
    self.path = path
    target = followsLinks ? try Self.resolved(path) : path
    let folder = Self.folder(of: target)
    let unnamed = Self.canBeNamed ? open(folder, O_RDWR | O_CLOEXEC | Self.temporary, 0o666) : -1
    if unnamed >= 0 {
      descriptor = unnamed
      newMode = Self.mode(of: unnamed)
    } else {
      (name, descriptor) = try Self.hidden(for: target, path)
    }
    // Nobody else is to write to it before it is whole.
    fchmod(descriptor, 0o600)
  }

  /// One that has a hidden name for good reason.
  init(_ descriptor: Int32, named name: String, target: String) {
    self.descriptor = descriptor
    self.name = name
    self.target = target
    path = target
    fchmod(descriptor, 0o600)
  }

  deinit {
    close(descriptor)
    if let name { unlink(name) }
  }

  var isUnnamed: Bool { name == nil }

  /// Gives one without a name a hidden one, locked for this process. False when it is another file's.
  func hide(as hidden: String) -> Bool { name == nil && Self.lock(descriptor) && link(as: hidden) }

  /// Whether it is this process's. Where there are no locks, nobody takes away what others have left.
  private static func lock(_ descriptor: Int32) -> Bool {
    flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }

  private func link(as new: String) -> Bool {
    guard name == nil, linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, new, AT_SYMLINK_FOLLOW) == 0
    else { return false }
    name = new
    return true
  }

  /// Leaves it under its hidden name.
  func keep() { name = nil }

  /// All bytes are on the disk.
  func settle() throws(NuthatchError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw Self.failure(path) }
    }
    isSettled = true
  }

  /// Gives it its name, in the place of what had it, and the mode that goes with that. Where the bytes are on the disk, the
  /// name is, too.
  ///
  /// - Parameters:
  ///   - other: the name, if it isn't the one that it was made for.
  ///   - mode: nil for that of the file that it replaces, or of a new one.
  package func appear(as other: String? = nil, mode: mode_t? = nil) throws(NuthatchError) {
    let place = other ?? target
    fchmod(descriptor, mode ?? targetMode)
    // Some file systems tell of a full disk only when a descriptor is closed.
    let closed = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard closed < 0 || close(closed) == 0 else { throw Self.failure(path) }
    // A link replaces nothing, so that it serves where nothing has the name.
    if !link(as: place) {
      guard name != nil || hide(as: Self.freeName(for: place)), let name, rename(name, place) == 0
      else { throw Self.failure(path) }
    }
    self.name = nil
    if isSettled { Self.settleFolder(of: target) }
  }

  /// One that was there stays as private as it was; a new one goes by the umask.
  private var targetMode: mode_t {
    var status = stat()
    if lstat(target, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      // Somebody else's may have been put there meanwhile, to be written to.
      return status.st_mode & (status.st_uid == geteuid() ? 0o777 : 0o755)
    }
    return newMode ?? Self.modeOfNew(in: Self.folder(of: target))
  }

  /// The mode of a new file there: nobody can ask for the umask without changing it, and a folder may have a rule of its own.
  private static func modeOfNew(in folder: String) -> mode_t {
    var (descriptor, name) = (open(folder, O_RDWR | O_CLOEXEC | temporary, 0o666), String?.none)
    if descriptor < 0 {
      name = randomName(in: folder)
      descriptor = open(name ?? "", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    }
    guard descriptor >= 0 else { return 0o600 }
    defer { close(descriptor) }
    if let name { unlink(name) }
    return mode(of: descriptor)
  }

  private static func mode(of descriptor: Int32) -> mode_t {
    var status = stat()
    return fstat(descriptor, &status) == 0 ? status.st_mode & 0o777 : 0o600
  }

  /// Whether a file without a name can get one later.
  private static let canBeNamed = access("/proc/self/fd", X_OK) == 0
  // O_TMPFILE, a macro that Swift does not see.
  private static let temporary: Int32 = 0o20000000 | O_DIRECTORY

  private static func hidden(for target: String, _ path: String) throws(NuthatchError) -> (String, Int32) {
    for _ in 0..<100 {
      let name = freeName(for: target)
      let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        // Before it had its lock, another process may have taken it for one that was left.
        if lock(descriptor), FileDoor.has(name, descriptor) { return (name, descriptor) }
        close(descriptor)
      } else if errno != EEXIST {
        break
      }
    }
    throw failure(path)
  }

  /// A hidden name beside a file. It is the same each time, so that what a killed process has left under it, and has no lock any
  /// more, is removed by the next one that writes the file. While another process writes under it, a name by chance.
  private static func freeName(for target: String) -> String {
    let folder = folder(of: target)
    let own = "\(folder)/.\(target.split(separator: "/").last ?? "").nuthatch-new"
    let left: Int32
    do throws(SystemFault) { left = try FileDoor.open(own, O_RDWR) } catch {
      return error.number == ENOENT ? own : randomName(in: folder)
    }
    defer { close(left) }
    guard flock(left, LOCK_EX | LOCK_NB) == 0, FileDoor.has(own, left), unlink(own) == 0 else {
      return randomName(in: folder)
    }
    return own
  }

  private static func randomName(in folder: String) -> String {
    "\(folder)/.nuthatch-\(String(UInt64.random(in: .min ... .max), radix: 36)).part"
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  static func settleFolder(of path: String) {
    let folder = open(folder(of: path), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    // A file system that can't settle a folder keeps its names in its own way.
    fsync(folder)
    close(folder)
  }

  /// The file that a symbolic link means.
  static func resolved(_ path: String) throws(NuthatchError) -> String {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw NuthatchError(.invalid, "a path to save to is empty or holds a NUL")
    }
    var target = path
    for _ in 0..<40 {
      guard let next = next(after: target) else { return target }
      target = next
    }
    errno = ELOOP
    throw failure(path)
  }

  /// What a symbolic link leads to; nil when it is none.
  package static func next(after link: String) -> String? {
    var text = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &text, text.count)
    if count < 0 { return nil }
    let next = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = link.lastIndex(of: "/").map { String(link[...$0]) } ?? ""
    return next.hasPrefix("/") ? next : folder + next
  }

  /// Opens a device or a pipe, to be written into: neither this nor a write waits.
  package static func openDevice(_ path: String) throws(NuthatchError) -> Int32 {
    let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    if descriptor >= 0 { return descriptor }
    var status = stat()
    guard errno == ENXIO, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
      throw failure(path)
    }
    throw NuthatchError(
      .io, "\(path) can't be written: no process has this pipe open for reading; start its reader first")
  }

  /// What errno says.
  package static func failure(_ path: String) -> NuthatchError {
    let code: ErrorCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .io
    return NuthatchError(code, "\(path) can't be written: \(String(cString: strerror(errno)))")
  }

  /// Writes all of it at a place of the file, or where the descriptor stands. False with errno.
  package static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, at place: Int64?) -> Bool {
    var done = 0
    while done < bytes.count {
      let (rest, left) = (bytes.baseAddress.map { $0 + done }, bytes.count - done)
      let count =
        place.map { pwrite(descriptor, rest, left, Int($0) + done) } ?? Glibc.write(descriptor, rest, left)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        if count == 0 { errno = EIO }
        return false
      }
      done += count
    }
    return true
  }
}
