import Glibc
import NuthatchCore

/// Files that appear at their names only when they are complete.
enum OutputFile {
  static func write(_ bytes: UnsafeRawBufferPointer, to path: String) throws(NuthatchError) {
    var status = stat()
    // Only a plain file is replaced; a device or a pipe is written into.
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
      return try write(bytes, to: open(path, O_WRONLY | O_CLOEXEC), path, named: path)
    }
    let target = resolved(path)
    let draft = "\(target).\(getpid()).part"
    do throws(NuthatchError) {
      try write(bytes, to: open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666), path, named: draft)
      guard rename(draft, target) == 0 else { throw failure(path) }
    } catch {
      unlink(draft)
      throw error
    }
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ path: String, named file: String
  ) throws(NuthatchError) {
    guard descriptor >= 0 else { throw failure(path) }
    let isWritten = writeAll(bytes, to: descriptor)
    let error = errno
    // Some file systems tell of a full disk only now.
    let isClosed = close(descriptor) == 0
    if !isWritten { errno = error }
    guard isWritten, isClosed else { throw failure(path) }
  }

  /// The file that a symbolic link means: it, not the link, is replaced.
  private static func resolved(_ path: String) -> String {
    guard let real = realpath(path, nil) else { return path }
    defer { free(real) }
    return String(cString: real)
  }

  private static func failure(_ path: String) -> NuthatchError {
    let code: ErrorCode = errno == ENOSPC || errno == EDQUOT ? .noSpace : .io
    return NuthatchError(code, "\(path) can't be written: \(String(cString: strerror(errno)))")
  }
}

/// Files that are read whole.
enum InputFile {
  /// `-` is standard input.
  static func read(_ path: String) throws(UsageError) -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path) }
    defer { if path != "-" { close(descriptor) } }
    var content: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path) }
      if count == 0 { return content }
      content += chunk[..<count]
    }
  }

  private static func failure(_ path: String) -> UsageError {
    UsageError("\(path) can't be read: \(String(cString: strerror(errno)))")
  }
}
