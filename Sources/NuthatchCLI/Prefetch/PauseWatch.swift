import CSystem
import NuthatchCore

/// Notices hosts that want to be left alone (`Retry-After`), or can't be reached, so that it is clear what a run waits for.
struct PauseWatch {
  /// So many hosts that can't be reached are told of one by one.
  private static let mostTold = 10
  /// An absence of less isn't worth a line, in seconds.
  private static let longEnough: Int64 = 2

  /// Whom the run waits for the longest, as the progress line has it; nil when it waits for nobody.
  private(set) var line: String?
  private var due: Int64 = 0
  /// For how long a host wanted to be left alone when that was said.
  private var said: [String: Int64] = [:]
  /// Hosts that were said to be away.
  private var away: Set<String> = []
  private var told = 0

  /// What is to be said now: once for each host, and again when it wants much more. A moment isn't worth a line.
  ///
  /// - Parameter patience: for how long a host that is away is waited for, in words.
  mutating func news(_ cache: Cache, patience: String) -> [String] {
    let now = nhs_monotonic_ns()
    guard now >= due else { return [] }
    due = now + 250_000_000
    let paused = cache.pausedHosts
    let absent = cache.awayHosts.filter { $0.seconds >= Self.longEnough }
    line = Self.line(paused, absent)
    let pauses = paused.filter { $0.seconds >= 2 && $0.seconds > 2 * said[$0.name, default: 0] }.map { host in
      said[host.name] = host.seconds
      return "\(host.name) wants to be left alone for \(Self.text(host.seconds)) (Retry-After)"
    }
    return pauses + newsOfAbsences(absent, patience)
  }

  private mutating func newsOfAbsences(_ absent: [AwayHost], _ patience: String) -> [String] {
    var news: [String] = []
    for host in absent where told <= Self.mostTold && away.insert(host.name).inserted {
      told += 1
      news.append(
        told > Self.mostTold
          ? "more hosts can't be reached; the rest of them isn't told of one by one"
          : "\(host.name) can't be reached (\(host.code.word)): its URLs wait until it is back, \(patience)")
    }
    for name in away.subtracting(absent.map(\.name)) {
      away.remove(name)
      if told <= Self.mostTold { news.append("\(name) isn't waited for any more") }
    }
    return news
  }

  private static func line(_ paused: [PausedHost], _ absent: [AwayHost]) -> String? {
    let count = paused.count + absent.count
    let others = count > 1 ? " and \(Amounts.grouped(count - 1)) more" : ""
    if let host = paused.max(by: { $0.left < $1.left }) {
      return "\(host.name.prefix(40))\(others) paused, \(text(host.left))"
    }
    return absent.max { $0.seconds < $1.seconds }.map {
      "\($0.name.prefix(40))\(others) away for \(text($0.seconds))"
    }
  }

  private static func text(_ seconds: Int64) -> String {
    seconds < 60 ? "\(seconds) s" : Amounts.seconds(Double(seconds))
  }
}
