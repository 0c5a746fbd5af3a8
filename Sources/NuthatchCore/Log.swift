import CSystem
import Glibc
import NuthatchBase
import NuthatchTransport
import Synchronization

/// The log, for the diagnosis of faults. Its lines go to standard error if `$NUTHATCH_LOG` is set (`error`, `warning`, `info`
/// or `debug`), and are kept for the program if it calls `keep`. By default nothing is logged.
public enum Log {
  /// The importance of a line.
  public enum Level: Int32, Sendable, CaseIterable {
    /// Data is lost.
    case error = 1
    /// Something is wrong.
    case warning = 2
    /// Caches opened and closed, memory freed, requests that failed.
    case info = 3
    /// The end of every request.
    case debug = 4

    /// The word in `$NUTHATCH_LOG`.
    public var word: String {
      switch self {
      case .error: "error"
      case .warning: "warning"
      case .info: "info"
      case .debug: "debug"
      }
    }
  }

  /// A line of the log.
  public struct Line: Sendable {
    /// The importance of the line.
    public let level: Level
    /// One line, without a line end.
    public let text: String
  }

  private struct Kept {
    var lines: [Line] = []
    var dropped = 0
    /// The fork epoch of the lines: a forked child drops its parent's lines.
    var epoch = nhs_fork_epoch()
  }

  /// The most lines that are kept. Further lines are dropped and counted.
  private static let most = 1000
  // Guarded by the process lock. No other thread holds this lock during a fork.
  nonisolated(unsafe) private static var kept = Kept()
  private static let keptLevel = Atomic<Int32>(0)
  private static let shownLevel: Int32 = {
    let word = Environment.variable("NUTHATCH_LOG")
    return Level.allCases.first { $0.word == word }?.rawValue ?? 0
  }()

  /// Keeps lines of `level` and of more important levels, for `take`. nil, the default: keeps no lines.
  public static func keep(_ level: Level?) {
    keptLevel.store(level?.rawValue ?? 0, ordering: .relaxed)
    if level == nil { withKept { $0 = Kept() } }
  }

  /// Whether lines are kept, so that `take` may return one.
  package static var isKept: Bool { keptLevel.load(ordering: .relaxed) > 0 }

  /// Returns the oldest kept line, and removes it. If lines were dropped, first returns a warning that says how many.
  public static func take() -> Line? {
    withKept { kept in
      if kept.dropped > 0 {
        defer { kept.dropped = 0 }
        return Line(
          level: .warning,
          text: "\(kept.dropped) lines of the log were dropped, because the program didn't take them in time")
      }
      return kept.lines.isEmpty ? nil : kept.lines.removeFirst()
    }
  }

  private static func withKept<Result>(_ body: (inout Kept) -> Result) -> Result {
    nhs_process_lock()
    defer { nhs_process_unlock() }
    if kept.epoch != nhs_fork_epoch() { kept = Kept() }
    return body(&kept)
  }

  static func isOn(_ level: Level) -> Bool {
    level.rawValue <= max(shownLevel, keptLevel.load(ordering: .relaxed))
  }

  static func note(_ level: Level, _ text: @autoclosure () -> String) {
    guard isOn(level) else { return }
    let line = Line(level: level, text: text().printable)
    if level.rawValue <= shownLevel {
      // One call per line, so that lines of several threads don't mix. A failed write is ignored.
      let bytes = Array("nuthatch[\(getpid())] \(level.word): \(line.text)\n".utf8)
      _ = bytes.withUnsafeBytes { write(2, $0.baseAddress, $0.count) }
    }
    if level.rawValue <= keptLevel.load(ordering: .relaxed) {
      withKept { kept in
        if kept.lines.count < most { kept.lines.append(line) } else { kept.dropped += 1 }
      }
    }
  }
}

// MARK: - Lines

extension Log {
  static func noteOpen(_ cache: Cache) {
    guard isOn(.warning) else { return }
    note(.info, "opened \(cache.path)")
    if let warning = (try? cache.storeStatistics())?.warning { note(.warning, "\(cache.path): \(warning)") }
    let proxies = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    let isProxied =
      cache.options.proxy.map { !$0.isEmpty } ?? proxies.contains { Environment.variable($0) != nil }
    if isProxied, (cache.options.addresses ?? Options.Standard.addresses) == .guarded {
      note(
        .warning,
        "requests go through a proxy: the address guard can't check names that only the proxy can look up")
    }
  }

  private static let isUncheckedNoted = Atomic(false)

  /// Logs once that a request is sent to a server whose certificate isn't checked.
  static func noteUnchecked(_ url: WebURL) {
    guard url.scheme == .https, isOn(.warning), !isUncheckedNoted.exchange(true, ordering: .relaxed) else {
      return
    }
    note(.warning, "certificates aren't checked (insecure); the first such request: \(url)")
  }

  /// Logs a ticket's end before its final event is delivered. So a program that has the final event finds the line.
  static func follow(_ ticket: Ticket) {
    guard isOn(.info) else { return }
    let start = nhs_monotonic_ns()
    let url = ticket.shownURL
    ticket.beforeFinal { event in
      let milliseconds = (nhs_monotonic_ns() - start) / 1_000_000
      if let error = event.error {
        return note(
          event.kind == .cancelled ? .debug : .info,
          "\(error.code.word) after \(milliseconds) ms: \(error.message)")
      }
      let what =
        event.response.map { "status \($0.status), \($0.bodySize) bytes" } ?? "\(event.images.count) images"
      let source = event.source?.word ?? "nowhere"
      note(.debug, "\(event.kind) from \(source) after \(milliseconds) ms: \(what): \(url)")
    }
  }
}
