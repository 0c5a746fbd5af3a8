/// Detects a stalled transfer: no byte moved for `silence` ns, or the average speed in a window is below `slowness`.
struct StallDetector {
  enum Stall: Equatable {
    case silence(Int64)
    case slowness(bytes: Int64, window: Int64)
  }

  private(set) var lastByte: Int64
  /// Nil before the first sent or received byte. So without a body, the server's time to answer counts only as silence.
  private var windowStart: Int64?
  private var windowBytes: Int64 = 0

  init(startedAt: Int64) { lastByte = startedAt }

  mutating func note(_ count: Int, at now: Int64) {
    lastByte = now
    windowStart = windowStart ?? now
    windowBytes += Int64(count)
  }

  /// Starts silence and window anew, because no byte was expected until now.
  mutating func restart(at now: Int64) {
    lastByte = now
    if windowStart != nil { windowStart = now }
    windowBytes = 0
  }

  /// Returns the problem at `now`, if there is one, and when to check again.
  mutating func check(
    at now: Int64, silence: Int64, slowness: TransferRequest.Slowness
  ) -> (stall: Stall?, next: Int64) {
    if now - lastByte >= silence { return (.silence(silence), now) }
    let window = StallDetector.window(slowness, silence)
    if let start = windowStart, now - start >= window {
      if Double(windowBytes) < Double(slowness.bytesPerSecond) * Double(now - start) / 1e9 {
        return (.slowness(bytes: windowBytes, window: now - start), now)
      }
      windowStart = now
      windowBytes = 0
    }
    let end = (windowStart ?? now).addingReportingOverflow(window)
    let quiet = lastByte.addingReportingOverflow(silence)
    return (nil, min(end.overflow ? .max : end.partialValue, quiet.overflow ? .max : quiet.partialValue))
  }

  private static func window(_ slowness: TransferRequest.Slowness, _ silence: Int64) -> Int64 {
    let twice = silence.multipliedReportingOverflow(by: 2)
    return max(slowness.window, twice.overflow ? .max : twice.partialValue)
  }
}
