import Glibc

/// Standard output and standard error.
enum Terminal {
  /// Writes to standard output. A closed pipe ends the program quietly.
  static func print(_ text: String) {
    var text = text
    let isOpen = text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    if !isOpen { exit(ExitCode.closedPipe.rawValue) }
  }

  /// Writes to standard error; there is nobody to tell when that fails.
  static func complain(_ text: String) {
    var text = text
    _ = text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO) }
  }

  /// Writes bytes to standard output. False when nobody reads them.
  static func write(_ bytes: UnsafeRawBufferPointer) -> Bool { writeAll(bytes, to: STDOUT_FILENO) }
}

/// Writes all of `bytes`. False, and `errno` says why, when it can't.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    guard count > 0 else { return false }
    rest = rest.dropFirst(count)
  }
  return true
}
