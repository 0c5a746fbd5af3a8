import CSystem
import Glibc

/// One line on standard error that is overwritten again and again: a bar, the URLs done, the rate, the time left. In the form
/// `plain`, a new line each time.
struct ProgressLine {
  private let isShown: Bool
  private let isPlain: Bool
  private let isTerminal: Bool
  private let isColoured: Bool
  private var isOnScreen = false
  private var due: Int64 = 0

  init(_ form: Form) {
    isTerminal = isatty(STDERR_FILENO) == 1
    isPlain = form == .plain
    // A dumb terminal can't return to the beginning of a line, so each update would add a line.
    isShown = isPlain || form == .always || (form == .auto && isTerminal && !Terminal.isDumb)
    isColoured = !isPlain && Terminal.isColoured(STDERR_FILENO)
    if isPlain { due = nhs_monotonic_ns() + Self.seldom }
  }

  enum Form: String {
    case auto, always, never, plain
  }

  /// The time between two lines, in nanoseconds: in a log, and on a terminal.
  private static let (seldom, often): (Int64, Int64) = (5_000_000_000, 100_000_000)

  /// Shows the line, at most ten times a second.
  ///
  /// - Parameter pause: the hosts that the run waits for; nil for none.
  mutating func show(
    _ tally: Tally, _ pause: String?, total: Int?, bytes: Int, seconds: Double, share: Double?
  ) {
    let now = nhs_monotonic_ns()
    guard isShown, now >= due else { return }
    due = now + (isPlain ? Self.seldom : Self.often)
    guard !isPlain else {
      return Terminal.complain("nuthatch: prefetch: \(line(tally, pause, total, bytes, seconds, share))\n")
    }
    isOnScreen = true
    Terminal.complain("\r" + line(tally, pause, total, bytes, seconds, share) + "\u{1b}[K")
  }

  /// Clears the line, so that other text can be written.
  mutating func clear() {
    guard isOnScreen else { return }
    isOnScreen = false
    due = 0
    Terminal.complain("\r\u{1b}[K")
  }

  private enum Part {
    case share, done, rate, bytes, hits, failures, left, pause
  }

  /// The parts to leave out if the line is too long, in this order.
  private static let dispensable: [Part] = [.bytes, .rate, .hits, .left, .share, .failures, .pause]

  /// Returns the line, never longer than the terminal is wide: a wrapped part would stay when the line is overwritten.
  private func line(
    _ tally: Tally, _ pause: String?, _ total: Int?, _ bytes: Int, _ seconds: Double, _ share: Double?
  ) -> String {
    let rate = seconds > 0 ? Double(tally.urls) / seconds : 0
    let whole = total.map { "/" + Amounts.grouped($0) } ?? ""
    var parts: [(part: Part, text: String)] = []
    if let share { parts.append((.share, "\(Int(share * 100)) %")) }
    parts.append((.done, "\(Amounts.grouped(tally.urls))\(whole) done"))
    parts.append((.rate, "\(Amounts.grouped(Int(rate.rounded())))/s"))
    parts.append((.bytes, Amounts.bytes(Int64(bytes))))
    parts.append((.hits, Amounts.counted(tally.hits, "hit")))
    parts.append((.failures, "\(Amounts.grouped(tally.failed)) failed"))
    if let share, share > 0.01, share < 1, seconds > 1 {
      parts.append((.left, "\(Amounts.seconds(seconds / share - seconds)) left"))
    }
    if let pause { parts.append((.pause, pause)) }
    // Leave the last column free: some terminals start a new line when it is written.
    let room = (isTerminal && !isPlain ? Terminal.columns(of: STDERR_FILENO) : .max) - 1
    var spare = Self.dispensable[...]
    while true {
      let length = parts.reduce(-2) { $0 + $1.text.count + 2 }
      // A short bar is more useful than the number of bytes, but less useful than the other parts.
      let bar = share == nil || isPlain ? nil : [20, 12, 8, 5].first { length + 1 + $0 <= room }
      if length <= room, bar != nil || share == nil || isPlain || parts.allSatisfy({ $0.part != .bytes }) {
        return parts.map { styled($0, $1, tally, share ?? 0, bar ?? 0) }.joined(separator: "  ")
      }
      guard let next = spare.popFirst() else { return String(parts[0].text.prefix(max(0, room))) }
      parts.removeAll { $0.part == next }
    }
  }

  private func styled(_ part: Part, _ text: String, _ tally: Tally, _ share: Double, _ bar: Int) -> String {
    switch part {
    case .share where bar > 0:
      let filled = Int((share * Double(bar)).rounded(.down))
      let drawn = String(repeating: "█", count: filled) + String(repeating: "░", count: bar - filled)
      return (isColoured ? "\u{1b}[32m\(drawn)\u{1b}[0m " : drawn + " ") + text
    case .failures where isColoured && tally.failed > 0: return "\u{1b}[31m\(text)\u{1b}[0m"
    default: return text
    }
  }
}
