import Glibc
import NuthatchCore

/// A file that gets its name when it is complete: until then it has a hidden one in the same folder, and is locked by its
/// writer. Dropped before that, it leaves nothing. What a process that was killed has left there has no lock any more, and
/// is swept by the next one.
final class HiddenFile {
  let descriptor: Int32
  private let name: String
  private var isOpen = true
  private var isThere = true

  /// - Parameter path: what messages call it.
  init(beside target: String, _ path: String) throws(NuthatchError) {
    let folder = Self.folder(of: target)
    for attempt in 0..<1000 {
      // Another run may have left its own behind, even under this process's number.
      let name = "\(folder)\(Self.prefix)\(getpid())-\(attempt)\(Self.suffix)"
      let descriptor = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      if descriptor < 0, errno == EEXIST { continue }
      guard descriptor >= 0 else { break }
      if Self.claims(descriptor, name) {
        self.descriptor = descriptor
        self.name = name
        return
      }
      close(descriptor)
    }
    throw OutputFile.failure(path)
  }

  deinit {
    // What made it fail is still to be told.
    let reason = errno
    if isOpen { close(descriptor) }
    if isThere { unlink(name) }
    errno = reason
  }

  /// Gives it its name. False with errno.
  func appear(as target: String) -> Bool {
    // Some file systems tell of a full disk only when it is closed; and until it has its name it stays locked.
    let held = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
    defer { if held >= 0 { close(held) } }
    isOpen = false
    guard close(descriptor) == 0, rename(name, target) == 0 else { return false }
    isThere = false
    return true
  }

  // MARK: What others left

  private static let prefix = ".nuthatch-"
  private static let suffix = ".part"

  /// Whether the file is this process's: one that had no lock yet may have been taken for a dead one's.
  private static func claims(_ descriptor: Int32, _ name: String) -> Bool {
    // Where there are no locks nobody sweeps either.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { return errno != EWOULDBLOCK }
    return isNamed(descriptor, name)
  }

  private static func isNamed(_ descriptor: Int32, _ name: String) -> Bool {
    var own = stat()
    var named = stat()
    return fstat(descriptor, &own) == 0 && lstat(name, &named) == 0 && own.st_ino == named.st_ino
      && own.st_dev == named.st_dev
  }

  /// Removes from the folder of `target` what nobody writes any more.
  static func sweep(beside target: String) {
    let folder = folder(of: target)
    guard let stream = opendir(folder.isEmpty ? "." : folder) else { return }
    defer { closedir(stream) }
    while let entry = readdir(stream) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
      }
      if isHidden(name) { remove(folder + name) }
    }
  }

  /// With its slash.
  private static func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
  }

  /// Whether it is called as this type's files are: by two numbers.
  private static func isHidden(_ name: String) -> Bool {
    guard name.hasPrefix(prefix), name.hasSuffix(suffix) else { return false }
    let numbers = name.dropFirst(prefix.count).dropLast(suffix.count)
      .split(separator: "-", omittingEmptySubsequences: false)
    return numbers.count == 2 && numbers.allSatisfy { UInt32($0) != nil }
  }

  private static func remove(_ path: String) {
    let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
      flock(descriptor, LOCK_EX | LOCK_NB) == 0, isNamed(descriptor, path)
    else { return }
    unlink(path)
  }
}
