import CSystem
import NuthatchCore

/// Notices hosts that want to be left alone (`Retry-After`), so that nobody wonders why a run stands still.
struct PauseWatch {
  /// Whom the run waits for the longest, as the progress line has it; nil when it waits for nobody.
  private(set) var line: String?
  private var due: Int64 = 0
  /// For how long a host wanted to be left alone when that was said.
  private var said: [String: Int64] = [:]

  /// What is to be said now: once for each host, and again when it wants much more. A moment isn't worth a line.
  mutating func news(_ cache: Cache) -> [String] {
    let now = nhs_monotonic_ns()
    guard now >= due else { return [] }
    due = now + 250_000_000
    let hosts = cache.pausedHosts
    let longest = hosts.max { $0.left < $1.left }
    line = longest.map { host in
      let others = hosts.count > 1 ? " and \(Amounts.grouped(hosts.count - 1)) more" : ""
      return "\(host.name.prefix(40))\(others) paused, \(Self.text(host.left))"
    }
    return hosts.filter { $0.seconds >= 2 && $0.seconds > 2 * said[$0.name, default: 0] }.map { host in
      said[host.name] = host.seconds
      return "\(host.name) wants to be left alone for \(Self.text(host.seconds)) (Retry-After)"
    }
  }

  private static func text(_ seconds: Int64) -> String {
    seconds < 60 ? "\(seconds) s" : Amounts.seconds(Double(seconds))
  }
}
