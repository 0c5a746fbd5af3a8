import CSystem
import Glibc

/// Writes records to standard output, in whole lines. A slow reader slows the run.
struct RecordStream {
  private static let enough = 65_536
  /// The longest wait for a reader after a signal, in nanoseconds. The program should end within 2 s of a signal.
  private static let patience: Int64 = 1_750_000_000

  private var waiting: [UInt8] = []
  private var oldest: Int64 = 0

  /// The exit code if nothing more can be written, or nil.
  private(set) var ended: ExitCode?

  mutating func write(_ line: [UInt8]) {
    if waiting.isEmpty { oldest = nhs_monotonic_ns() }
    waiting += line
    if waiting.count >= Self.enough || nhs_monotonic_ns() - oldest > 100_000_000 { flush() }
  }

  /// Writes the lines that wait. After a signal, waits at most 1 s for a reader that doesn't read: if it reads in time, no line
  /// is cut.
  mutating func flush() {
    var rest = waiting[...]
    defer { waiting.removeAll(keepingCapacity: true) }
    var end: Int64?
    while !rest.isEmpty, ended == nil {
      var ready = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
      guard poll(&ready, 1, 50) > 0 else {
        guard let age = Interruption.age else { continue }
        // Count the time since the signal: `Terminal` may have waited for the same reader at standard error.
        let due = end ?? nhs_monotonic_ns() + min(1_000_000_000, Self.patience - age)
        end = due
        if nhs_monotonic_ns() >= due { return ended = Interruption.exitCode }
        continue
      }
      // A pipe that is ready accepts this many bytes without blocking.
      let piece = rest.prefix(4096)
      let count = piece.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count > 0 else { return fail() }
      rest = rest.dropFirst(count)
    }
  }

  private mutating func fail() {
    if errno == EPIPE { return ended = .closedPipe }
    Terminal.complain("nuthatch: standard output can't be written: \(String(cString: strerror(errno)))\n")
    ended = .failure
  }
}
