import Glibc
import NuthatchBase
import NuthatchTransport

/// The default location of a cache, and how its directory is created.
package enum CacheDirectory {
  /// Returns the directory to use. If it is missing, it is created for its owner only. A read-only directory is accepted; the store
  /// detects that.
  static func prepare(_ path: String?) throws(NuthatchError) -> String {
    let path = if let path { path } else { try standard() }
    guard !path.isEmpty else { throw NuthatchError(.invalid, "the path of the cache is empty") }
    try Lengths.check(path: path, "the path of the cache")
    try makeWithParents(path)
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure("can't be read", path) }
    guard status.st_mode & S_IFMT == S_IFDIR else {
      throw NuthatchError(.io, "the cache can't be opened: \(path) is not a directory")
    }
    guard isUsable(path, R_OK | X_OK) else { throw failure("can't be used", path) }
    return path
  }

  /// Identifies a directory, whichever path leads to it.
  struct Identity: Hashable, Sendable {
    let device: UInt64
    let inode: UInt64
    /// The same directory may be mounted twice, once read-only.
    let isWritable: Bool
  }

  static func identity(of path: String) throws(NuthatchError) -> Identity {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure("can't be read", path) }
    return Identity(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
      isWritable: isUsable(path, W_OK))
  }

  /// Whether the path exists, and the effective user of this process may access it.
  private static func isUsable(_ path: String, _ mode: Int32 = F_OK) -> Bool {
    faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0
  }

  /// Throws if the directory holds other files and no cache. Commands that only read a cache call it, because they must not
  /// create files there.
  ///
  /// - Throws: `io`.
  package static func refuseOthers(_ path: String?) throws(NuthatchError) {
    let path = if let path { path } else { try standard() }
    guard !isUsable(path + "/packs"), let names = folderNames(path) else { return }
    // Files of a cache without packs. For example, only the outbox's folder may be left.
    let ours: Set = ["index", "lock", "locks", "limits", "flights", "cookies", "outbox"]
    for name in names where !ours.contains(name) && !name.hasSuffix(".new") && !name.contains(".foreign-") {
      // Another process may be creating the cache at this moment.
      if isUsable(path + "/packs") { return }
      throw NuthatchError(
        .io, "\(path) is not a cache: the directory holds other files; choose another one (--cache)")
    }
  }

  /// The directory that is used without a path; nil if the environment names none.
  package static var usual: String? { try? standard() }

  static func standard() throws(NuthatchError) -> String {
    if let path = Environment.variable("NUTHATCH_CACHE") { return path }
    if let base = Environment.variable("XDG_CACHE_HOME"), base.hasPrefix("/") { return base + "/nuthatch" }
    if let home = Environment.home { return home + "/.cache/nuthatch" }
    throw NuthatchError(
      .invalid, "no path for the cache: pass one, or set NUTHATCH_CACHE, XDG_CACHE_HOME or HOME")
  }

  private static func makeWithParents(_ path: String) throws(NuthatchError) {
    var next = path.utf8.startIndex
    while next < path.utf8.endIndex {
      let slash =
        path.utf8[path.utf8.index(after: next)...].firstIndex(of: UInt8(ascii: "/")) ?? path.utf8.endIndex
      let folder = String(path[..<slash])
      // Another process may create it at this moment, or it exists but we may not write in its parent.
      if mkdir(folder, 0o700) != 0, errno != EEXIST {
        let reason = errno
        if !isUsable(folder) {
          errno = reason
          throw failure("can't be created", folder)
        }
      }
      next = slash
    }
  }

  private static func failure(_ what: String, _ path: String) -> NuthatchError {
    let code: ErrorCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .io
    return NuthatchError(code, "the cache directory \(what): \(path): \(String(cString: strerror(errno)))")
  }
}
