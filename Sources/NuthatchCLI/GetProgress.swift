import CSystem
import Glibc
import NuthatchCore

/// The progress of one download or upload: one line on standard error that is overwritten. In the form `plain`, a new line each
/// time.
struct GetProgress {
  private let isShown: Bool
  private let isPlain: Bool
  private let begin = nhs_monotonic_ns()
  private var isOnScreen = false
  private var due: Int64

  /// The time between two lines in a log (`seldom`) and on a terminal (`often`), and the time before the first line on a
  /// terminal; in nanoseconds.
  private static let (seldom, often, first): (Int64, Int64, Int64) = (
    5_000_000_000, 100_000_000, 1_000_000_000
  )

  /// - Parameter isAnswerOnTerminal: whether the answer is written to a terminal. The line would appear in the middle of it.
  init(_ form: ProgressLine.Form, isAnswerOnTerminal: Bool) {
    isPlain = form == .plain
    let suits = isatty(STDERR_FILENO) == 1 && !Terminal.isDumb && !isAnswerOnTerminal
    isShown = isPlain || form == .always || form == .auto && suits
    due = begin + (isPlain ? Self.seldom : Self.first)
  }

  /// Whether progress events are needed.
  var isWanted: Bool { isShown }

  mutating func show(_ event: Event) {
    let now = nhs_monotonic_ns()
    guard isShown, now >= due else { return }
    due = now + (isPlain ? Self.seldom : Self.often)
    var parts = parts(event, seconds: Double(now - begin) / 1e9)
    guard !isPlain else {
      return Terminal.complain("nuthatch: get: \(parts.joined(separator: "  "))\n")
    }
    isOnScreen = true
    // Leave the last column free: some terminals start a new line when it is written.
    let room = Terminal.columns(of: STDERR_FILENO) - 1
    while parts.count > 1, parts.reduce(-2, { $0 + $1.count + 2 }) > room { parts.removeLast() }
    Terminal.complain("\r\(parts.joined(separator: "  ").prefix(max(0, room)))\u{1b}[K")
  }

  /// Clears the line, so that other text can be written.
  mutating func clear() {
    guard isOnScreen else { return }
    isOnScreen = false
    Terminal.complain("\r\u{1b}[K")
  }

  /// Returns the parts of the line, the most important first.
  private func parts(_ event: Event, seconds: Double) -> [String] {
    let rate = seconds > 0 ? Double(event.bytesDone) / seconds : 0
    var parts = [Amounts.bytes(event.bytesDone)]
    if let total = event.bytesTotal, total > 0 {
      let share = min(1, Double(event.bytesDone) / Double(total))
      parts = ["\(Int(share * 100)) %", "\(Amounts.bytes(event.bytesDone)) of \(Amounts.bytes(total))"]
    }
    if event.isUpload { parts.append("sent") }
    parts.append("\(Amounts.bytes(Int64(min(rate, 1e15))))/s")
    if let total = event.bytesTotal, rate > 0, total > event.bytesDone {
      parts.append("\(Amounts.seconds(Double(total - event.bytesDone) / rate)) left")
    }
    return parts
  }
}
