import CSystem
import Glibc
import NuthatchCore

/// One line on standard error that is written again and again: a bar, what is done, how fast, what is left.
struct ProgressLine {
  private let isShown: Bool
  private let isColoured: Bool
  private var isOnScreen = false
  private var due: Int64 = 0

  init(_ when: When) {
    let isTerminal = isatty(STDERR_FILENO) == 1
    isShown = when == .always || (when == .auto && isTerminal)
    isColoured = Terminal.isColoured(STDERR_FILENO)
  }

  enum When: String {
    case auto, always, never
  }

  /// At most ten times a second.
  mutating func show(_ tally: Tally, total: Int?, bytes: Int, seconds: Double, share: Double?) {
    let now = nhs_monotonic_ns()
    guard isShown, now >= due else { return }
    due = now + 100_000_000
    isOnScreen = true
    Terminal.complain("\r" + line(tally, total, bytes, seconds, share) + "\u{1b}[K")
  }

  /// Makes room for something else.
  mutating func clear() {
    guard isOnScreen else { return }
    isOnScreen = false
    due = 0
    Terminal.complain("\r\u{1b}[K")
  }

  private func line(_ tally: Tally, _ total: Int?, _ bytes: Int, _ seconds: Double, _ share: Double?)
    -> String
  {
    let rate = seconds > 0 ? Double(tally.urls) / seconds : 0
    var parts: [String] = []
    if let share {
      let filled = Int((share * 20).rounded(.down))
      let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 20 - filled)
      parts.append(
        isColoured ? "\u{1b}[32m\(bar)\u{1b}[0m \(Int(share * 100)) %" : "\(bar) \(Int(share * 100)) %")
    }
    let whole = total.map { "/" + Amounts.grouped($0) } ?? ""
    parts.append("\(Amounts.grouped(tally.urls))\(whole) done")
    parts.append("\(Amounts.grouped(Int(rate.rounded())))/s")
    parts.append(Amounts.bytes(Int64(bytes)))
    parts.append("\(Amounts.grouped(tally.hits)) hits")
    let failures = "\(Amounts.grouped(tally.failed)) failed"
    parts.append(isColoured && tally.failed > 0 ? "\u{1b}[31m\(failures)\u{1b}[0m" : failures)
    if let share, share > 0.01, share < 1, seconds > 1 {
      parts.append("\(Amounts.seconds(seconds / share - seconds)) left")
    }
    return parts.joined(separator: "  ")
  }
}
