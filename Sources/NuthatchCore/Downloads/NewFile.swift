import Glibc
import NuthatchStore

/// A file that appears under its name only when it is complete. Until then it has no name, or a hidden one if the file system
/// doesn't support files without a name. If it is released before, nothing is left.
package final class NewFile {
  package let descriptor: Int32
  let target: String
  /// The path for messages.
  private let path: String
  private var name: String?
  private var isSettled = false
  /// The mode of a new file in the target's folder; nil while it is unknown.
  private var newMode: mode_t?

  /// - Parameter followsLinks: whether a symbolic link stays and its target is replaced.
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
    // No other user may write to it before it is complete.
    fchmod(descriptor, 0o600)
  }

  /// Takes over a file that already has a hidden name.
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

  /// Gives a file without a name a hidden one, locked for this process. Returns false if another file has that name.
  func hide(as hidden: String) -> Bool { name == nil && Self.lock(descriptor) && link(as: hidden) }

  /// Locks the file. Returns true also if the file system has no locks; then no process removes files that others have left.
  private static func lock(_ descriptor: Int32) -> Bool {
    flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
  }

  private func link(as new: String) -> Bool {
    guard name == nil, linkat(AT_FDCWD, "/proc/self/fd/\(descriptor)", AT_FDCWD, new, AT_SYMLINK_FOLLOW) == 0
    else { return false }
    name = new
    return true
  }

  /// Keeps the file under its hidden name.
  func keep() { name = nil }

  /// Waits until all bytes are on the disk.
  func settle() throws(NuthatchError) {
    while fsync(descriptor) != 0 {
      guard errno == EINTR else { throw Self.failure(path) }
    }
    isSettled = true
  }

  /// Gives the file its name and mode. It replaces a file of that name. If `settle` was called, the name is on the disk, too.
  ///
  /// - Parameters:
  ///   - other: the name, if it isn't `target`.
  ///   - mode: nil for the mode of the file that it replaces, or of a new one.
  package func appear(as other: String? = nil, mode: mode_t? = nil) throws(NuthatchError) {
    let place = other ?? target
    fchmod(descriptor, mode ?? targetMode)
    // Some file systems report a full disk only when a descriptor is closed.
    let closed = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    guard closed < 0 || close(closed) == 0 else { throw Self.failure(path) }
    // A link never replaces a file, so it works only if the name is free.
    if !link(as: place) {
      guard name != nil || hide(as: Self.freeName(for: place)), let name, rename(name, place) == 0
      else { throw Self.failure(path) }
    }
    self.name = nil
    if isSettled { Self.settleFolder(of: target) }
  }

  /// A replaced file keeps its mode; a new file gets its mode from the umask.
  private var targetMode: mode_t {
    var status = stat()
    if lstat(target, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      // Another user may have put the file there, to keep a way to write to it; so write permissions of others are removed.
      return status.st_mode & (status.st_uid == geteuid() ? 0o777 : 0o755)
    }
    return newMode ?? Self.modeOfNew(in: Self.folder(of: target))
  }

  /// Returns the mode of a new file in a folder. Reading the umask would change it, and a folder may have its own rule (ACL).
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
  // O_TMPFILE, a macro that Swift doesn't import.
  private static let temporary: Int32 = 0o20000000 | O_DIRECTORY

  private static func hidden(for target: String, _ path: String) throws(NuthatchError) -> (String, Int32) {
    for _ in 0..<100 {
      let name = freeName(for: target)
      let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        // Before the lock, another process may have taken the file for an abandoned one and removed it.
        if lock(descriptor), FileDoor.has(name, descriptor) { return (name, descriptor) }
        close(descriptor)
      } else if errno != EEXIST {
        break
      }
    }
    throw failure(path)
  }

  /// Returns a hidden name beside a file. It is the same each time, so that the next writer removes the unlocked file of a
  /// killed process. If another process writes under this name, returns a random one.
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
    // A failure is ignored: the file system can't sync a folder.
    fsync(folder)
    close(folder)
  }

  /// Returns the target of a symbolic link, or the path itself.
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

  /// Returns the next path of a symbolic link; nil if it isn't a link.
  package static func next(after link: String) -> String? {
    var text = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(link, &text, text.count)
    if count < 0 { return nil }
    let next = String(decoding: text[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = link.lastIndex(of: "/").map { String(link[...$0]) } ?? ""
    return next.hasPrefix("/") ? next : folder + next
  }

  /// Opens a device or a pipe for writing. Neither this nor a write waits.
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

  /// Returns the error that `errno` means.
  package static func failure(_ path: String) -> NuthatchError {
    let code: ErrorCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .io
    return NuthatchError(code, "\(path) can't be written: \(String(cString: strerror(errno)))")
  }

  /// Writes all bytes at an offset of the file, or at the current one. Returns false with errno on failure.
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
