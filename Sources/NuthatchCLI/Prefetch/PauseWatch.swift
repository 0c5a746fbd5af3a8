import CSystem
import NuthatchCore

/// Reports the hosts that a run waits for: hosts that sent `Retry-After`, that can't be reached, or that answer 429 or 503.
struct PauseWatch {
  /// The number of hosts that are away and get lines of their own.
  private static let mostTold = 10
  /// A shorter absence, in seconds, is not reported.
  private static let longEnough: Int64 = 2

  /// The host that the run waits for longest, for the progress line; nil if it waits for none.
  private(set) var line: String?
  private var due: Int64 = 0
  /// The pause of each host that was reported, in seconds.
  private var said: [String: Int64] = [:]
  /// The hosts that get lines when they are away, and those of them that are away now.
  private var told: Set<String> = []
  private var away: Set<String> = []
  private var areMoreTold = false

  /// Returns the lines to print now: one for each pause of 2 s or more, another if the pause more than doubles, and one for
  /// each host that is away, or that the run no longer waits for.
  ///
  /// - Parameter patience: how long the run waits for such a host, in words.
  mutating func news(_ cache: Cache, patience: String) -> [String] {
    let now = nhs_monotonic_ns()
    guard now >= due else { return [] }
    due = now + 250_000_000
    let paused = cache.pausedHosts
    // The pauses of a host that sends `Retry-After` are reported already.
    let absent = cache.awayHosts.filter {
      $0.seconds >= Self.longEnough && ($0.code != .http || said[$0.name] == nil)
    }
    line = Self.line(paused, absent)
    let pauses = paused.filter { $0.seconds >= 2 && $0.seconds > 2 * said[$0.name, default: 0] }.map { host in
      said[host.name] = host.seconds
      return "\(host.name) asks for a pause of \(Self.text(host.seconds)) (Retry-After)"
    }
    return pauses + newsOfAbsences(absent, patience)
  }

  private mutating func newsOfAbsences(_ absent: [AwayHost], _ patience: String) -> [String] {
    var news: [String] = []
    for host in absent where !away.contains(host.name) {
      guard told.contains(host.name) || told.count < Self.mostTold else {
        if !areMoreTold { news.append("more hosts give no good answers; they get no lines of their own") }
        areMoreTold = true
        continue
      }
      told.insert(host.name)
      away.insert(host.name)
      news.append("\(host.name) \(Self.state(host.code)): its URLs wait until it is back, \(patience)")
    }
    for name in away.subtracting(absent.map(\.name)) {
      away.remove(name)
      news.append("the run no longer waits for \(name): it answers again, or its URLs have failed")
    }
    return news
  }

  private static func state(_ code: ErrorCode) -> String {
    switch code {
    case .http: "answers 429 or 503"
    case .timeout: "sends nothing (timeout)"
    default: "can't be reached (\(code.word))"
    }
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
