import Glibc

/// Standard output and standard error.
enum Terminal {
  /// Whether colours may be used where something is a terminal (no-color.org).
  static var allowsColour: Bool {
    guard let value = getenv("NO_COLOR") else { return true }
    return value.pointee == 0
  }

  /// Writes to standard output. What keeps it from that ends the program.
  static func print(_ text: String) {
    var text = text
    let code = text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    if let code { exit(code.rawValue) }
  }

  /// Writes to standard error; there is nobody to tell when that fails.
  static func complain(_ text: String) {
    var text = text
    // Also after a signal: how a run ended is said then, too.
    _ = text.withUTF8 { writeAll(UnsafeRawBufferPointer($0), to: STDERR_FILENO, heedsSignals: false) }
  }

  /// Writes bytes to standard output. nil, or the exit code of what kept it from that: quietly when nobody reads
  /// any more, with a message when the disk is full.
  static func write(_ bytes: UnsafeRawBufferPointer) -> ExitCode? {
    if writeAll(bytes, to: STDOUT_FILENO) { return nil }
    if let code = Interruption.exitCode { return code }
    if errno == EPIPE { return .closedPipe }
    complain("nuthatch: standard output can't be written: \(String(cString: strerror(errno)))\n")
    return .failure
  }
}

/// Writes all of `bytes`. False, and `errno` says why, when it can't, or when the program was told to end meanwhile.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, heedsSignals: Bool = true) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    // An interrupted write tells of what it had written until then, so that the signal is looked for here, too.
    if heedsSignals, Interruption.signal != nil {
      errno = EINTR
      return false
    }
    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    if count < 0, errno == EAGAIN {
      // Somebody else made the pipe one that doesn't wait.
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&ready, 1, -1)
      continue
    }
    guard count > 0 else { return false }
    rest = rest.dropFirst(count)
  }
  return true
}
