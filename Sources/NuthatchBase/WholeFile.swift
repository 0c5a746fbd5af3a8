import Glibc

/// Small files, which are read whole.
package enum WholeFile {
  /// What an open file has: about `longest` bytes of it where it is longer. Nil when it can't be read, with the reason in `errno`.
  package static func content(of descriptor: Int32, atMost longest: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 32_768)
    while bytes.count < longest {
      let count = read(descriptor, &piece, piece.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += piece[..<count]
    }
    return bytes
  }

  /// The same of a file that has this name. A pipe is not waited for.
  package static func content(of path: String, atMost longest: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return content(of: descriptor, atMost: longest)
  }
}
