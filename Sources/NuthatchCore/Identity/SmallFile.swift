import Glibc
import NuthatchBase
import NuthatchStore
import NuthatchTransport

/// Files of our own making that are read and written whole.
enum SmallFile {
  private static let longest = 1 << 20

  /// One of our own making; nil when there is none that can be used.
  static func read(_ path: String, keepsOthersOut: Bool = false) -> [UInt8]? {
    guard let descriptor = try? FileDoor.open(path, O_RDONLY, keepsOthersOut: keepsOthersOut) else {
      return nil
    }
    defer { close(descriptor) }
    return WholeFile.content(of: descriptor, atMost: longest)
  }

  /// Puts a whole file in the place of the one that there was, for this user only. False with `errno`.
  static func replace(_ path: String, _ bytes: [UInt8]) -> Bool {
    guard let (draft, descriptor) = draft(for: path) else { return false }
    defer { close(descriptor) }
    if bytes.withUnsafeBytes({ NewFile.write($0, to: descriptor, at: 0) }), rename(draft, path) == 0 {
      return true
    }
    let reason = errno
    unlink(draft)
    errno = reason
    return false
  }

  /// A new file, locked for its writer. What one that was killed has left is removed first.
  private static func draft(for path: String) -> (name: String, descriptor: Int32)? {
    var name = path + "-new"
    for _ in 0..<3 {
      let descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
      if descriptor >= 0 {
        if claims(descriptor, name) { return (name, descriptor) }
        close(descriptor)
      } else {
        guard errno == EEXIST else { return nil }
        if let old = try? FileDoor.open(name, O_RDONLY) {
          let isLeft = claims(old, name)
          if isLeft { unlink(name) }
          close(old)
          if isLeft { continue }
        }
      }
      // Somebody writes it at this moment, or has put there what isn't ours.
      name = "\(path)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
    }
    return nil
  }

  /// Whether a file is this one's alone, and has its name still: another process may have taken it for one that was left.
  private static func claims(_ descriptor: Int32, _ name: String) -> Bool {
    // Where there are no locks nobody takes anything away either.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return false }
    return FileDoor.has(name, descriptor)
  }
}
