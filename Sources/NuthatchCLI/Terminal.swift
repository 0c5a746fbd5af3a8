import Glibc
import NuthatchTransport

/// Standard output and standard error.
enum Terminal {
  /// Milliseconds after a signal for which somebody who doesn't read standard error is waited for.
  private static let patience: Int64 = 1500

  /// How something stands out on a terminal.
  enum Style: String {
    case bold = "1"
    case bad = "1;31"
    case good = "32"
    case doubtful = "33"
  }

  /// Whether colours are used: on a terminal that has some, and where nobody minds (no-color.org).
  static func isColoured(_ descriptor: Int32) -> Bool {
    guard isatty(descriptor) == 1 else { return false }
    if Environment.variable("NO_COLOR") != nil { return false }
    return !isDumb
  }

  /// Whether the terminal is one that only prints what it gets.
  static var isDumb: Bool { Environment.variable("TERM") == "dumb" }

  /// How many characters fit in a line of a terminal; 80 where it doesn't say.
  static func columns(of descriptor: Int32) -> Int { knownColumns(of: descriptor) ?? 80 }

  /// The same; nil for what is no terminal, and for one that doesn't say.
  static func knownColumns(of descriptor: Int32) -> Int? {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// The text with its lines broken between words where the terminal is less wide.
  static func fitted(_ text: String, on descriptor: Int32 = STDOUT_FILENO) -> String {
    guard let columns = knownColumns(of: descriptor) else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false)
      .flatMap { TextLines.broken(String($0), to: columns) }.joined(separator: "\n")
  }

  /// The text as it looks on standard output.
  static func styled(_ text: String, _ style: Style, on descriptor: Int32 = STDOUT_FILENO) -> String {
    isColoured(descriptor) ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
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
    let name = "nuthatch:"
    if text.hasPrefix(name) { text = fitted(text, on: STDERR_FILENO) }
    if text.hasPrefix(name), isColoured(STDERR_FILENO) {
      text = styled(name, .bad, on: STDERR_FILENO) + text.dropFirst(name.count)
    }
    text.withUTF8 { complain(UnsafeRawBufferPointer($0)) }
  }

  /// Also after a signal: how a run ended is said then, too, but not to somebody who doesn't read it.
  private static func complain(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let wait = min(50, patience - (Interruption.age ?? 0) / 1_000_000)
      var ready = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      // A signal that comes between a look and a wait is seen after this one.
      guard poll(&ready, 1, Int32(max(0, wait))) > 0 else {
        if wait <= 0 { return }
        continue
      }
      // A pipe that is ready takes this much without waiting.
      let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(4096))
      let count = Glibc.write(STDERR_FILENO, piece.baseAddress, piece.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  /// Whether nobody reads standard output any more.
  static var isOutputClosed: Bool {
    var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLERR) != 0
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
func writeAll(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
  var rest = bytes[...]
  while !rest.isEmpty {
    // An interrupted write tells of what it had written until then, so that the signal is looked for here, too.
    if Interruption.signal != nil {
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
