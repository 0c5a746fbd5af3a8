import Glibc

/// Reads small files at once.
package enum WholeFile {
  /// Returns the contents of an open file; of a longer file at least `longest` bytes, and at most 32 KiB more. Returns nil if
  /// the file can't be read, with the reason in `errno`.
  package static func content(of descriptor: Int32, atMost longest: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    let isRead = withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 1) { piece in
      while bytes.count < longest {
        let count = read(descriptor, piece.baseAddress, piece.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return count == 0 }
        bytes += piece[..<count]
      }
      return true
    }
    return isRead ? bytes : nil
  }

  /// Returns the contents of the file at `path`, as above. Doesn't wait for the writer of a pipe.
  package static func content(of path: String, atMost longest: Int) -> [UInt8]? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    return content(of: descriptor, atMost: longest)
  }
}
