import Glibc
import NuthatchBase
import NuthatchHTTP

/// A file with secrets of the user, who gives its path: a netrc, a certificate, its key.
///
/// Symbolic links are allowed. Refuses a file that other users can write to, that another user (except root) owns, or that
/// isn't regular (except /dev/null). `FileDoor` is stricter, for files that Nuthatch makes itself.
package enum NamedFile {
  private static let longest = 1 << 20

  /// - Returns: the first MiB of the file. Nil if the file can't be read; `errno` then has the reason.
  /// - Throws: `unsafeFile`.
  package static func read(_ path: String) throws(TransportFault) -> [UInt8]? {
    var mode: mode_t = 0
    return try read(path, mode: &mode)
  }

  /// As `read`, and sets `mode` to that of the file.
  package static func read(_ path: String, mode: inout mode_t) throws(TransportFault) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    if let flaw = flaw(of: descriptor, &mode) {
      throw TransportFault(.unsafeFile, "\(path.printable) isn't used: it \(flaw)")
    }
    return WholeFile.content(of: descriptor, atMost: longest)
  }

  private static func flaw(of descriptor: Int32, _ mode: inout mode_t) -> String? {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return "can't be checked" }
    mode = status.st_mode
    // Users name /dev/null to say that there is no such file.
    if status.st_mode & S_IFMT == S_IFCHR, status.st_rdev == 0x103 { return nil }
    guard status.st_mode & S_IFMT == S_IFREG else { return "is not a regular file" }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { return "belongs to another user" }
    return status.st_mode & 0o022 == 0 ? nil : "is writable for other users (run chmod go-w)"
  }
}
