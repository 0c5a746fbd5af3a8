import Glibc
import NuthatchBase

/// Standard output and standard error.
enum Terminal {
  /// The longest wait for a reader of standard error after a signal, in milliseconds.
  private static let patience: Int64 = 1500

  /// A text style of a terminal.
  enum Style: String {
    case bold = "1"
    case bad = "1;31"
    case good = "32"
    case doubtful = "33"
  }

  /// Whether colours are used: on a terminal that isn't dumb, unless NO_COLOR is set (no-color.org).
  static func isColoured(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1 else { return false }
    if Environment.variable("NO_COLOR") != nil { return false }
    return !isDumb
  }

  /// Whether the terminal understands no control sequences.
  static var isDumb: Bool { Environment.variable("TERM") == "dumb" }

  /// Returns the width of a terminal in characters, or 80 if it is unknown.
  static func columns(of descriptor: Int32) -> Int { knownColumns(of: descriptor) ?? 80 }

  /// Returns the width of a terminal in characters, or nil if it is unknown or the descriptor is not a terminal.
  static func knownColumns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Returns the text with its lines broken between words to fit the terminal.
  static func fitted(_ text: String, on descriptor: Int32 = STDOUT_FILENO) -> String {
    guard let columns = knownColumns(of: descriptor) else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { TextLines.broken(String($0), to: columns) }.joined(separator: "\n")
  }

  /// Returns the text in a style if the descriptor shows colours.
  static func styled(_ text: String, _ style: Style, on descriptor: Int32 = STDOUT_FILENO) -> String {
    isColoured(descriptor) ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }

  /// Writes to standard output. Ends the program if that fails.
  static func print(_ text: String) {
    var text = text
    let code = text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
    if let code { exit(code.rawValue) }
  }

  /// Writes to standard error. A failure is ignored, as it can't be reported.
  static func complain(_ text: String) {
    var text = text
    let name = "nuthatch:"
    if text.hasPrefix(name) { text = fitted(text, on: STDERR_FILENO) }
    if text.hasPrefix(name), isColoured(STDERR_FILENO) {
      text = styled(name, .bad, on: STDERR_FILENO) + text.dropFirst(name.count)
    }
    text.withUTF8 { complain(UnsafeRawBufferPointer($0)) }
  }

  /// Writes also after a signal, because the summary of the run is due then. But after `patience` it stops waiting for a reader.
  private static func complain(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let wait = min(50, patience - (Interruption.age ?? 0) / 1_000_000)
      var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      // Wait at most 50 ms: a signal that comes just before `poll` doesn't interrupt it.
      guard poll(&ready, 1, Int32(max(0, wait))) > 0 else {
        if wait <= 0 { return }
        continue
      }
      // A pipe that is ready accepts this many bytes without blocking.
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(4096))
      let count = Glibc.write(STDERR_FILENO, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Whether the reader of standard output has closed it.
  static var isOutputClosed: Bool {
    var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR) != 0
  }

  /// Writes bytes to standard output. Returns nil, or the exit code if that fails. Prints a message, unless the reader has closed
  /// it or a signal came.
  static func write(_ bytes: UnsafeRawBufferPointer) -> ExitCode? {
    if writeAll(bytes, to: STDOUT_FILENO) { return nil }
    if let code = Interruption.exitCode { return code }
    if errno == EPIPE { return .closedPipe }
    complain("nuthatch: standard output can't be written: \(String(cString: strerror(errno)))\n")
    return .failure
  }
}

/// Writes all of `bytes`. Returns false and sets `errno` if that fails, or if a signal came meanwhile.
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    // Check here, too: a write that a signal interrupts after some bytes returns their number, not EINTR.
    if Interruption.signal != nil {
      errno = EINTR
      return false
    }
    let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
    if count < 0, errno == EINTR { continue }
    if count < 0, errno == EAGAIN {
      // Another process has set O_NONBLOCK on the pipe.
      var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      poll(&ready, 1, -1)
      continue
    }
    guard count > 0 else { return false }
    rest = rest.dropFirst(count)
  }
  return true
}
